using System.Buffers.Binary;

namespace Treepie.Storage.Maps;

/// <summary>
/// Serializes times with their UTC offset: 8 bytes of UTC ticks, 2 bytes of minutes. The same instant with different offsets is
/// two different keys.
/// </summary>
public readonly struct DateTimeOffsetSerializer : IMapSerializer<DateTimeOffset>
{
    private const int TicksBytes = sizeof(long);

    /// <inheritdoc/>
    public static string Name => "utc ticks, minutes";

    /// <inheritdoc/>
    public static int FixedBytes => TicksBytes + sizeof(short);

    /// <inheritdoc/>
    public static int GetMaxBytes(DateTimeOffset value) => FixedBytes;

    /// <inheritdoc/>
    public static int Write(DateTimeOffset value, Span<byte> destination)
    {
        BinaryPrimitives.WriteInt64LittleEndian(destination, value.UtcTicks);
        BinaryPrimitives.WriteInt16LittleEndian(destination[TicksBytes..], (short)value.TotalOffsetMinutes);
        return FixedBytes;
    }

    /// <inheritdoc/>
    public static DateTimeOffset Read(ReadOnlySpan<byte> source) =>
        new DateTimeOffset(BinaryPrimitives.ReadInt64LittleEndian(source), TimeSpan.Zero)
            .ToOffset(TimeSpan.FromMinutes(BinaryPrimitives.ReadInt16LittleEndian(source[TicksBytes..])));
}
