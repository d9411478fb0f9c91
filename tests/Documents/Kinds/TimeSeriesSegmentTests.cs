using Treepie.Kinds;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Kinds;

/// <summary>Entries as bits, and back.</summary>
public sealed class TimeSeriesSegmentTests
{
    /// <summary>Times that lie as far apart as they may, values of any bits, few or many of them, and tags.</summary>
    [Fact]
    public void Entries_come_back_as_they_were_whatever_their_bits()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 200; round++)
        {
            List<TimeSeriesPoint> points = Draw(random, random.Next(1, 400));
            var read = new List<TimeSeriesPoint>();
            while (read.Count < points.Count)
            {
                byte[] packed = TimeSeriesSegment.Pack(points, read.Count, out int taken);
                List<TimeSeriesPoint> some = new TimeSeriesSegment(packed).Unpack();
                Assert.Equal(taken, some.Count);
                read.AddRange(some);
            }

            Assert.Equal(points.Select(Text), read.Select(Text));
        }
    }

    [Fact]
    public void A_segment_that_is_cut_off_is_not_read_on_with_zeros()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 200; round++)
        {
            byte[] packed = TimeSeriesSegment.Pack(Draw(random, random.Next(2, 60)), 0, out _);
            Assert.Throws<IndexOutOfRangeException>(() => new TimeSeriesSegment(packed.AsSpan()[..^1]).Unpack());
        }
    }

    private static List<TimeSeriesPoint> Draw(Random random, int count)
    {
        long unit = random.Next(3) switch { 0 => 1, 1 => TimeSpan.TicksPerMillisecond, _ => TimeSpan.TicksPerSecond };
        int farthest = random.Next(1, 40), width = random.Next(1, 4);
        string[] tags = [.. Enumerable.Range(0, random.Next(1, 5)).Select(static i => $"tags/{i}")];
        var points = new List<TimeSeriesPoint>(count);
        long ticks = unit * random.NextInt64(1L << 20);
        ulong bits = 0;
        for (int i = 0; i < count; i++)
        {
            ticks += Math.Min(unit * (random.NextInt64(1L << random.Next(farthest)) + 1), TimeSpan.TicksPerDay * 365);
            double[] values = new double[random.Next(8) == 0 ? random.Next(1, width + 1) : width];
            for (int value = 0; value < values.Length; value++)
            {
                if (random.Next(3) > 0) // else the one of before
                    bits ^= (ulong)random.NextInt64(long.MinValue, long.MaxValue) >> random.Next(64) << random.Next(64);
                values[value] = BitConverter.UInt64BitsToDouble(bits);
            }

            points.Add(new TimeSeriesPoint(
                new DateTime(ticks, DateTimeKind.Utc), values, random.Next(4) == 0 ? tags[random.Next(tags.Length)] : null));
        }

        return points;
    }

    private static string Text(TimeSeriesPoint point) =>
        $"{point.Timestamp.Ticks} {string.Join(' ', point.Values.Select(BitConverter.DoubleToUInt64Bits))} {point.Tag}";
}
