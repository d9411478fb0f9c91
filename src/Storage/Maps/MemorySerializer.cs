namespace Treepie.Storage.Maps;

/// <summary>
/// Stretches of bytes as they are; what is read has memory of its own. As keys they are equal where their bytes are.
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
