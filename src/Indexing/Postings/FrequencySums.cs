using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using Treepie.Indexing.Kernels;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Prefix sums of the frequencies of one window, which locate the positions of a posting. Sums at the starts of groups are
/// computed once, as far as they are needed; a request adds up the rest within one group. See <see cref="PostingWindow"/>
/// for the encodings.
/// </summary>
internal ref struct FrequencySums
{
    /// <summary>
    /// Length of the scratch buffer: for each word of the plane the frequencies above 1 before it, and a sum for each group.
    /// </summary>
    public const int ScratchLength = PostingWindow.Blocks + (PostingWindow.Size >> GroupBits) + 1;

    /// <summary>Sixteen nibbles are read at once.</summary>
    private const int GroupBits = 4;

    private const int GroupMask = (1 << GroupBits) - 1;
    private const int WordBits = 6;

    private readonly int _width;
    private readonly ReadOnlySpan<byte> _plane;
    private readonly ReadOnlySpan<byte> _values;
    private readonly Span<int> _above;
    private readonly Span<int> _sums;
    private int _words;
    private int _groups;

    /// <param name="postings">The window.</param>
    /// <param name="scratch">At least <see cref="ScratchLength"/> numbers, used for the lifetime of this value.</param>
    public FrequencySums(PostingWindow postings, Span<int> scratch)
    {
        Debug.Assert(scratch.Length >= ScratchLength, "the sums of a window fit the buffer");
        ReadOnlySpan<byte> frequencies = postings.Frequencies;
        if (frequencies.IsEmpty || frequencies[0] == 0)
            return;

        _width = frequencies[0];
        _values = frequencies[1..];
        _above = scratch[..PostingWindow.Blocks];
        _sums = scratch[PostingWindow.Blocks..];
        _above[0] = _sums[0] = 0;
        if (_width != PostingWindow.PlaneWidth)
            return;
        int planeBytes = PostingWindow.PlaneBytes(postings.Count);
        _plane = _values[..planeBytes];
        _values = _values[planeBytes..];
    }

    /// <summary>
    /// Extends the sums up to <paramref name="rank"/>, which may be one past the last, so that ranks up to it can be
    /// requested. Sums computed before are reused.
    /// </summary>
    public void Reach(int rank)
    {
        Debug.Assert(rank >= 0, "a rank is of a window, or one past its last");
        switch (_width)
        {
            case 0:
                break;
            case 1:
                ReachHalves(rank);
                break;
            case PostingWindow.PlaneWidth:
                int word = WordOf(rank);
                for (; _words < word; _words++)
                    _above[_words + 1] = _above[_words] + BitOperations.PopCount(Load(_plane, _words << 3));
                ReachHalves(_above[word] + BitOperations.PopCount(BitsBefore(rank, word)));
                break;
            case 2:
                for (; _groups < rank >> GroupBits; _groups++)
                    _sums[_groups + 1] = _sums[_groups]
                        + StartKernels.SumOfBytes(_values[(_groups << GroupBits)..], GroupMask + 1);
                break;
            default:
                for (; _groups < rank >> GroupBits; _groups++)
                    _sums[_groups + 1] = _sums[_groups] + SumOfGroup(_groups, GroupMask + 1);
                break;
        }
    }

    /// <summary>The sum of the frequencies before a rank that <see cref="Reach"/> has covered.</summary>
    public readonly int Before(int rank)
    {
        Debug.Assert(
            _width is 0 or PostingWindow.PlaneWidth || rank >> GroupBits <= _groups, "a rank is reached before it is requested");
        switch (_width)
        {
            case 0:
                return rank;
            case 1:
                return _sums[rank >> GroupBits] + StartKernels.AddUp(Load(_values, rank >> GroupBits << 3) & Below(rank));
            case PostingWindow.PlaneWidth:
                int word = WordOf(rank), place = _above[word] + BitOperations.PopCount(BitsBefore(rank, word));
                return rank - place + _sums[place >> GroupBits]
                    + StartKernels.AddUp(Load(_values, place >> GroupBits << 3) & Below(place));
            case 2:
                return _sums[rank >> GroupBits] + StartKernels.SumOfBytes(_values[(rank & ~GroupMask)..], rank & GroupMask);
            default:
                return _sums[rank >> GroupBits] + SumOfGroup(rank >> GroupBits, rank & GroupMask);
        }
    }

    /// <summary>
    /// Like <see cref="Before"/> for several ranks that <see cref="Reach"/> has covered; also returns the frequency of each.
    /// </summary>
    public readonly void Locate(ReadOnlySpan<ushort> ranks, Span<int> starts, Span<int> counts)
    {
        Debug.Assert(starts.Length >= ranks.Length && counts.Length >= ranks.Length, "each rank gets a start and a count");
        switch (_width)
        {
            case 0:
                for (int i = 0; i < ranks.Length; i++)
                    starts[i] = ranks[i];
                counts[..ranks.Length].Fill(1);
                break;
            case 1:
                for (int i = 0; i < ranks.Length; i++)
                {
                    int rank = ranks[i];
                    ulong group = Load(_values, rank >> GroupBits << 3);
                    starts[i] = _sums[rank >> GroupBits] + StartKernels.AddUp(group & Below(rank));
                    counts[i] = (int)(group >> (4 * (rank & GroupMask))) & 15;
                }

                break;
            case PostingWindow.PlaneWidth:
                LocateInPlane(ranks, starts, counts);
                break;
            default:
                for (int i = 0; i < ranks.Length; i++)
                {
                    starts[i] = Before(ranks[i]);
                    counts[i] = ValueAt(ranks[i]);
                }

                break;
        }
    }

    private readonly void LocateInPlane(ReadOnlySpan<ushort> ranks, Span<int> starts, Span<int> counts)
    {
        for (int i = 0; i < ranks.Length; i++)
        {
            int rank = ranks[i];
            ulong word = Load(_plane, rank >> WordBits << 3);
            int place = _above[rank >> WordBits] + BitOperations.PopCount(word & ((1UL << rank) - 1));
            ulong group = Load(_values, place >> GroupBits << 3);
            int isAbove = (int)(word >> rank) & 1;
            starts[i] = rank - place + _sums[place >> GroupBits] + StartKernels.AddUp(group & Below(place));
            counts[i] = 1 + (isAbove * (((int)(group >> (4 * (place & GroupMask))) & 15) - 1));
        }
    }

    /// <summary>
    /// The word of the plane that contains a rank; the last word for the rank past a plane of whole words.
    /// </summary>
    private readonly int WordOf(int rank) => Math.Min(rank >> WordBits, (_plane.Length - 1) >> 3);

    /// <summary>The bits of a word of the plane that are before a rank.</summary>
    private readonly ulong BitsBefore(int rank, int word)
    {
        ulong bits = Load(_plane, word << 3);
        return rank - (word << WordBits) < 64 ? bits & ((1UL << rank) - 1) : bits;
    }

    private void ReachHalves(int place)
    {
        Debug.Assert(place >= 0, "a place is not before the first frequency");
        int wanted = place >> GroupBits;
        if (wanted <= _groups)
            return;
        StartKernels.AddGroups(_values[(_groups << 3)..(wanted << 3)], _sums[_groups..], _sums[_groups]);
        _groups = wanted;
    }

    /// <summary>A mask of the nibbles of a group that are before a place.</summary>
    private static ulong Below(int place) => (1UL << (4 * (place & GroupMask))) - 1;

    private readonly int SumOfGroup(int group, int count)
    {
        int sum = 0;
        for (int rank = group << GroupBits; rank < (group << GroupBits) + count; rank++)
            sum += ValueAt(rank);
        return sum;
    }

    /// <summary>Returns a frequency that is stored in one byte or more.</summary>
    private readonly int ValueAt(int rank) => _width switch
    {
        2 => _values[rank],
        3 => BinaryPrimitives.ReadUInt16LittleEndian(_values[(2 * rank)..]),
        _ => BinaryPrimitives.ReadInt32LittleEndian(_values[(4 * rank)..]),
    };

    /// <summary>Reads eight bytes; bytes past the end are 0.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Load(ReadOnlySpan<byte> bytes, int place) =>
        place <= bytes.Length - sizeof(ulong) ? BinaryPrimitives.ReadUInt64LittleEndian(bytes[place..]) : LoadLast(bytes, place);

    private static ulong LoadLast(ReadOnlySpan<byte> bytes, int place)
    {
        ulong word = 0;
        for (int i = place; i < bytes.Length; i++)
            word |= (ulong)bytes[i] << (8 * (i - place));
        return word;
    }
}
