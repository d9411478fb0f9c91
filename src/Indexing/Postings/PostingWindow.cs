using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Storage.Kernels;

namespace Treepie.Indexing.Postings;

/// <summary>
/// The postings of one term in one window of 4,096 entries, read in place.
/// <code>
/// OFFSET  SIZE      MEANING
/// 0       2·count   LIST, count below 128: ascending offsets within the window
/// 0       512       BITS, count 128 to 4,095: bitmap
/// 0       0         FULL, count 4,096: nothing, every entry is a posting
/// then, if the list has frequencies:
/// +0      1 or 64   largest impact: of all postings of a LIST; of each block of 64 entries of BITS and FULL
/// +1, +64 0 or 1    width code w of a frequency; absent if all are 1, which is usual
/// …       …         one per posting by rank: w 1 four bits, 2 a byte, 3 two bytes, 4 four bytes;
///                   5: a bit per posting, whether it is above 1, and for each that is, by rank, four bits
/// </code>
/// A bitmap is also the execution format: it is combined with other bitmaps in place.
/// </summary>
internal readonly ref struct PostingWindow
{
    /// <summary>Entries of a window: a bitmap of it has 512 bytes, eight cache lines.</summary>
    public const int Size = 1 << SizeBits;

    /// <summary>Bits of an entry id that are its offset in the window.</summary>
    public const int SizeBits = 12;

    /// <summary>
    /// With this many postings or more (density 1/32) a window is a bitmap: larger than a list, but combined 20 times as
    /// fast.
    /// </summary>
    public const int MinBitsCount = 128;

    /// <summary>Bits of an offset that give its position in a block.</summary>
    public const int BlockBits = 6;

    /// <summary>Blocks of a window. Each has 64 entries, as many as a word of the bitmap has bits.</summary>
    public const int Blocks = Size >> BlockBits;

    /// <summary>Fewer offsets than this are looked up one by one in a LIST.</summary>
    private const int MostSought = 32;

    /// <summary>The width code of one bit per posting and four bits for each above 1.</summary>
    public const byte PlaneWidth = 5;

    private readonly ReadOnlySpan<byte> _ids;
    private readonly ReadOnlySpan<byte> _frequencies;

    public PostingWindow(int count, ReadOnlySpan<byte> payload)
    {
        Count = count;
        int idBytes = IdBytes(count);
        _ids = payload[..idBytes];
        _frequencies = payload[idBytes..];
        if (!_frequencies.IsEmpty)
        {
            int impacts = ImpactBytes(count);
            Impacts = _frequencies[..impacts];
            _frequencies = _frequencies[impacts..];
        }
    }

    /// <summary>
    /// Largest impacts (see <see cref="IImpacts"/>): one for the window, or one per block; empty if the list has none.
    /// </summary>
    public ReadOnlySpan<byte> Impacts { get; }

    public int Count { get; }

    /// <summary>Length in bytes.</summary>
    public int Bytes => _ids.Length + Impacts.Length + _frequencies.Length;

    public WindowSetForm Form => Count switch
    {
        0 => WindowSetForm.Empty,
        < MinBitsCount => WindowSetForm.List,
        < Size => WindowSetForm.Bits,
        _ => WindowSetForm.Full,
    };

    /// <summary>The offsets of a LIST.</summary>
    public ReadOnlySpan<ushort> Offsets => MemoryMarshal.Cast<byte, ushort>(_ids);

    /// <summary>The bitmap of BITS.</summary>
    public ReadOnlySpan<byte> Bitmap => _ids;

    /// <summary>The bitmap of BITS as words; empty for FULL.</summary>
    public ReadOnlySpan<ulong> Words => MemoryMarshal.Cast<byte, ulong>(_ids);

    /// <summary>Width and frequencies; empty if all are 1 or the list has none.</summary>
    public ReadOnlySpan<byte> Frequencies => _frequencies;

    /// <summary>Bytes of the ids of <paramref name="count"/> postings.</summary>
    public static int IdBytes(int count) => count switch
    {
        < MinBitsCount => count * sizeof(ushort),
        < Size => BitmapKernels.Bytes,
        _ => 0,
    };

    /// <summary>Bytes of the impacts of <paramref name="count"/> postings.</summary>
    public static int ImpactBytes(int count) => count < MinBitsCount ? 1 : Blocks;

    /// <summary>The largest impact of all postings.</summary>
    public byte LargestImpact => BoundKernels.Largest(Impacts);

    /// <summary>The largest impact of the window or block around an offset.</summary>
    public byte ImpactAt(int offset) => Impacts.Length == 1 ? Impacts[0] : Impacts[offset >> BlockBits];

    /// <summary>The rank of an offset among the postings, or -1 if it is not one of them.</summary>
    public int Rank(int offset)
    {
        switch (Form)
        {
            case WindowSetForm.List:
                int position = OffsetKernels.LowerBound(Offsets, (ushort)offset);
                return position < Count && Offsets[position] == offset ? position : -1;
            case WindowSetForm.Bits:
                ReadOnlySpan<ulong> bits = MemoryMarshal.Cast<byte, ulong>(_ids);
                return (bits[offset >> 6] >> (offset & 63) & 1) == 0 ? -1 : BitmapKernels.Rank(bits, offset);
            case WindowSetForm.Full:
                return offset;
            default:
                return -1;
        }
    }

    /// <summary>Writes the number of postings before each word of the bitmap; false if the window is not BITS.</summary>
    public bool TryCountBefore(Span<ushort> before)
    {
        Debug.Assert(before.Length >= Blocks, "each block gets the count before it");
        if (Form != WindowSetForm.Bits)
            return false;

        ReadOnlySpan<ulong> bits = MemoryMarshal.Cast<byte, ulong>(_ids);
        int count = 0;
        for (int i = 0; i < bits.Length; i++)
        {
            before[i] = (ushort)count;
            count += BitOperations.PopCount(bits[i]);
        }

        return true;
    }

    /// <summary>Like <see cref="Rank(int)"/>, with the counts of <see cref="TryCountBefore"/>.</summary>
    public int Rank(int offset, ReadOnlySpan<ushort> before)
    {
        Debug.Assert(Form == WindowSetForm.Bits && before.Length >= Blocks, "only a bitmap has counts before its words");
        ulong word = MemoryMarshal.Cast<byte, ulong>(_ids)[offset >> 6];
        ulong bit = 1UL << (offset & 63);
        return (word & bit) == 0 ? -1 : before[offset >> 6] + BitOperations.PopCount(word & (bit - 1));
    }

    /// <summary>
    /// Computes the ranks of several postings from their offsets, with the counts of <see cref="TryCountBefore"/>.
    /// </summary>
    public void CopyRanks(ReadOnlySpan<ushort> offsets, ReadOnlySpan<ushort> before, Span<ushort> ranks)
    {
        Debug.Assert(Form == WindowSetForm.Bits && before.Length >= Blocks, "only a bitmap has counts before its words");
        Debug.Assert(ranks.Length >= offsets.Length, "each offset gets a rank");
        ReadOnlySpan<ulong> words = Words;
        for (int i = 0; i < offsets.Length; i++)
        {
            int offset = offsets[i];
            ranks[i] = (ushort)(before[offset >> BlockBits]
                + BitOperations.PopCount(words[offset >> BlockBits] & ((1UL << offset) - 1)));
        }
    }

    /// <summary>Computes the ranks of a few postings of BITS from their ascending offsets.</summary>
    public void CopyRanks(ReadOnlySpan<ushort> offsets, Span<ushort> ranks) => BitmapKernels.CopyRanks(Words, offsets, ranks);

    /// <summary>
    /// Computes the ranks of several postings of a LIST or FULL from their ascending offsets, starting at rank
    /// <paramref name="from"/>; returns the last rank.
    /// </summary>
    public int CopyRanks(ReadOnlySpan<ushort> offsets, int from, Span<ushort> ranks)
    {
        Debug.Assert(Form is WindowSetForm.List or WindowSetForm.Full, "the ranks of a bitmap are counted, not searched");
        Debug.Assert(from >= 0 && ranks.Length >= offsets.Length, "each offset gets a rank");
        if (Form == WindowSetForm.Full)
        {
            offsets.CopyTo(ranks);
            return from;
        }

        ReadOnlySpan<ushort> mine = Offsets;
        for (int i = 0; i < offsets.Length; i++)
        {
            while (mine[from] < offsets[i])
                from++;
            ranks[i] = (ushort)from;
        }

        return from;
    }

    /// <summary>
    /// Writes for each rank the sum of the frequencies before it, and the total at the end; false if frequencies take more
    /// than one byte each.
    /// </summary>
    public bool TryCopyStarts(Span<ushort> starts)
    {
        switch (_frequencies.IsEmpty ? 0 : _frequencies[0])
        {
            case 0:
                StartKernels.Count(Count, starts);
                return true;
            case 1:
                StartKernels.AddHalves(_frequencies[1..], Count, starts);
                return true;
            case 2:
                StartKernels.AddBytes(_frequencies[1..], Count, starts);
                return true;
            case PlaneWidth:
                int plane = PlaneBytes(Count);
                StartKernels.AddPlane(_frequencies.Slice(1, plane), _frequencies[(1 + plane)..], Count, starts);
                return true;
            default:
                return false;
        }
    }

    /// <summary>Writes its entries as the 64 words of a bitmap.</summary>
    public void CopyWords(Span<ulong> words)
    {
        Debug.Assert(words.Length >= Blocks, "each block gets a word");
        switch (Form)
        {
            case WindowSetForm.Bits:
                Words.CopyTo(words);
                break;
            case WindowSetForm.Full:
                words.Fill(ulong.MaxValue);
                break;
            default:
                words.Clear();
                BitmapKernels.Set(words, Offsets);
                break;
        }
    }

    public bool Contains(int offset) => Form switch
    {
        WindowSetForm.List => Rank(offset) >= 0,
        WindowSetForm.Bits => (_ids[offset >> 3] >> (offset & 7) & 1) != 0,
        WindowSetForm.Full => true,
        _ => false,
    };

    /// <summary>Counts those ascending offsets that are among the postings.</summary>
    public int CountIn(ReadOnlySpan<ushort> offsets)
    {
        switch (Form)
        {
            case WindowSetForm.Bits:
                return BitmapKernels.CountIn(Words, offsets);
            case WindowSetForm.Full:
                return offsets.Length;
            default:
                int count = 0;
                foreach (ushort offset in offsets)
                    count += Contains(offset) ? 1 : 0;
                return count;
        }
    }

    /// <summary>
    /// Keeps, in place, those ascending offsets that are among the postings, or those that are not; returns the number kept.
    /// </summary>
    public int Keep(Span<ushort> offsets, bool wanted) => Form switch
    {
        WindowSetForm.List when wanted && offsets.Length < MostSought => OffsetKernels.FilterFew(offsets, Offsets),
        WindowSetForm.List => SortedSets.Filter(offsets, Offsets, wanted),
        WindowSetForm.Bits => OffsetKernels.Filter(offsets, Words, wanted),
        WindowSetForm.Full => wanted ? offsets.Length : 0,
        _ => wanted ? 0 : offsets.Length,
    };

    /// <summary>Frequency of the posting at a rank; 1 if the list has none.</summary>
    public int Frequency(int rank)
    {
        if (_frequencies.IsEmpty)
            return 1;

        ReadOnlySpan<byte> values = _frequencies[1..];
        return _frequencies[0] switch
        {
            0 => 1,
            1 => values[rank >> 1] >> ((rank & 1) * 4) & 15,
            2 => values[rank],
            3 => BinaryPrimitives.ReadUInt16LittleEndian(values[(2 * rank)..]),
            PlaneWidth => PlaneFrequency(values, rank),
            _ => BinaryPrimitives.ReadInt32LittleEndian(values[(4 * rank)..]),
        };
    }

    /// <summary>
    /// The sum of the frequencies of the ranks from <paramref name="from"/> up to but not including <paramref name="to"/>.
    /// </summary>
    public int SumFrequencies(int from, int to)
    {
        Debug.Assert(from >= 0 && from <= to, "ranks ascend");
        if (_frequencies.IsEmpty || _frequencies[0] == 0)
            return to - from;

        ReadOnlySpan<byte> values = _frequencies[1..];
        if (_frequencies[0] == 1)
            return SumNibbles(values, from, to);
        if (_frequencies[0] == PlaneWidth)
        {
            int first = CountSet(values, from), end = CountSet(values, to);
            return to - from - (end - first) + SumNibbles(values[PlaneBytes(Count)..], first, end);
        }

        int sum = 0;
        for (int rank = from; rank < to; rank++)
            sum += Frequency(rank);
        return sum;
    }

    /// <summary>Bytes of the plane of <paramref name="count"/> postings.</summary>
    public static int PlaneBytes(int count) => (count + 7) / 8;

    private int PlaneFrequency(ReadOnlySpan<byte> plane, int rank)
    {
        if ((plane[rank >> 3] >> (rank & 7) & 1) == 0)
            return 1;

        int above = CountSet(plane, rank);
        return plane[PlaneBytes(Count) + (above >> 1)] >> ((above & 1) * 4) & 15;
    }

    /// <summary>Number of set bits among the first <paramref name="bits"/>.</summary>
    private static int CountSet(ReadOnlySpan<byte> plane, int bits)
    {
        int count = 0;
        int place = 0;
        for (; bits - (place * 8) >= 64; place += sizeof(ulong))
            count += BitOperations.PopCount(BinaryPrimitives.ReadUInt64LittleEndian(plane[place..]));
        for (; bits - (place * 8) >= 8; place++)
            count += BitOperations.PopCount(plane[place]);
        int rest = bits - (place * 8);
        return rest == 0 ? count : count + BitOperations.PopCount(plane[place] & ((1u << rest) - 1));
    }

    /// <summary>The sum of a range of nibbles, sixteen at a time.</summary>
    public static int SumNibbles(ReadOnlySpan<byte> values, int from, int to)
    {
        Debug.Assert(from >= 0 && from <= to, "ranks ascend");
        int sum = 0;
        for (; from < to && (from & 1) != 0; from++)
            sum += values[from >> 1] >> 4;
        for (; from + 16 <= to; from += 16)
            sum += StartKernels.AddUp(BinaryPrimitives.ReadUInt64LittleEndian(values[(from >> 1)..]));
        for (; from < to; from++)
            sum += values[from >> 1] >> ((from & 1) * 4) & 15;
        return sum;
    }

    /// <summary>Writes all offsets, ascending, to a span of at least 4,096; returns <see cref="Count"/>.</summary>
    public int CopyOffsets(Span<ushort> offsets)
    {
        Debug.Assert(offsets.Length >= Math.Min(Count, Size), "each posting gets an offset");
        switch (Form)
        {
            case WindowSetForm.List:
                Offsets.CopyTo(offsets);
                break;
            case WindowSetForm.Bits:
                int decoded = BitmapKernels.Decode(MemoryMarshal.Cast<byte, ulong>(_ids), offsets);
                Debug.Assert(decoded == Count, "the count beside a bitmap is its population count");
                break;
            case WindowSetForm.Full:
                for (int i = 0; i < Size; i++)
                    offsets[i] = (ushort)i;
                break;
        }

        return Count;
    }

    /// <summary>Writes the frequencies of all postings by rank; 1 if the list has none.</summary>
    public void CopyFrequencies(Span<int> output)
    {
        output = output[..Count];
        int width = _frequencies.IsEmpty ? 0 : _frequencies[0];
        ReadOnlySpan<byte> values = width == 0 ? default : _frequencies[1..];
        switch (width)
        {
            case 0:
                output.Fill(1);
                break;
            case 1:
                for (int i = 0; i < output.Length; i++)
                    output[i] = values[i >> 1] >> ((i & 1) * 4) & 15;
                break;
            case 2:
                for (int i = 0; i < output.Length; i++)
                    output[i] = values[i];
                break;
            case PlaneWidth:
                output.Fill(1);
                ReadOnlySpan<byte> nibbles = values[PlaneBytes(Count)..];
                int next = 0;
                for (int place = 0; place < PlaneBytes(Count); place++)
                {
                    for (uint bits = values[place]; bits != 0; bits &= bits - 1, next++)
                        output[(8 * place) + BitOperations.TrailingZeroCount(bits)] = nibbles[next >> 1] >> ((next & 1) * 4) & 15;
                }

                break;
            default:
                for (int i = 0; i < output.Length; i++)
                    output[i] = Frequency(i);
                break;
        }
    }

    /// <summary>Longest encoding: bitmap, impacts, width, four bytes for each frequency.</summary>
    public static int MaxEncodedBytes(int count) => BitmapKernels.Bytes + Blocks + 1 + (4 * count);

    /// <summary>
    /// Encodes ascending offsets, their frequencies (empty if the list has none) and the largest impacts by block; returns the
    /// bytes written.
    /// </summary>
    public static int Encode(
        ReadOnlySpan<ushort> offsets, ReadOnlySpan<int> frequencies, ReadOnlySpan<byte> impacts, Span<byte> output)
    {
        Debug.Assert(offsets.Length is > 0 and <= Size && (frequencies.IsEmpty || frequencies.Length == offsets.Length));
        Debug.Assert(frequencies.IsEmpty || impacts.Length == Blocks, "a list with frequencies has an impact for each block");
        int length = IdBytes(offsets.Length);
        if (offsets.Length < MinBitsCount)
        {
            MemoryMarshal.AsBytes(offsets).CopyTo(output);
        }
        else if (offsets.Length < Size)
        {
            output[..length].Clear();
            BitmapKernels.Set(MemoryMarshal.Cast<byte, ulong>(output[..length]), offsets);
        }

        if (frequencies.IsEmpty)
            return length;

        if (offsets.Length < MinBitsCount)
        {
            byte largest = 0;
            foreach (byte impact in impacts)
                largest = Math.Max(largest, impact);
            output[length++] = largest;
        }
        else
        {
            impacts.CopyTo(output[length..]);
            length += Blocks;
        }

        return length + EncodeFrequencies(frequencies, output[length..]);
    }

    private static int EncodeFrequencies(ReadOnlySpan<int> frequencies, Span<byte> output)
    {
        int largest = 0;
        int above = 0;
        foreach (int frequency in frequencies)
        {
            largest = Math.Max(largest, frequency);
            above += frequency > 1 ? 1 : 0;
        }

        if (largest <= 1)
            return 0;
        byte width = largest switch { <= 15 => 1, <= byte.MaxValue => 2, <= ushort.MaxValue => 3, _ => 4 };
        if (width == 1 && PlaneBytes(frequencies.Length) + ((above + 1) / 2) < (frequencies.Length + 1) / 2)
            width = PlaneWidth;
        output[0] = width;
        Span<byte> values = output[1..];
        switch (width)
        {
            case PlaneWidth:
                return 1 + EncodePlane(frequencies, above, values);
            case 1:
                int bytes = (frequencies.Length + 1) / 2;
                values[..bytes].Clear();
                for (int i = 0; i < frequencies.Length; i++)
                    values[i >> 1] |= (byte)(frequencies[i] << ((i & 1) * 4));
                return 1 + bytes;
            case 2:
                for (int i = 0; i < frequencies.Length; i++)
                    values[i] = (byte)frequencies[i];
                return 1 + frequencies.Length;
            case 3:
                for (int i = 0; i < frequencies.Length; i++)
                    BinaryPrimitives.WriteUInt16LittleEndian(values[(2 * i)..], (ushort)frequencies[i]);
                return 1 + (2 * frequencies.Length);
            default:
                for (int i = 0; i < frequencies.Length; i++)
                    BinaryPrimitives.WriteInt32LittleEndian(values[(4 * i)..], frequencies[i]);
                return 1 + (4 * frequencies.Length);
        }
    }

    private static int EncodePlane(ReadOnlySpan<int> frequencies, int above, Span<byte> output)
    {
        int plane = PlaneBytes(frequencies.Length);
        int length = plane + ((above + 1) / 2);
        output[..length].Clear();
        int next = 0;
        for (int i = 0; i < frequencies.Length; i++)
        {
            if (frequencies[i] <= 1)
                continue;
            output[i >> 3] |= (byte)(1 << (i & 7));
            output[plane + (next >> 1)] |= (byte)(frequencies[i] << ((next & 1) * 4));
            next++;
        }

        Debug.Assert(next == above && length == plane + ((above + 1) / 2), "each frequency above 1 has four bits");
        return length;
    }
}
