using System.Diagnostics;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Updates the head of a list, see <see cref="ListHead"/>, whose invariants it asserts: <see cref="Begin"/>, changes,
/// <see cref="Bytes"/>. Most added entries are covered by a limit; they change nothing, and only the limits are read. Reusable
/// for one term after another.
/// </summary>
internal sealed class ListHeadEdit
{
    private readonly HeadEntry[] best = new HeadEntry[ListHead.MaxEntries + 1];
    private readonly double[] parts = new double[ListHead.MaxEntries + 1];
    private readonly HeadEntry[] limits = new HeadEntry[ListHead.MaxLimits + 1];
    private readonly byte[] old = new byte[ListHead.MaxBytes];
    private readonly byte[] output = new byte[ListHead.MaxBytes];
    private readonly ushort[] offsets = new ushort[PostingWindow.Size];
    private readonly int[] frequencies = new int[PostingWindow.Size];
    private IImpacts weights = null!; // Begin sets it before any change
    private int oldBytes;
    private int entriesFrom;
    private int count;
    private int limitCount;
    private bool isLoaded;
    private bool isChanged;

    /// <summary>Starts editing the head of a list.</summary>
    /// <param name="head">Its head; empty if the list has no entries yet.</param>
    /// <param name="impacts">Weighs its postings.</param>
    public void Begin(ReadOnlySpan<byte> head, IImpacts impacts)
    {
        if (head.Length > old.Length)
            throw ListHead.Damaged();
        weights = impacts;
        head.CopyTo(old);
        oldBytes = head.Length;
        count = limitCount = entriesFrom = 0;
        isChanged = isLoaded = head.IsEmpty;
        if (head.IsEmpty)
            return;
        ReadOnlySpan<byte> rest = head;
        limitCount = ListHead.ReadLimits(ref rest, limits);
        entriesFrom = head.Length - rest.Length;
    }

    /// <summary>The head with all changes; valid until the next <see cref="Begin"/>.</summary>
    public ReadOnlySpan<byte> Bytes() =>
        isChanged
            ? output.AsSpan(0, ListHead.Write(best.AsSpan(0, count), limits.AsSpan(0, limitCount), output))
            : old.AsSpan(0, oldBytes);

    /// <summary>Adds entries, all with greater ids than those of the list.</summary>
    public void Add(ReadOnlySpan<Posting> postings)
    {
        foreach (Posting posting in postings)
            Add(posting.EntryId, posting.Frequency);
    }

    /// <summary>
    /// Removes entries. Returns whether the head now has too few for a list of <paramref name="left"/> entries and needs
    /// <see cref="Rebuild"/>.
    /// </summary>
    public bool Remove(ReadOnlySpan<long> ascending, long left)
    {
        Load();
        int kept = 0;
        for (int i = 0; i < count; i++)
        {
            if (ascending.BinarySearch(best[i].Id) >= 0)
                continue;
            (best[kept], parts[kept]) = (best[i], parts[i]);
            kept++;
        }

        isChanged |= kept < count;
        count = kept;
        return count < Math.Min(ListHead.MinEntries, left);
    }

    /// <summary>Rebuilds the head from the whole list.</summary>
    public void Rebuild(Tree postings, long listId)
    {
        Begin(default, weights);
        Span<byte> key = stackalloc byte[PostingKey.Bytes];
        PostingKey.Write(key, listId, 0);
        using Cursor cursor = postings.OpenCursor();
        for (bool more = cursor.Seek(key);
             more && cursor.IsAt(key[..sizeof(long)], out ReadOnlySpan<byte> value);
             more = cursor.MoveNext())
        {
            var segment = new PostingSegment(value);
            for (int i = 0; i < segment.Count; i++)
            {
                PostingWindow window = segment.PostingsAt(i);
                int inWindow = window.CopyOffsets(offsets);
                window.CopyFrequencies(frequencies);
                long start = segment.WindowAt(i) << PostingWindow.SizeBits;
                for (int rank = 0; rank < inWindow; rank++)
                    Add(start + offsets[rank], frequencies[rank]);
            }
        }
    }

    private void Add(long id, int frequency)
    {
        int length = weights.LengthOf(id);
        foreach (ref readonly HeadEntry limit in limits.AsSpan(0, limitCount))
        {
            if (limit.Covers(frequency, length))
                return; // invariants 1 and 2: ids only grow
        }

        Load();
        isChanged = true;
        Debug.Assert(count <= ListHead.MaxEntries, "4: a head is bounded");
        double part = weights.PartOf(frequency, length);
        int place = count++;
        for (; place > 0 && (parts[place - 1] < part || (parts[place - 1] == part && best[place - 1].Id > id)); place--)
            (best[place], parts[place]) = (best[place - 1], parts[place - 1]);
        (best[place], parts[place]) = (new HeadEntry(id, frequency, length), part);
        if (count > ListHead.MaxEntries)
            Limit(best[--count]);
    }

    /// <summary>Adds or raises a limit for an entry that left the head.</summary>
    private void Limit(HeadEntry entry)
    {
        int kept = 0;
        for (int i = 0; i < limitCount; i++)
        {
            HeadEntry limit = limits[i];
            if (limit.Covers(entry.Frequency, entry.Length))
                return; // no earlier limit was dropped then: this one would have covered it too

            if (!entry.Covers(limit.Frequency, limit.Length))
                limits[kept++] = limit;
        }

        int place = kept;
        for (; place > 0 && limits[place - 1].Frequency < entry.Frequency; place--)
            limits[place] = limits[place - 1];
        Debug.Assert(place == 0 || limits[place - 1].Length > entry.Length, "4: no limit covers another");
        limits[place] = entry with { Id = 0 };
        limitCount = kept + 1;
        if (limitCount > ListHead.MaxLimits)
            Join();
    }

    /// <summary>Replaces two neighbouring limits by one that covers both, choosing the pair whose common limit is
    /// lowest.</summary>
    private void Join()
    {
        int least = 0;
        double leastPart = double.MaxValue;
        for (int i = 0; i + 1 < limitCount; i++)
        {
            Debug.Assert(
                limits[i].Frequency > limits[i + 1].Frequency && limits[i].Length > limits[i + 1].Length,
                "4: no limit covers another");
            double part = weights.PartOf(limits[i].Frequency, limits[i + 1].Length);
            if (part < leastPart)
                (least, leastPart) = (i, part);
        }

        limits[least] = new HeadEntry(0, limits[least].Frequency, limits[least + 1].Length);
        limits.AsSpan((least + 2)..limitCount).CopyTo(limits.AsSpan(least + 1));
        limitCount--;
    }

    private void Load()
    {
        if (isLoaded)
            return;
        isLoaded = true;
        count = ListHead.ReadEntries(old.AsSpan(entriesFrom, oldBytes - entriesFrom), best);
        for (int i = 0; i < count; i++)
            parts[i] = weights.PartOf(best[i].Frequency, best[i].Length);
    }
}
