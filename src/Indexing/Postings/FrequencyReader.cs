using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Reads the frequencies of one window by ascending rank. The number of frequencies above 1 before one rank is reused for
/// the next. See <see cref="PostingWindow"/> for the encodings.
/// </summary>
internal ref struct FrequencyReader
{
    private const int WordBits = 6;

    private readonly ReadOnlySpan<byte> _values;
    private readonly int _width;
    private readonly int _planeBytes;
    private int _nextWord;
    private int _above;

    public FrequencyReader(scoped in PostingWindow postings)
    {
        ReadOnlySpan<byte> frequencies = postings.Frequencies;
        if (frequencies.IsEmpty)
            return;
        _width = frequencies[0];
        _values = frequencies[1..];
        _planeBytes = PostingWindow.PlaneBytes(postings.Count);
    }

    /// <summary>
    /// Returns the frequency of a rank, which must not be before the last one requested. The common frequency 1 takes the
    /// short path.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int At(int rank) =>
        _width == 0 || (_width == PostingWindow.PlaneWidth && (_values[rank >> 3] >> (rank & 7) & 1) == 0) ? 1 : Above(rank);

    /// <summary>Whether the frequency of a rank is, or may be, above 1. Ranks may be requested in any order.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public readonly bool MayBeAbove(int rank) => _width switch
    {
        0 => false,
        PostingWindow.PlaneWidth => (_values[rank >> 3] >> (rank & 7) & 1) != 0,
        _ => true,
    };

    private int Above(int rank) => _width switch
    {
        1 => _values[rank >> 1] >> ((rank & 1) * 4) & 15,
        2 => _values[rank],
        3 => BinaryPrimitives.ReadUInt16LittleEndian(_values[(2 * rank)..]),
        PostingWindow.PlaneWidth => OfPlane(rank),
        _ => BinaryPrimitives.ReadInt32LittleEndian(_values[(4 * rank)..]),
    };

    /// <summary>
    /// Returns the sum of the frequencies of the ranks from <paramref name="from"/>, which must not be before the last rank
    /// requested, up to but not including <paramref name="to"/>.
    /// </summary>
    public int Sum(int from, int to)
    {
        Debug.Assert(from >= 0 && from <= to, "ranks ascend");
        switch (_width)
        {
            case 0:
                return to - from;
            case 1:
                return PostingWindow.SumNibbles(_values, from, to);
            case PostingWindow.PlaneWidth:
                int first = CountAbove(from), end = CountAbove(to);
                return to - from - (end - first) + PostingWindow.SumNibbles(_values[_planeBytes..], first, end);
            default:
                int sum = 0;
                for (int rank = from; rank < to; rank++)
                    sum += At(rank);
                return sum;
        }
    }

    private int OfPlane(int rank)
    {
        int place = CountAbove(rank);
        return _values[_planeBytes + (place >> 1)] >> ((place & 1) * 4) & 15;
    }

    /// <summary>Number of ranks before <paramref name="rank"/> with a frequency above 1.</summary>
    private int CountAbove(int rank)
    {
        int word = rank >> WordBits;
        Debug.Assert(_nextWord <= word, "ranks ascend");
        while (_nextWord < word)
            _above += BitOperations.PopCount(Word(_nextWord++));
        return _above + BitOperations.PopCount(Word(word) & ((1UL << (rank & 63)) - 1));
    }

    /// <summary>A 64-bit word of the plane. Bits past the end of the plane are undefined and belong to no rank.</summary>
    private readonly ulong Word(int index)
    {
        ReadOnlySpan<byte> rest = _values[Math.Min(_values.Length, index * sizeof(ulong))..];
        if (rest.Length >= sizeof(ulong))
            return BinaryPrimitives.ReadUInt64LittleEndian(rest);

        ulong word = 0;
        for (int i = 0; i < rest.Length; i++)
            word |= (ulong)rest[i] << (8 * i);
        return word;
    }
}
