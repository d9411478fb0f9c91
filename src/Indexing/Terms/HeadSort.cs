namespace Treepie.Indexing.Terms;

/// <summary>
/// Brings terms into the order of their first eight bytes, byte by byte from the last: what compares them guesses wrong half of
/// the time, and that is most of what it takes. Bytes that are the same in all are passed over. Memory is kept from one sort to
/// the next.
/// </summary>
internal sealed class HeadSort
{
    /// <summary>Below this, what is counted for each byte costs more than to compare.</summary>
    private const int MinRadix = 256;

    private const int Values = 256;

    private int[] counts = [];
    private ulong[] headRoom = [];
    private int[] ordinalRoom = [];

    /// <summary>Sorts heads, and with them ordinals; where heads are equal, in any order.</summary>
    public void Sort(Span<ulong> heads, Span<int> ordinals)
    {
        if (heads.Length < MinRadix)
        {
            heads.Sort(ordinals);
            return;
        }

        TermTable.GrowTo(ref headRoom, heads.Length);
        TermTable.GrowTo(ref ordinalRoom, heads.Length);
        TermTable.GrowTo(ref counts, sizeof(ulong) * Values);
        Array.Clear(counts);
        foreach (ulong head in heads)
            for (int place = 0; place < sizeof(ulong); place++)
                counts[(place * Values) + (byte)(head >> (8 * place))]++;
        Span<ulong> room = headRoom.AsSpan(0, heads.Length);
        Span<int> roomOfOrdinals = ordinalRoom.AsSpan(0, heads.Length);
        bool isInRoom = false;
        for (int place = 0; place < sizeof(ulong); place++)
        {
            Span<int> next = counts.AsSpan(place * Values, Values);
            if (next[(byte)(heads[0] >> (8 * place))] == heads.Length)
                continue; // all have the same
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

    /// <summary>Keeps no piece of more than so many bytes.</summary>
    public void Trim(int keepBytes)
    {
        if (headRoom.Length > keepBytes / sizeof(ulong))
            (headRoom, ordinalRoom) = ([], []);
    }

    /// <summary>Moves all to their places by one byte.</summary>
    private static void Scatter(
        ReadOnlySpan<ulong> from, ReadOnlySpan<int> fromOrdinals, Span<ulong> to, Span<int> toOrdinals, Span<int> next, int shift)
    {
        int start = 0;
        foreach (ref int count in next)
            (count, start) = (start, start + count);
        for (int i = 0; i < from.Length; i++)
        {
            int place = next[(byte)(from[i] >> shift)]++;
            to[place] = from[i];
            toOrdinals[place] = fromOrdinals[i];
        }
    }
}
