using System.Buffers.Binary;
using System.Numerics;
using System.Text;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>
/// Consecutive entries of a time series, compressed: times as differences of differences, values as the XOR with the
/// previous value (Pelkonen et al., Gorilla: A Fast, Scalable, In-Memory Time Series Database, VLDB 2015). Little-endian.
/// <code>
/// OFFSET SIZE MEANING
///      0    1 1, the version
///      1    1 maximum number of values of an entry (V)
///      2    1 unit of times: 0 ticks, 1 milliseconds, 2 seconds
///      3    1 number of tags (T)
///      4    4 number of entries
///      8    8 time of the first entry, UTC ticks
///     16    8 time of the last entry, UTC ticks
///     24 44·V for each value: number of entries that have it 4, minimum 8, maximum 8, sum 8, first 8, last 8
///      …    … T tags: length 1, UTF-8
///      …    … bits: for each entry the time, the number of values if fewer than V, the values, the tag if it changes
/// </code>
/// </summary>
internal readonly ref struct TimeSeriesSegment(ReadOnlySpan<byte> bytes)
{
    /// <summary>
    /// The target size of a segment, including its header and aggregates: four segments with their names and keys fill a
    /// page, and one can be encoded again quickly.
    /// </summary>
    private const int MostBytes = 1_824;

    /// <summary>
    /// If header and aggregates leave less than this for the entries, a segment gets a page of its own and fills most of it.
    /// </summary>
    private const int LeastPackedBytes = 900, PackedBytesOfPage = 6_000;

    private const int HeaderBytes = 24, AggregateBytes = 44;

    /// <summary>The most entries of a segment: each takes at least 4 bits, for its time, width, value and tag.</summary>
    private const int MostEntries = PackedBytesOfPage * 8 / 4;

    private static readonly long[] _units = [1, TimeSpan.TicksPerMillisecond, TimeSpan.TicksPerSecond];

    private readonly ReadOnlySpan<byte> _bytes = bytes;

    /// <summary>The sizes in bits of differences between times; each has a prefix with one more 1.</summary>
    private static ReadOnlySpan<int> TimeSizes => [7, 9, 16];

    public int Count => BinaryPrimitives.ReadInt32LittleEndian(_bytes[4..]);

    public long FirstTicks => BinaryPrimitives.ReadInt64LittleEndian(_bytes[8..]);

    public long LastTicks => BinaryPrimitives.ReadInt64LittleEndian(_bytes[16..]);

    public int ValueCount => _bytes[1];

    /// <summary>Returns count, minimum, maximum, sum, first and last of a value.</summary>
    public (int Count, double Min, double Max, double Sum, double First, double Last) Aggregate(int value)
    {
        ReadOnlySpan<byte> at = _bytes.Slice(HeaderBytes + (value * AggregateBytes), AggregateBytes);
        return (
            BinaryPrimitives.ReadInt32LittleEndian(at), Double(at[4..]), Double(at[12..]), Double(at[20..]), Double(at[28..]),
            Double(at[36..]));

        static double Double(ReadOnlySpan<byte> bytes) => BinaryPrimitives.ReadDoubleLittleEndian(bytes);
    }

    /// <summary>Encodes entries in time order, as many as fit, at least one; returns their number.</summary>
    public static byte[] Pack(IReadOnlyList<TimeSeriesPoint> points, int from, out int taken)
    {
        int unit = UnitOf(points, from), width = 0;
        for (int i = from; i < points.Count && i < from + MostEntries; i++)
            width = Math.Max(width, points[i].Values.Count);
        var bits = new BitWriter();
        var tags = new List<string>();
        var columns = new Column[width];
        long previous = 0, delta = 0;
        string? tag = null;
        int at = from;
        for (int most = MostPackedBytes(width); at < points.Count && bits.LengthBytes < most; at++)
        {
            TimeSeriesPoint point = points[at];
            if (point.Tag is not null && tags.Count == byte.MaxValue && !tags.Contains(point.Tag))
                break;
            long time = point.Timestamp.Ticks / _units[unit];
            if (at == from)
            {
                bits.Write((ulong)point.Timestamp.Ticks, 64);
            }
            else
            {
                WriteTime(bits, time - previous - delta);
                delta = time - previous;
            }

            previous = time;
            bits.Write(point.Values.Count == width ? 1UL : 0, 1);
            if (point.Values.Count != width)
                bits.Write((ulong)point.Values.Count, 6);
            for (int i = 0; i < point.Values.Count; i++)
                columns[i].Write(bits, point.Values[i]);
            bits.Write(point.Tag == tag ? 0UL : 1, 1);
            if (point.Tag != tag)
                bits.Write((ulong)TagNumber(tags, point.Tag), 8);
            tag = point.Tag;
        }

        taken = at - from;
        byte[][] tagBytes = [.. tags.Select(Encoding.UTF8.GetBytes)];
        byte[] packed = new byte[HeaderBytes + (width * AggregateBytes) + tagBytes.Sum(static text => 1 + text.Length)
            + bits.LengthBytes];
        packed[0] = 1;
        packed[1] = (byte)width;
        packed[2] = (byte)unit;
        packed[3] = (byte)tags.Count;
        BinaryPrimitives.WriteInt32LittleEndian(packed.AsSpan(4), taken);
        BinaryPrimitives.WriteInt64LittleEndian(packed.AsSpan(8), points[from].Timestamp.Ticks);
        BinaryPrimitives.WriteInt64LittleEndian(packed.AsSpan(16), points[at - 1].Timestamp.Ticks);
        for (int i = 0; i < width; i++)
            columns[i].WriteAggregate(packed.AsSpan(HeaderBytes + (i * AggregateBytes)));
        int end = HeaderBytes + (width * AggregateBytes);
        foreach (byte[] text in tagBytes)
        {
            packed[end++] = (byte)text.Length;
            text.CopyTo(packed.AsSpan(end));
            end += text.Length;
        }

        bits.Written.CopyTo(packed.AsSpan(end));
        return packed;
    }

    /// <summary>Decodes all entries.</summary>
    public List<TimeSeriesPoint> Unpack()
    {
        var points = new List<TimeSeriesPoint>(Count);
        for (Reader reader = Read(); reader.MoveNext();)
            points.Add(new TimeSeriesPoint(new DateTime(reader.Ticks, DateTimeKind.Utc), reader.Values.ToArray(), reader.Tag));
        return points;
    }

    /// <summary>Reads the entries one after another.</summary>
    public Reader Read() => new(_bytes);

    /// <summary>Reads the entries of a segment in order, without allocations.</summary>
    public ref struct Reader
    {
        private readonly string[] _tags;
        private readonly Column[] _columns;
        private readonly double[] _values;
        private readonly long _unit;
        private readonly int _count;
        private BitReader _bits;
        private int _read;
        private int _width;
        private long _delta;

        internal Reader(ReadOnlySpan<byte> bytes)
        {
            int width = bytes[1], at = HeaderBytes + (width * AggregateBytes);
            _tags = bytes[3] == 0 ? [] : new string[bytes[3]];
            for (int i = 0; i < _tags.Length; i++)
            {
                _tags[i] = Encoding.UTF8.GetString(bytes.Slice(at + 1, bytes[at]));
                at += 1 + bytes[at];
            }

            _columns = new Column[width];
            _values = new double[width];
            _unit = _units[bytes[2]];
            _count = BinaryPrimitives.ReadInt32LittleEndian(bytes[4..]);
            _bits = new BitReader(bytes[at..]);
        }

        /// <summary>The time, in UTC ticks.</summary>
        public long Ticks { get; private set; }

        public string? Tag { get; private set; }

        /// <summary>The values; valid until the next move.</summary>
        public readonly ReadOnlySpan<double> Values => _values.AsSpan(0, _width);

        /// <summary>Advances to the next entry; returns false after the last one.</summary>
        public bool MoveNext()
        {
            if (_read == _count)
                return false;
            if (_read++ == 0)
            {
                Ticks = (long)_bits.Read(64);
            }
            else
            {
                _delta += ReadTime(ref _bits);
                Ticks += _delta * _unit;
            }

            _width = _bits.ReadFlag() ? _columns.Length : (int)_bits.Read(6);
            for (int value = 0; value < _width; value++)
                _values[value] = _columns[value].Read(ref _bits);
            if (_bits.ReadFlag())
                Tag = (int)_bits.Read(8) is > 0 and var number ? _tags[number - 1] : null;
            return true;
        }
    }

    private static int TagNumber(List<string> tags, string? tag)
    {
        if (tag is null)
            return 0;
        int known = tags.IndexOf(tag);
        if (known >= 0)
            return known + 1;
        tags.Add(tag);
        return tags.Count;
    }

    private static int MostPackedBytes(int width)
    {
        int left = MostBytes - HeaderBytes - (width * AggregateBytes);
        return left >= LeastPackedBytes ? left : PackedBytesOfPage;
    }

    private static int UnitOf(IReadOnlyList<TimeSeriesPoint> points, int from)
    {
        int unit = _units.Length - 1;
        for (int i = from; i < points.Count && i < from + MostEntries; i++)
            while (points[i].Timestamp.Ticks % _units[unit] != 0)
                unit--;
        return unit;
    }

    private static void WriteTime(BitWriter bits, long difference)
    {
        if (difference == 0)
        {
            bits.Write(0, 1);
            return;
        }

        ulong ones = 0b1; // one more for each size that is too small
        foreach (int size in TimeSizes)
        {
            long half = 1L << (size - 1);
            int prefixBits = BitOperations.PopCount(ones) + 1;
            if (difference >= -half && difference < half)
            {
                bits.Write((ones << (size + 1)) | (ulong)(difference + half), prefixBits + size);
                return;
            }

            ones = (ones << 1) | 1;
        }

        bits.Write(ones, BitOperations.PopCount(ones));
        bits.Write((ulong)difference, 64);
    }

    private static long ReadTime(ref BitReader bits)
    {
        ulong next = bits.Peek();
        int ones = BitOperations.LeadingZeroCount(~next);
        if (ones == 0)
        {
            bits.Skip(1);
            return 0;
        }

        if (ones > TimeSizes.Length)
        {
            bits.Skip(TimeSizes.Length + 1);
            return (long)bits.Read(64);
        }

        int size = TimeSizes[ones - 1], prefixBits = ones + 1;
        bits.Skip(prefixBits + size);
        return (long)(next << prefixBits >> (64 - size)) - (1L << (size - 1));
    }

    /// <summary>The state of one value: the last one, the window of its differing bits, and the aggregates.</summary>
    private struct Column
    {
        private ulong _last;
        private int _leading;
        private int _length;
        private int _count;
        private double _min;
        private double _max;
        private double _sum;
        private double _first;

        public void Write(BitWriter bits, double value)
        {
            Count(value);
            ulong now = BitConverter.DoubleToUInt64Bits(value), xor = now ^ _last;
            _last = now;
            if (xor == 0)
            {
                bits.Write(0, 1);
                return;
            }

            int leading = Math.Min(31, BitOperations.LeadingZeroCount(xor)), trailing = BitOperations.TrailingZeroCount(xor);
            if (_length > 0 && leading >= _leading && trailing >= 64 - _leading - _length)
            {
                bits.Write(0b10, 2);
            }
            else
            {
                (_leading, _length) = (leading, 64 - leading - trailing);
                bits.Write((0b11UL << 11) | ((uint)leading << 6) | (uint)(_length - 1), 2 + 5 + 6);
            }

            bits.Write(xor >> (64 - _leading - _length), _length);
        }

        public double Read(ref BitReader bits)
        {
            const int MostPeeked = 57;
            ulong next = bits.Peek();
            if ((next & (1UL << 63)) == 0)
            {
                bits.Skip(1);
                return BitConverter.UInt64BitsToDouble(_last);
            }

            int prefixBits = 2;
            if ((next & (1UL << 62)) != 0)
            {
                prefixBits = 2 + 5 + 6;
                _leading = (int)(next >> 57) & 31;
                _length = ((int)(next >> 51) & 63) + 1;
            }

            ulong different;
            if (prefixBits + _length <= MostPeeked)
            {
                bits.Skip(prefixBits + _length);
                different = next << prefixBits >> (64 - _length);
            }
            else
            {
                bits.Skip(prefixBits);
                different = bits.Read(_length);
            }

            _last ^= different << (64 - _leading - _length);
            return BitConverter.UInt64BitsToDouble(_last);
        }

        public readonly void WriteAggregate(Span<byte> at)
        {
            BinaryPrimitives.WriteInt32LittleEndian(at, _count);
            BinaryPrimitives.WriteDoubleLittleEndian(at[4..], _min);
            BinaryPrimitives.WriteDoubleLittleEndian(at[12..], _max);
            BinaryPrimitives.WriteDoubleLittleEndian(at[20..], _sum);
            BinaryPrimitives.WriteDoubleLittleEndian(at[28..], _first);
            BinaryPrimitives.WriteDoubleLittleEndian(at[36..], BitConverter.UInt64BitsToDouble(_last));
        }

        private void Count(double value)
        {
            if (_count++ == 0)
                _min = _max = _first = value;
            _min = Math.Min(_min, value);
            _max = Math.Max(_max, value);
            _sum += value;
        }
    }
}
