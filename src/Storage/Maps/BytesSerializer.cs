namespace Treepie.Storage.Maps;

/// <summary>Serializes byte arrays unchanged; reading returns a new array.</summary>
public readonly struct BytesSerializer : IMapSerializer<byte[]>
{
    /// <inheritdoc/>
    public static string Name => "bytes";

    /// <inheritdoc/>
    public static int FixedBytes => -1;

    /// <inheritdoc/>
    public static int GetMaxBytes(byte[] value)
    {
        ArgumentNullException.ThrowIfNull(value);
        return value.Length;
    }

    /// <inheritdoc/>
    public static int Write(byte[] value, Span<byte> destination)
    {
        value.CopyTo(destination);
        return value.Length;
    }

    /// <inheritdoc/>
    public static byte[] Read(ReadOnlySpan<byte> source) => source.ToArray();
}
