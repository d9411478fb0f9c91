using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Writes one dictionary: a tree of terms with what stands beside them, and a tree for the segments of long lists. Terms
/// come in ascending order, each once per transaction, so every page is touched once. Lives for one write transaction.
/// </summary>
internal sealed class PostingWriter : IDisposable
{
    /// <summary>Most entries of a list that lies beside its term: a reader decodes it whole when it prepares.</summary>
    public const int MaxInlineEntries = 256;

    /// <summary>Longest list beside its term: a leaf of 8 KiB still holds seven.</summary>
    public const int MaxInlineBytes = 1_024;

    private readonly string name;
    private readonly Tree terms;
    private readonly Tree postings;
    private readonly Cursor segments;
    private readonly PostingEdit edit;
    private readonly Func<long> newListId;
    private readonly byte[] payload = new byte[MaxInlineBytes + TermPayload.InlineHeaderBytes];
    private Posting[] combined = new Posting[64];

    public PostingWriter(string name, Tree terms, Tree postings, bool keepsFrequencies, Func<long> newListId)
    {
        this.name = name;
        this.terms = terms;
        this.postings = postings;
        this.newListId = newListId;
        edit = new PostingEdit(keepsFrequencies);
        segments = postings.OpenCursor();
    }

    /// <summary>Adds and removes entries of a term. Both ascend; additions are greater than all entries the index ever had.</summary>
    /// <exception cref="CorruptionException">An entry to be removed is not there.</exception>
    public void Apply(ReadOnlySpan<byte> term, ReadOnlySpan<Posting> additions, ReadOnlySpan<long> removals)
    {
        if (!terms.TryGet(term, out ReadOnlySpan<byte> value))
        {
            CheckMissed(removals.Length, term);
            edit.Run(additions);
            Store(term);
            return;
        }

        var old = new TermPayload(value);
        switch (old.Kind)
        {
            case PostingKind.Single:
                ApplyToSingle(term, new Posting(old.SingleId, old.SingleFrequency), additions, removals);
                break;
            case PostingKind.Inline:
                edit.Run(old.Segment, additions, removals);
                CheckMissed(edit.MissedRemovals, term);
                Store(term);
                break;
            default:
                ApplyToLong(term, old.EntryCount, old.ListId, additions, removals);
                break;
        }
    }

    public void Dispose() => segments.Dispose();

    private void ApplyToSingle(ReadOnlySpan<byte> term, Posting single, ReadOnlySpan<Posting> additions, ReadOnlySpan<long> removals)
    {
        bool removed = !removals.IsEmpty && removals[0] == single.EntryId;
        CheckMissed(removals.Length - (removed ? 1 : 0), term);
        if (removed)
        {
            edit.Run(additions);
        }
        else
        {
            if (combined.Length <= additions.Length)
                combined = new Posting[Math.Max(additions.Length + 1, combined.Length * 2)];
            combined[0] = single;
            additions.CopyTo(combined.AsSpan(1));
            edit.Run(combined.AsSpan(0, additions.Length + 1));
        }

        Store(term);
    }

    /// <summary>Stores the result of an edit of the whole list.</summary>
    private void Store(ReadOnlySpan<byte> term)
    {
        if (edit.PostingCount == 0)
        {
            terms.Delete(term);
            return;
        }

        if (edit.PostingCount == 1)
        {
            Posting only = edit.Single();
            terms.Put(term, payload.AsSpan(0, TermPayload.WriteSingle(payload, only.EntryId, only.Frequency)));
            return;
        }

        if (edit.PostingCount <= MaxInlineEntries)
        {
            int next = 0;
            ReadOnlySpan<byte> segment = edit.PackSegment(ref next, out _);
            if (next == edit.WindowCount && segment.Length <= MaxInlineBytes)
            {
                TermPayload.WriteInlineHeader(payload, (int)edit.PostingCount);
                segment.CopyTo(payload.AsSpan(TermPayload.InlineHeaderBytes));
                terms.Put(term, payload.AsSpan(0, TermPayload.InlineHeaderBytes + segment.Length));
                return;
            }
        }

        long listId = newListId();
        PutSegments(listId);
        TermPayload.WriteLong(payload, edit.PostingCount, listId);
        terms.Put(term, payload.AsSpan(0, TermPayload.LongBytes));
    }

    private void ApplyToLong(ReadOnlySpan<byte> term, long count, long listId, ReadOnlySpan<Posting> additions, ReadOnlySpan<long> removals)
    {
        count += additions.Length - removals.Length;
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
            while (adds < additions.Length && additions[adds].Window < nextFirstWindow)
                adds++;
            int removes = 0;
            while (removes < removals.Length && removals[removes] >> PostingWindow.SizeBits < nextFirstWindow)
                removes++;

            edit.Run(new PostingSegment(segments.Value), additions[..adds], removals[..removes]);
            CheckMissed(edit.MissedRemovals, term);
            if (edit.WindowCount == 0 || edit.FirstWindow != firstWindow)
                DeleteSegment(listId, firstWindow);
            PutSegments(listId);
            additions = additions[adds..];
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
            ReadOnlySpan<byte> segment = edit.PackSegment(ref next, out long firstWindow);
            PostingKey.Write(key, listId, firstWindow);
            postings.Put(key, segment);
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
