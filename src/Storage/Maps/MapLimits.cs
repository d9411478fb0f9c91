using Treepie.Storage.Format;

namespace Treepie.Storage.Maps;

/// <summary>What a map holds at most.</summary>
public static class MapLimits
{
    /// <summary>Longest key, in bytes, as its serializer writes it.</summary>
    public const int MaxKeyBytes = MapLayout.MaxKeyBytes;

    /// <summary>Longest value, in bytes, as its serializer writes it.</summary>
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
