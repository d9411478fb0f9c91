using Treepie.Storage.Format;

namespace Treepie.Storage.Maps;

/// <summary>The limits of maps.</summary>
public static class MapLimits
{
    /// <summary>The maximum length of a serialized key in bytes.</summary>
    public const int MaxKeyBytes = MapLayout.MaxKeyBytes;

    /// <summary>The maximum length of a serialized value in bytes.</summary>
    public const int MaxValueBytes = FormatLimits.MaxValueBytes;

    internal static void Verify(string name, int keyBytes, int valueBytes)
    {
        if (keyBytes > MaxKeyBytes)
            throw new ArgumentException($"A key of the map '{name}' has at most {MaxKeyBytes} bytes; this one has {keyBytes}.");
        if (valueBytes > MaxValueBytes)
            throw new ArgumentException(
                $"A value of the map '{name}' has at most {MaxValueBytes} bytes; this one has {valueBytes}.");
    }
}
