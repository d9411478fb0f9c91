using System.Diagnostics;

namespace Treepie.Indexing.Terms;

/// <summary>
/// Sorts terms by their first eight bytes with a least-significant-byte radix sort, because a comparison sort spends most of
/// its time on mispredicted branches. Byte positions at which all terms agree are skipped. The buffers are reused by the
/// next sort.
/// </summary>
internal sealed class HeadSort
{
    /// <summary>Below this number of terms, counting bytes costs more than comparing terms.</summary>
    private const int MinRadix = 256;

    private const int Values = 256;

    private int[] _counts = [];
    private ulong[] _headRoom = [];
    private int[] _ordinalRoom = [];

    /// <summary>Sorts heads and moves ordinals along with them; the order among equal heads is undefined.</summary>
    public void Sort(Span<ulong> heads, Span<int> ordinals)
    {
        Debug.Assert(heads.Length == ordinals.Length, "each head has an ordinal");
        if (heads.Length < MinRadix)
        {
            heads.Sort(ordinals);
            return;
        }

        TermTable.GrowTo(ref _headRoom, heads.Length);
        TermTable.GrowTo(ref _ordinalRoom, heads.Length);
        TermTable.GrowTo(ref _counts, sizeof(ulong) * Values);
        Array.Clear(_counts);
        foreach (ulong head in heads)
            for (int place = 0; place < sizeof(ulong); place++)
                _counts[(place * Values) + (byte)(head >> (8 * place))]++;
        Span<ulong> room = _headRoom.AsSpan(0, heads.Length);
        Span<int> roomOfOrdinals = _ordinalRoom.AsSpan(0, heads.Length);
        bool isInRoom = false;
        for (int place = 0; place < sizeof(ulong); place++)
        {
            Span<int> next = _counts.AsSpan(place * Values, Values);
            if (next[(byte)(heads[0] >> (8 * place))] == heads.Length)
                continue; // all terms have the same byte here
            if (isInRoom)
                Scatter(room, roomOfOrdinals, heads, ordinals, next, 8 * place);
            else
                Scatter(heads, ordinals, room, roomOfOrdinals, next, 8 * place);
            isInRoom = !isInRoom;
        }

        if (!isInRoom)
            return;
        room.CopyTo(heads);
        roomOfOrdinals.CopyTo(ordinals);
    }

    /// <summary>Releases buffers larger than <paramref name="keepBytes"/>.</summary>
    public void Trim(int keepBytes)
    {
        if (_headRoom.Length > keepBytes / sizeof(ulong))
            (_headRoom, _ordinalRoom) = ([], []);
    }

    /// <summary>Distributes the heads by one byte, in stable order.</summary>
    private static void Scatter(
        ReadOnlySpan<ulong> from, ReadOnlySpan<int> fromOrdinals, Span<ulong> to, Span<int> toOrdinals, Span<int> next, int shift)
    {
        Debug.Assert(
            to.Length == from.Length && toOrdinals.Length == fromOrdinals.Length && next.Length == Values,
            "each head gets a place");
        int start = 0;
        foreach (ref int count in next)
            (count, start) = (start, start + count);
        Debug.Assert(start == from.Length, "each head is counted once at each byte");
        for (int i = 0; i < from.Length; i++)
        {
            int place = next[(byte)(from[i] >> shift)]++;
            to[place] = from[i];
            toOrdinals[place] = fromOrdinals[i];
        }
    }
}
