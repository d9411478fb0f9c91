using System.Buffers.Binary;

namespace Treepie.Storage.Maps;

/// <summary>
/// Times with their distance from UTC: 8 bytes UTC ticks, 2 bytes minutes. The same moment in two zones is two keys.
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
