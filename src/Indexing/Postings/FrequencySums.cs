using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.CompilerServices;
using Treepie.Indexing.Kernels;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Sums of the frequencies of one window up to any rank, which say where the positions of a posting begin: sums up to some ranks are made once, the rest is added up from eight bytes.
/// See <see cref="PostingWindow"/> for the forms.
/// </summary>
internal readonly ref struct FrequencySums
{
    /// <summary>Numbers of scratch that it needs: ranks above 1 by word of the plane, sums by group.</summary>
    public const int ScratchLength = PostingWindow.Blocks + (PostingWindow.Size >> GroupBits) + 1;

    /// <summary>Sixteen half bytes are read at once.</summary>
    private const int GroupBits = 4;

    private const int GroupMask = (1 << GroupBits) - 1;
    private const int WordBits = 6;

    private readonly int width;
    private readonly ReadOnlySpan<byte> plane;
    private readonly ReadOnlySpan<byte> values;
    private readonly Span<int> above;
    private readonly Span<int> sums;

    /// <param name="postings">The window.</param>
    /// <param name="scratch">Room for <see cref="ScratchLength"/> numbers, in use as long as this is.</param>
    public FrequencySums(PostingWindow postings, Span<int> scratch)
    {
        ReadOnlySpan<byte> frequencies = postings.Frequencies;
        if (frequencies.IsEmpty || frequencies[0] == 0)
            return;

        width = frequencies[0];
        values = frequencies[1..];
        above = scratch[..PostingWindow.Blocks];
        sums = scratch[PostingWindow.Blocks..];
        int count = postings.Count;
        if (width == PostingWindow.PlaneWidth)
        {
            int planeBytes = PostingWindow.PlaneBytes(count);
            plane = values[..planeBytes];
            values = values[planeBytes..];
            count = CountPlane(count);
        }

        if (width is 1 or PostingWindow.PlaneWidth)
        {
            StartKernels.AddGroups(values[..((count + 1) >> 1)], sums);
            return;
        }

        // One group more: the sum of all is asked for, too.
        int sum = 0;
        for (int group = 0; group <= count >> GroupBits; group++)
        {
            sums[group] = sum;
            sum += SumOfGroup(group, Math.Min(GroupMask + 1, count - (group << GroupBits)));
        }
    }

    /// <summary>The sum of the frequencies before a rank, which may be that behind the last.</summary>
    public int Before(int rank)
    {
        switch (width)
        {
            case 0:
                return rank;
            case 1:
                return sums[rank >> GroupBits] + AddUp(Load(values, rank >> GroupBits << 3) & Below(rank));
            case PostingWindow.PlaneWidth:
                // Behind a plane of full words there is none that says how many were before it.
                int word = Math.Min(rank >> WordBits, (plane.Length - 1) >> 3);
                ulong bits = Load(plane, word << 3);
                int place = above[word] + BitOperations.PopCount(rank - (word << WordBits) < 64 ? bits & ((1UL << rank) - 1) : bits);
                return rank - place + sums[place >> GroupBits] + AddUp(Load(values, place >> GroupBits << 3) & Below(place));
            default:
                return sums[rank >> GroupBits] + SumOfGroup(rank >> GroupBits, rank & GroupMask);
        }
    }

    /// <summary>As <see cref="Before"/>, of several ranks, each with its frequency.</summary>
    public void Locate(ReadOnlySpan<ushort> ranks, Span<int> starts, Span<int> counts)
    {
        switch (width)
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
                    ulong group = Load(values, rank >> GroupBits << 3);
                    starts[i] = sums[rank >> GroupBits] + AddUp(group & Below(rank));
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

    private void LocateInPlane(ReadOnlySpan<ushort> ranks, Span<int> starts, Span<int> counts)
    {
        for (int i = 0; i < ranks.Length; i++)
        {
            int rank = ranks[i];
            ulong word = Load(plane, rank >> WordBits << 3);
            int place = above[rank >> WordBits] + BitOperations.PopCount(word & ((1UL << rank) - 1));
            ulong group = Load(values, place >> GroupBits << 3);
            int isAbove = (int)(word >> rank) & 1;
            starts[i] = rank - place + sums[place >> GroupBits] + AddUp(group & Below(place));
            counts[i] = 1 + (isAbove * (((int)(group >> (4 * (place & GroupMask))) & 15) - 1));
        }
    }

    /// <summary>Counts the ranks above 1 by word; returns how many there are.</summary>
    private int CountPlane(int count)
    {
        int total = 0;
        for (int word = 0; word << WordBits < count; word++)
        {
            above[word] = total;
            total += BitOperations.PopCount(Load(plane, word << 3));
        }

        return total;
    }

    /// <summary>The half bytes of a group that are before one.</summary>
    private static ulong Below(int place) => (1UL << (4 * (place & GroupMask))) - 1;

    /// <summary>The sum of sixteen half bytes: at most 240, so that it is a byte.</summary>
    private static int AddUp(ulong group)
    {
        const ulong Low = 0x0F0F0F0F0F0F0F0F;
        return (int)((((group & Low) + ((group >> 4) & Low)) * 0x0101010101010101) >> 56);
    }

    private int SumOfGroup(int group, int count)
    {
        int sum = 0;
        for (int rank = group << GroupBits; rank < (group << GroupBits) + count; rank++)
            sum += ValueAt(rank);
        return sum;
    }

    /// <summary>A frequency of a byte or more.</summary>
    private int ValueAt(int rank) => width switch
    {
        2 => values[rank],
        3 => BinaryPrimitives.ReadUInt16LittleEndian(values[(2 * rank)..]),
        _ => BinaryPrimitives.ReadInt32LittleEndian(values[(4 * rank)..]),
    };

    /// <summary>Eight bytes; zeros behind the end.</summary>
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
