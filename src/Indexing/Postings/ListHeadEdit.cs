using System.Diagnostics;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Changes the head of a list, see <see cref="ListHead"/>, as entries come and go: <see cref="Begin"/>, changes,
/// <see cref="Bytes"/>. Most entries that come are covered by a limit: they change nothing, and nothing but the limits is looked
/// at. Scratch, reused from term to term.
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
    private IImpacts weights = null!; // Begin comes first
    private int oldBytes;
    private int entriesFrom;
    private int count;
    private int limitCount;
    private bool isLoaded;
    private bool isChanged;

    /// <summary>Goes to a list.</summary>
    /// <param name="head">Its head; empty: it has no entries yet.</param>
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

    /// <summary>The head as it is now; it lives until the next list.</summary>
    public ReadOnlySpan<byte> Bytes() =>
        isChanged
            ? output.AsSpan(0, ListHead.Write(best.AsSpan(0, count), limits.AsSpan(0, limitCount), output))
            : old.AsSpan(0, oldBytes);

    /// <summary>Entries come to the list, all behind those it has.</summary>
    public void Add(ReadOnlySpan<Posting> postings)
    {
        foreach (Posting posting in postings)
            Add(posting.EntryId, posting.Frequency);
    }

    /// <summary>
    /// Entries go. Returns whether the head has too few now, where <paramref name="left"/> are in the list: <see cref="Rebuild"/>
    /// it.
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

    /// <summary>Makes it out of the whole list.</summary>
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
                return; // as invariants 1 and 2 say: ids only grow
        }

        Load();
        isChanged = true;
        double part = weights.PartOf(frequency, length);
        int place = count++;
        for (; place > 0 && (parts[place - 1] < part || (parts[place - 1] == part && best[place - 1].Id > id)); place--)
            (best[place], parts[place]) = (best[place - 1], parts[place - 1]);
        (best[place], parts[place]) = (new HeadEntry(id, frequency, length), part);
        if (count > ListHead.MaxEntries)
            Limit(best[--count]);
    }

    /// <summary>An entry is in the head no more.</summary>
    private void Limit(HeadEntry entry)
    {
        int kept = 0;
        for (int i = 0; i < limitCount; i++)
        {
            HeadEntry limit = limits[i];
            if (limit.Covers(entry.Frequency, entry.Length))
                return; // and then no limit before it was left out: it would have covered that, too

            if (!entry.Covers(limit.Frequency, limit.Length))
                limits[kept++] = limit;
        }

        int place = kept;
        for (; place > 0 && limits[place - 1].Frequency < entry.Frequency; place--)
            limits[place] = limits[place - 1];
        limits[place] = entry with { Id = 0 };
        limitCount = kept + 1;
        if (limitCount > ListHead.MaxLimits)
            Join();
    }

    /// <summary>Makes one of two neighbouring limits, which covers both: the two of which it says least that is not so.</summary>
    private void Join()
    {
        int least = 0;
        double leastPart = double.MaxValue;
        for (int i = 0; i + 1 < limitCount; i++)
        {
            Debug.Assert(
                limits[i].Frequency > limits[i + 1].Frequency && limits[i].Length > limits[i + 1].Length,
                "no limit covers another");
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
