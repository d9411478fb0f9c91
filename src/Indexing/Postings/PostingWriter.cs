using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Writes one dictionary: a tree of terms with what stands beside them, and a tree for the segments of long lists. Terms
/// come in ascending order, each once per transaction, so every page is touched once. Lives for one write transaction.
/// </summary>
internal sealed class PostingWriter : IDisposable
{
    private readonly string name;
    private readonly Tree terms;
    private readonly Tree postings;
    private readonly Cursor segments;
    private readonly PostingEdit edit;
    private readonly Func<long> newListId;
    private readonly PositionStore? positions;
    private readonly PostingBuffer combined;
    private readonly byte[] payload = new byte[TermPayload.FlatHeaderBytes + FlatPostings.MaxBytes];

    /// <param name="name">Name of the dictionary.</param>
    /// <param name="terms">Its terms.</param>
    /// <param name="postings">Its long lists.</param>
    /// <param name="positions">The positions of its long lists; null if it keeps neither frequencies nor positions.</param>
    /// <param name="impacts">Weighs the postings of a dictionary with positions.</param>
    /// <param name="newListId">Gives a number that no list has.</param>
    public PostingWriter(string name, Tree terms, Tree postings, Tree? positions, IImpacts? impacts, Func<long> newListId)
    {
        this.name = name;
        this.terms = terms;
        this.postings = postings;
        this.newListId = newListId;
        this.positions = positions is null ? null : new PositionStore(name, positions);
        combined = new PostingBuffer(keepsPositions: positions is not null);
        edit = new PostingEdit(impacts);
        segments = postings.OpenCursor();
    }

    /// <summary>Adds and removes entries of a term. Both ascend; additions are greater than all entries the index ever had.</summary>
    /// <exception cref="CorruptionException">An entry to be removed is not there.</exception>
    public void Apply(ReadOnlySpan<byte> term, PostingRun additions, ReadOnlySpan<long> removals)
    {
        if (!terms.TryGet(term, out ReadOnlySpan<byte> value))
        {
            CheckMissed(removals.Length, term);
            Store(term, additions);
            return;
        }

        var old = new TermPayload(value);
        if (old.Kind == PostingKind.Flat)
            ApplyToFlat(term, old.Flat, additions, removals);
        else
            ApplyToLong(term, old.EntryCount, old.ListId, additions, removals);
    }

    public void Dispose()
    {
        segments.Dispose();
        positions?.Dispose();
    }

    private void ApplyToFlat(ReadOnlySpan<byte> term, FlatPostings old, PostingRun additions, ReadOnlySpan<long> removals)
    {
        combined.Clear();
        int removed = 0;
        while (old.MoveNext(out Posting posting))
        {
            ReadOnlySpan<byte> places = positions is null ? default : old.TakePositions(posting);
            if (removed < removals.Length && removals[removed] == posting.EntryId)
                removed++;
            else
                combined.Add(posting, places);
        }

        CheckMissed(removals.Length - removed, term);
        for (int i = 0; i < additions.Count; i++)
            combined.Add(additions[i], additions.PositionsOf(i));
        Store(term, combined.Run);
    }

    /// <summary>Stores a whole list.</summary>
    private void Store(ReadOnlySpan<byte> term, PostingRun run)
    {
        if (run.IsEmpty)
        {
            terms.Delete(term);
            return;
        }

        int length = TermPayload.WriteFlat(payload, run);
        if (length == 0)
        {
            long listId = newListId();
            edit.Run(run);
            PutSegments(listId);
            TermPayload.WriteLong(payload, run.Count, listId);
            length = TermPayload.LongBytes;
        }

        terms.Put(term, payload.AsSpan(0, length));
    }

    private void ApplyToLong(ReadOnlySpan<byte> term, long count, long listId, PostingRun additions, ReadOnlySpan<long> removals)
    {
        count += additions.Count - removals.Length;
        while (!additions.IsEmpty || !removals.IsEmpty)
        {
            long window = Math.Min(
                additions.IsEmpty ? long.MaxValue : additions[0].Window,
                removals.IsEmpty ? long.MaxValue : removals[0] >> PostingWindow.SizeBits);
            if (!SeekSegment(listId, window, out long firstWindow, out long nextFirstWindow))
            {
                // A long list whose last segment was emptied by removals of this very edit: the rest is appended anew.
                CheckMissed(removals.Length, term);
                edit.Run(additions);
                PutSegments(listId);
                break;
            }

            int adds = 0;
            while (adds < additions.Count && additions[adds].Window < nextFirstWindow)
                adds++;
            int removes = 0;
            while (removes < removals.Length && removals[removes] >> PostingWindow.SizeBits < nextFirstWindow)
                removes++;

            var segment = new PostingSegment(segments.Value);
            positions?.Load(listId, segment);
            edit.Run(segment, positions, additions.Take(adds), removals[..removes]);
            CheckMissed(edit.MissedRemovals, term);
            positions?.Delete(listId, firstWindow);
            if (edit.WindowCount == 0 || edit.FirstWindow != firstWindow)
                DeleteSegment(listId, firstWindow);
            PutSegments(listId);
            additions = additions.Skip(adds);
            removals = removals[removes..];
        }

        if (count == 0)
        {
            terms.Delete(term);
            return;
        }

        TermPayload.WriteLong(payload, count, listId);
        terms.Put(term, payload.AsSpan(0, TermPayload.LongBytes));
    }

    /// <summary>Stands on the segment that covers a window: the last that begins at or before it, else the first.</summary>
    private bool SeekSegment(long listId, long window, out long firstWindow, out long nextFirstWindow)
    {
        Span<byte> key = stackalloc byte[PostingKey.Bytes];
        PostingKey.Write(key, listId, window);
        bool found = segments.Seek(key);
        nextFirstWindow = long.MaxValue;
        if (!found || !segments.Key.SequenceEqual(key))
        {
            if (found && PostingKey.IsOf(segments.Key, listId))
                nextFirstWindow = PostingKey.FirstWindow(segments.Key);
            if ((found ? segments.MovePrevious() : segments.MoveLast()) && PostingKey.IsOf(segments.Key, listId))
            {
                firstWindow = PostingKey.FirstWindow(segments.Key);
                return true;
            }

            if (nextFirstWindow == long.MaxValue)
            {
                firstWindow = 0;
                return false;
            }

            PostingKey.Write(key, listId, nextFirstWindow);
            segments.Seek(key);
        }

        firstWindow = PostingKey.FirstWindow(segments.Key);
        nextFirstWindow = long.MaxValue;
        if (segments.MoveNext() && PostingKey.IsOf(segments.Key, listId))
            nextFirstWindow = PostingKey.FirstWindow(segments.Key);
        PostingKey.Write(key, listId, firstWindow);
        return segments.Seek(key);
    }

    private void PutSegments(long listId)
    {
        Span<byte> key = stackalloc byte[PostingKey.Bytes];
        for (int next = 0; next < edit.WindowCount;)
        {
            int first = next;
            ReadOnlySpan<byte> segment = edit.PackSegment(ref next, out long firstWindow);
            PostingKey.Write(key, listId, firstWindow);
            postings.Put(key, segment);
            if (positions is not null)
                edit.StorePositions(positions, listId, first, next);
        }
    }

    private void DeleteSegment(long listId, long firstWindow)
    {
        Span<byte> key = stackalloc byte[PostingKey.Bytes];
        PostingKey.Write(key, listId, firstWindow);
        postings.Delete(key);
    }

    private void CheckMissed(int missed, ReadOnlySpan<byte> term)
    {
        if (missed != 0)
        {
            throw new CorruptionException(
                $"The index dictionary '{name}' misses {missed} entries of the term {Convert.ToHexString(term[..Math.Min(term.Length, 32)])} " +
                "that its entries name. Reset the index to build it again.");
        }
    }
}
