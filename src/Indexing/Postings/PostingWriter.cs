using System.Buffers.Binary;
using Treepie.Indexing.Terms;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Writes one dictionary: a tree of terms with their values, and a tree for the segments of long lists. Terms come in ascending
/// order, each once per transaction, so every page is changed once. Used for one write transaction.
/// </summary>
internal sealed class PostingWriter : IDisposable
{
    private readonly string name;
    private readonly TermTreeWriter terms;
    private readonly Tree postings;
    private readonly Cursor segments;
    private readonly PostingEdit edit;
    private readonly ListHeadEdit head;
    private readonly IImpacts? impacts;
    private readonly Func<long> newListId;
    private readonly PositionStore? positions;
    private readonly WindowImpacts? largest;
    private readonly Tree? words;
    private readonly PostingBuffer combined;

    /// <summary>New words: number, and their place in <see cref="names"/>.</summary>
    private readonly List<(long Word, int Start, int Length)> named;
    private readonly ByteArena names;
    private readonly byte[] payload;

    /// <param name="name">Name of the dictionary.</param>
    /// <param name="terms">Its terms.</param>
    /// <param name="postings">Its long lists.</param>
    /// <param name="positions">The positions of its long lists; null if it has neither frequencies nor positions.</param>
    /// <param name="largest">The largest impacts of its longest lists; null if <paramref name="positions"/> is.</param>
    /// <param name="impacts">Weighs the postings of a dictionary with positions.</param>
    /// <param name="words">Its terms by number; null if they have none.</param>
    /// <param name="newListId">Returns an unused list id.</param>
    /// <param name="memory">Its buffers.</param>
    public PostingWriter(
        string name, Tree terms, Tree postings, Tree? positions, Tree? largest, IImpacts? impacts, Tree? words,
        Func<long> newListId, PostingMemory memory)
    {
        this.words = words;
        this.name = name;
        this.terms = memory.Terms;
        this.terms.Begin(terms);
        this.postings = postings;
        this.newListId = newListId;
        this.positions = positions is null ? null : memory.Positions;
        if (positions is not null)
            memory.Positions.Begin(name, positions);
        this.largest = largest is null ? null : new WindowImpacts(largest, postings);
        combined = positions is null ? memory.Plain : memory.Placed;
        edit = memory.Edit;
        head = memory.Heads;
        this.impacts = impacts;
        edit.Begin(impacts);
        payload = memory.Payload;
        named = memory.Named;
        names = memory.Names;
        memory.Clear();
        segments = postings.OpenCursor();
    }

    /// <summary>
    /// Adds and removes entries of a term. Both ascend; additions are greater than all entries that the index ever had.
    /// </summary>
    /// <param name="term">The term.</param>
    /// <param name="additions">Entries to add.</param>
    /// <param name="removals">Entries to remove.</param>
    /// <param name="newWord">The number of the term if it is new and terms have numbers.</param>
    /// <returns>Its number; -1 if terms have none, or it was removed.</returns>
    /// <exception cref="CorruptionException">An entry to be removed is missing.</exception>
    public long Apply(ReadOnlySpan<byte> term, PostingRun additions, ReadOnlySpan<long> removals, long newWord = -1)
    {
        if (!terms.TryGet(term, out ReadOnlySpan<byte> value))
        {
            CheckMissed(removals.Length, term);
            if (words is null || additions.IsEmpty)
                newWord = -1;
            Name(newWord, term);
            Store(term, newWord, additions);
            return newWord;
        }

        var old = new TermPayload(value);
        long word = old.Word;
        if (impacts is not null && old.Kind == PostingKind.Long)
            head.Begin(old.Best, impacts);
        bool isKept = old.Kind == PostingKind.Flat
            ? ApplyToFlat(term, word, old.Flat, additions, removals)
            : ApplyToLong(term, word, old.EntryCount, old.ListId, additions, removals);
        if (isKept)
            return word;
        Forget(word);
        return -1;
    }

    /// <summary>Writes all remaining changes; the last call.</summary>
    public void Finish()
    {
        terms.Flush();
        WriteNames();
    }

    public void Dispose() => segments.Dispose();

    private void Name(long word, ReadOnlySpan<byte> term)
    {
        if (word >= 0)
            named.Add((word, names.Add(term), term.Length));
    }

    /// <summary>
    /// Names new words in the order of their numbers, which are greater than all existing ones, so that pages fill one after
    /// another.
    /// </summary>
    private void WriteNames()
    {
        named.Sort(static (x, y) => x.Word.CompareTo(y.Word));
        Span<byte> key = stackalloc byte[sizeof(long)];
        foreach ((long word, int start, int length) in named)
        {
            BinaryPrimitives.WriteInt64BigEndian(key, word);
            words!.Put(key, names.Slice(start, length)); // a dictionary with numbers has a tree of names
        }

        named.Clear();
    }

    private void Forget(long word)
    {
        if (word < 0)
            return;
        Span<byte> key = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(key, word);
        words!.Delete(key); // a dictionary with numbers has a tree of names
    }

    private bool ApplyToFlat(
        ReadOnlySpan<byte> term, long word, FlatPostings old, PostingRun additions, ReadOnlySpan<long> removals)
    {
        if (removals.IsEmpty && TermPayload.AppendFlat(payload, word, old, additions) is var appended and > 0)
        {
            terms.Put(term, payload.AsSpan(0, appended));
            return true;
        }

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
        Store(term, word, combined.Run);
        return combined.Count > 0;
    }

    /// <summary>Stores a whole list.</summary>
    private void Store(ReadOnlySpan<byte> term, long word, PostingRun run)
    {
        if (run.IsEmpty)
        {
            terms.Delete(term);
            return;
        }

        int length = TermPayload.WriteFlat(payload, word, run);
        if (length == 0)
        {
            long listId = newListId();
            edit.Run(run);
            PutSegments(listId);
            NoteImpacts(listId, before: 0, run.Count);
            if (impacts is not null)
                head.Begin(default, impacts);
            length = WriteLong(word, run.Count, listId, run.Postings);
        }

        terms.Put(term, payload.AsSpan(0, length));
    }

    /// <summary>Appends postings to a long list: to its last segment and to new ones after it.</summary>
    private void AppendToLong(ReadOnlySpan<byte> term, long word, long count, long listId, PostingRun additions)
    {
        WindowImpacts? kept = count >= WindowImpacts.MinEntries ? largest : null;
        Span<byte> key = stackalloc byte[PostingKey.Bytes];
        PostingKey.Write(key, listId, long.MaxValue);
        if (segments.SeekBefore(key) && PostingKey.IsOf(segments.Key, listId))
        {
            ReadOnlySpan<byte> last = segments.Value;
            var segment = new PostingSegment(last);
            if (segment.Count > 1)
            {
                PositionBlock block = positions is null ? default : positions.BlockOf(listId, segment);
                PutSegments(listId, kept, edit.RunBehind(segment, block, additions));
            }
            else
            {
                positions?.Load(listId, segment);
                edit.Run(segment, positions, additions, default);
                PutSegments(listId, kept, appended: last);
            }
        }
        else
        {
            edit.Run(additions);
            PutSegments(listId, kept);
        }

        kept?.Flush();
        NoteImpacts(listId, count, count + additions.Count);
        terms.Put(term, payload.AsSpan(0, WriteLong(word, count + additions.Count, listId, additions.Postings)));
    }

    private bool ApplyToLong(
        ReadOnlySpan<byte> term, long word, long count, long listId, PostingRun additions, ReadOnlySpan<long> removals)
    {
        if (removals.IsEmpty)
        {
            // An entry that comes and goes within a batch leaves a list as it was.
            if (!additions.IsEmpty)
                AppendToLong(term, word, count, listId, additions);
            return true;
        }

        long before = count;
        count += additions.Count - removals.Length;
        ReadOnlySpan<Posting> added = additions.Postings;
        ReadOnlySpan<long> removed = removals;
        WindowImpacts? kept = before >= WindowImpacts.MinEntries && count >= WindowImpacts.MinEntries ? largest : null;
        while (!additions.IsEmpty || !removals.IsEmpty)
        {
            long window = Math.Min(
                additions.IsEmpty ? long.MaxValue : additions[0].Window,
                removals.IsEmpty ? long.MaxValue : removals[0] >> PostingWindow.SizeBits);
            if (!SeekSegment(listId, window, out long firstWindow, out long nextFirstWindow))
            {
                // Removals of this edit emptied the last segment of the list: append the remaining additions.
                CheckMissed(removals.Length, term);
                edit.Run(additions);
                PutSegments(listId, kept);
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
            for (int i = 0; kept is not null && i < segment.Count; i++)
                kept.Set(listId, segment.WindowAt(i), 0);
            edit.Run(segment, positions, additions.Take(adds), removals[..removes]);
            CheckMissed(edit.MissedRemovals, term);
            positions?.Delete(listId, firstWindow);
            if (edit.WindowCount == 0 || edit.FirstWindow != firstWindow)
                DeleteSegment(listId, firstWindow);
            PutSegments(listId, kept);
            additions = additions.Skip(adds);
            removals = removals[removes..];
        }

        kept?.Flush();
        NoteImpacts(listId, before, count);
        if (count == 0)
        {
            terms.Delete(term);
            return false;
        }

        if (impacts is not null && head.Remove(removed, count))
        {
            head.Rebuild(postings, listId);
            added = default;
        }

        terms.Put(term, payload.AsSpan(0, WriteLong(word, count, listId, added)));
        return true;
    }

    /// <summary>Encodes the value of a long list's term, with the head that is being edited.</summary>
    /// <param name="word">The number of the word.</param>
    /// <param name="count">Entries of the list.</param>
    /// <param name="listId">Its id.</param>
    /// <param name="added">Those of them that the head has not seen.</param>
    private int WriteLong(long word, long count, long listId, ReadOnlySpan<Posting> added)
    {
        if (impacts is null)
            return TermPayload.WriteLong(payload, word, count, listId, default);
        head.Add(added);
        return TermPayload.WriteLong(payload, word, count, listId, head.Bytes());
    }

    /// <summary>Moves to the segment that covers a window: the last that starts at or before it, otherwise the first.</summary>
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

    /// <summary>Stores the largest impacts of a list that has grown past the minimum, and removes those of one that fell below
    /// it.</summary>
    private void NoteImpacts(long listId, long before, long count)
    {
        bool had = before >= WindowImpacts.MinEntries, has = count >= WindowImpacts.MinEntries;
        if (has && !had)
            largest?.Build(listId);
        else if (had && !has)
            largest?.Delete(listId);
    }

    /// <summary>Writes the result of an edit.</summary>
    /// <param name="listId">The list.</param>
    /// <param name="kept">Where the largest impacts of its windows are stored; null if nowhere.</param>
    /// <param name="start">Windows of the edited segment before the result.</param>
    /// <param name="appended">The segment whose only window is first, if postings were only added to it or after it; otherwise
    /// empty.</param>
    private void PutSegments(
        long listId, WindowImpacts? kept = null, SegmentStart start = default, ReadOnlySpan<byte> appended = default)
    {
        for (int i = 0; kept is not null && i < edit.WindowCount; i++)
        {
            (long window, byte impact) = edit.ImpactAt(i);
            kept.Set(listId, window, impact);
        }

        Span<byte> key = stackalloc byte[PostingKey.Bytes];
        for (int next = 0; next < edit.WindowCount; start = default, appended = default)
        {
            int first = next;
            ReadOnlySpan<byte> segment = edit.PackSegment(start, ref next, out long firstWindow);
            if (start.Count > 0 ? start.IsWhole && next == first : segment.SequenceEqual(appended))
                continue; // all that is new is behind it
            if (positions is not null)
                edit.StorePositions(positions, listId, start, first, next, isAppended: !appended.IsEmpty);
            PostingKey.Write(key, listId, firstWindow);
            postings.Put(key, segment); // last, as the start may lie where it is written
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
                $"The index dictionary '{name}' misses {missed} entries of the term "
                    + $"{Convert.ToHexString(term[..Math.Min(term.Length, 32)])} " +
                "that its entries name. Reset the index to build it again.");
        }
    }
}
