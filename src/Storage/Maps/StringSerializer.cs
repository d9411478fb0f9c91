using System.Text;

namespace Treepie.Storage.Maps;

/// <summary>Serializes strings as UTF-8. Text that is not valid UTF-16 (such as a lone surrogate) is rejected.</summary>
public readonly struct StringSerializer : IMapSerializer<string>
{
    private static readonly UTF8Encoding _strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <inheritdoc/>
    public static string Name => "utf-8";

    /// <inheritdoc/>
    public static int FixedBytes => -1;

    /// <inheritdoc/>
    public static int GetMaxBytes(string value)
    {
        ArgumentNullException.ThrowIfNull(value);
        const int maxBytesPerChar = 3;
        return value.Length <= int.MaxValue / maxBytesPerChar ? value.Length * maxBytesPerChar : _strict.GetByteCount(value);
    }

    /// <inheritdoc/>
    public static int Write(string value, Span<byte> destination) => _strict.GetBytes(value, destination);

    /// <inheritdoc/>
    public static string Read(ReadOnlySpan<byte> source) => _strict.GetString(source);
}
