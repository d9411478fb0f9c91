namespace Treepie.Storage.Maps;

/// <summary>
/// Serializes memory blocks unchanged; reading returns new memory. As keys they are equal if their bytes are equal.
/// </summary>
public readonly struct MemorySerializer : IMapSerializer<ReadOnlyMemory<byte>>
{
    /// <inheritdoc/>
    public static string Name => "bytes";

    /// <inheritdoc/>
    public static int FixedBytes => -1;

    /// <inheritdoc/>
    public static int GetMaxBytes(ReadOnlyMemory<byte> value) => value.Length;

    /// <inheritdoc/>
    public static int Write(ReadOnlyMemory<byte> value, Span<byte> destination)
    {
        value.Span.CopyTo(destination);
        return value.Length;
    }

    /// <inheritdoc/>
    public static ReadOnlyMemory<byte> Read(ReadOnlySpan<byte> source) => source.ToArray();
}
