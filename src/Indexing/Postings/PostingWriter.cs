using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Indexing.Terms;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Writes one dictionary: a tree of terms with their values, and a tree of the segments of long lists. Terms come in
/// ascending order, each once per transaction, so every page is changed once. Used for one write transaction.
/// </summary>
internal sealed class PostingWriter : IDisposable
{
    private readonly string _name;
    private readonly TermTreeWriter _terms;
    private readonly Tree _postings;
    private readonly Cursor _segments;
    private readonly PostingEdit _edit;
    private readonly ListHeadEdit _head;
    private readonly IImpacts? _impacts;
    private readonly Func<long> _newListId;
    private readonly PositionStore? _positions;
    private readonly WindowImpacts? _largest;
    private readonly Tree? _words;
    private readonly PostingBuffer _combined;

    /// <summary>New words: the number of each, and where it is in <see cref="_names"/>.</summary>
    private readonly List<(long Word, int Start, int Length)> _named;
    private readonly ByteArena _names;
    private readonly byte[] _payload;

    /// <param name="name">Name of the dictionary.</param>
    /// <param name="terms">Its terms.</param>
    /// <param name="postings">Its long lists.</param>
    /// <param name="positions">The positions of its long lists; null if it has neither frequencies nor positions.</param>
    /// <param name="largest">The largest impacts of its longest lists; null if <paramref name="positions"/> is null.</param>
    /// <param name="impacts">Computes the impacts of postings; null if the dictionary has no positions.</param>
    /// <param name="words">Its terms by number; null if they have none.</param>
    /// <param name="newListId">Returns an unused list id.</param>
    /// <param name="memory">Its buffers.</param>
    public PostingWriter(
        string name, Tree terms, Tree postings, Tree? positions, Tree? largest, IImpacts? impacts, Tree? words,
        Func<long> newListId, PostingMemory memory)
    {
        _words = words;
        _name = name;
        _terms = memory.Terms;
        _terms.Begin(terms);
        _postings = postings;
        _newListId = newListId;
        _positions = positions is null ? null : memory.Positions;
        if (positions is not null)
            memory.Positions.Begin(name, positions);
        _largest = largest is null ? null : new WindowImpacts(largest, postings);
        _combined = positions is null ? memory.Plain : memory.Placed;
        _edit = memory.Edit;
        _head = memory.Heads;
        _impacts = impacts;
        _edit.Begin(impacts);
        _payload = memory.Payload;
        _named = memory.Named;
        _names = memory.Names;
        memory.Clear();
        _segments = postings.OpenCursor();
    }

    /// <summary>
    /// Adds and removes entries of a term. Both ascend, and additions are greater than all entries that the index has ever
    /// had.
    /// </summary>
    /// <param name="term">The term.</param>
    /// <param name="additions">Entries to add.</param>
    /// <param name="removals">Entries to remove.</param>
    /// <param name="newWord">The number of the term if it is new and terms have numbers.</param>
    /// <returns>The number of the term; -1 if terms have none, or the term was removed.</returns>
    /// <exception cref="CorruptionException">An entry to be removed is missing.</exception>
    public long Apply(ReadOnlySpan<byte> term, PostingRun additions, ReadOnlySpan<long> removals, long newWord = -1)
    {
        if (!_terms.TryGet(term, out ReadOnlySpan<byte> value))
        {
            CheckMissed(removals.Length, term);
            if (_words is null || additions.IsEmpty)
                newWord = -1;
            Name(newWord, term);
            Store(term, newWord, additions);
            return newWord;
        }

        var old = new TermPayload(value);
        long word = old.Word;
        if (_impacts is not null && old.Kind == PostingKind.Long)
            _head.Begin(old.Best, _impacts);
        bool isKept = old.Kind == PostingKind.Flat
            ? ApplyToFlat(term, word, old.Flat, additions, removals)
            : ApplyToLong(term, word, old.EntryCount, old.ListId, additions, removals);
        if (isKept)
            return word;
        Forget(word);
        return -1;
    }

    /// <summary>Writes all remaining changes. Must be the last call.</summary>
    public void Finish()
    {
        _terms.Flush();
        WriteNames();
    }

    public void Dispose() => _segments.Dispose();

    private void Name(long word, ReadOnlySpan<byte> term)
    {
        if (word >= 0)
            _named.Add((word, _names.Add(term), term.Length));
    }

    /// <summary>
    /// Writes the names of new words in the order of their numbers, which are greater than all existing ones, so that pages
    /// fill one after another.
    /// </summary>
    private void WriteNames()
    {
        Debug.Assert(_words is not null || _named.Count == 0, "only a dictionary with numbers names its words");
        _named.Sort(static (x, y) => x.Word.CompareTo(y.Word));
        Span<byte> key = stackalloc byte[sizeof(long)];
        foreach ((long word, int start, int length) in _named)
        {
            BinaryPrimitives.WriteInt64BigEndian(key, word);
            _words!.Put(key, _names.Slice(start, length)); // a dictionary with numbers has a tree of names
        }

        _named.Clear();
    }

    private void Forget(long word)
    {
        if (word < 0)
            return;
        Span<byte> key = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(key, word);
        _words!.Delete(key); // a dictionary with numbers has a tree of names
    }

    private bool ApplyToFlat(
        ReadOnlySpan<byte> term, long word, FlatPostings old, PostingRun additions, ReadOnlySpan<long> removals)
    {
        if (removals.IsEmpty && TermPayload.AppendFlat(_payload, word, old, additions) is var appended and > 0)
        {
            _terms.Put(term, _payload.AsSpan(0, appended));
            return true;
        }

        _combined.Clear();
        int removed = 0;
        while (old.MoveNext(out Posting posting))
        {
            ReadOnlySpan<byte> places = _positions is null ? default : old.TakePositions(posting);
            if (removed < removals.Length && removals[removed] == posting.EntryId)
                removed++;
            else
                _combined.Add(posting, places);
        }

        CheckMissed(removals.Length - removed, term);
        for (int i = 0; i < additions.Count; i++)
            _combined.Add(additions[i], additions.PositionsOf(i));
        Store(term, word, _combined.Run);
        return _combined.Count > 0;
    }

    /// <summary>Stores a whole list.</summary>
    private void Store(ReadOnlySpan<byte> term, long word, PostingRun run)
    {
        if (run.IsEmpty)
        {
            _terms.Delete(term);
            return;
        }

        int length = TermPayload.WriteFlat(_payload, word, run);
        if (length == 0)
        {
            long listId = _newListId();
            _edit.Run(run);
            PutSegments(listId);
            NoteImpacts(listId, before: 0, run.Count);
            if (_impacts is not null)
                _head.Begin(default, _impacts);
            length = WriteLong(word, run.Count, listId, run.Postings);
        }

        _terms.Put(term, _payload.AsSpan(0, length));
    }

    /// <summary>Appends postings to a long list: to its last segment and to new ones after it.</summary>
    private void AppendToLong(ReadOnlySpan<byte> term, long word, long count, long listId, PostingRun additions)
    {
        Debug.Assert(!additions.IsEmpty, "an append has additions");
        WindowImpacts? kept = count >= WindowImpacts.MinEntries ? _largest : null;
        Span<byte> key = stackalloc byte[PostingKey.Bytes];
        PostingKey.Write(key, listId, long.MaxValue);
        if (_segments.SeekBefore(key) && PostingKey.IsOf(_segments.Key, listId))
        {
            ReadOnlySpan<byte> last = _segments.Value;
            var segment = new PostingSegment(last);
            if (segment.Count > 1)
            {
                PositionBlock block = _positions is null ? default : _positions.BlockOf(listId, segment);
                PutSegments(listId, kept, _edit.RunBehind(segment, block, additions));
            }
            else
            {
                _positions?.Load(listId, segment);
                _edit.Run(segment, _positions, additions, default);
                PutSegments(listId, kept, appended: last);
            }
        }
        else
        {
            throw Missed(count, term);
        }

        kept?.Flush();
        NoteImpacts(listId, count, count + additions.Count);
        _terms.Put(term, _payload.AsSpan(0, WriteLong(word, count + additions.Count, listId, additions.Postings)));
    }

    private bool ApplyToLong(
        ReadOnlySpan<byte> term, long word, long count, long listId, PostingRun additions, ReadOnlySpan<long> removals)
    {
        if (removals.IsEmpty)
        {
            // An entry that was added and removed within one batch leaves the list as it was.
            if (!additions.IsEmpty)
                AppendToLong(term, word, count, listId, additions);
            return true;
        }

        Debug.Assert(removals[0] <= removals[^1], "removals ascend");
        long before = count;
        count += additions.Count - removals.Length;
        ReadOnlySpan<Posting> added = additions.Postings;
        ReadOnlySpan<long> removed = removals;
        WindowImpacts? kept = before >= WindowImpacts.MinEntries && count >= WindowImpacts.MinEntries ? _largest : null;
        while (!additions.IsEmpty || !removals.IsEmpty)
        {
            long window = Math.Min(
                additions.IsEmpty ? long.MaxValue : additions[0].Window,
                removals.IsEmpty ? long.MaxValue : removals[0] >> PostingWindow.SizeBits);
            if (!SeekSegment(listId, window, out long firstWindow, out long nextFirstWindow))
            {
                // Removals of this edit emptied the last segment of the list: append the remaining additions.
                CheckMissed(removals.Length, term);
                _edit.Run(additions);
                PutSegments(listId, kept);
                break;
            }

            int adds = 0;
            while (adds < additions.Count && additions[adds].Window < nextFirstWindow)
                adds++;
            int removes = 0;
            while (removes < removals.Length && removals[removes] >> PostingWindow.SizeBits < nextFirstWindow)
                removes++;

            var segment = new PostingSegment(_segments.Value);
            _positions?.Load(listId, segment);
            for (int i = 0; kept is not null && i < segment.Count; i++)
                kept.Set(listId, segment.WindowAt(i), 0);
            _edit.Run(segment, _positions, additions.Take(adds), removals[..removes]);
            CheckMissed(_edit.MissedRemovals, term);
            _positions?.Delete(listId, firstWindow);
            if (_edit.WindowCount == 0 || _edit.FirstWindow != firstWindow)
                DeleteSegment(listId, firstWindow);
            PutSegments(listId, kept);
            additions = additions.Skip(adds);
            removals = removals[removes..];
        }

        kept?.Flush();
        NoteImpacts(listId, before, count);
        if (count == 0)
        {
            _terms.Delete(term);
            return false;
        }

        if (_impacts is not null && _head.Remove(removed, count))
        {
            _head.Rebuild(_postings, listId);
            added = default;
        }

        _terms.Put(term, _payload.AsSpan(0, WriteLong(word, count, listId, added)));
        return true;
    }

    /// <summary>Encodes the value of a long list's term, with the head that is being edited.</summary>
    /// <param name="word">The number of the word.</param>
    /// <param name="count">Entries of the list.</param>
    /// <param name="listId">Its id.</param>
    /// <param name="added">Entries that the head does not include yet.</param>
    private int WriteLong(long word, long count, long listId, ReadOnlySpan<Posting> added)
    {
        if (_impacts is null)
            return TermPayload.WriteLong(_payload, word, count, listId, default);
        _head.Add(added);
        return TermPayload.WriteLong(_payload, word, count, listId, _head.Bytes());
    }

    /// <summary>
    /// Moves to the segment that covers a window: the last one that starts at or before it, or the first if there is none.
    /// </summary>
    private bool SeekSegment(long listId, long window, out long firstWindow, out long nextFirstWindow)
    {
        Span<byte> key = stackalloc byte[PostingKey.Bytes];
        PostingKey.Write(key, listId, window);
        bool found = _segments.Seek(key);
        nextFirstWindow = long.MaxValue;
        if (!found || !_segments.Key.SequenceEqual(key))
        {
            if (found && PostingKey.IsOf(_segments.Key, listId))
                nextFirstWindow = PostingKey.FirstWindow(_segments.Key);
            if ((found ? _segments.MovePrevious() : _segments.MoveLast()) && PostingKey.IsOf(_segments.Key, listId))
            {
                firstWindow = PostingKey.FirstWindow(_segments.Key);
                return true;
            }

            if (nextFirstWindow == long.MaxValue)
            {
                firstWindow = 0;
                return false;
            }

            PostingKey.Write(key, listId, nextFirstWindow);
            _segments.Seek(key);
        }

        firstWindow = PostingKey.FirstWindow(_segments.Key);
        nextFirstWindow = long.MaxValue;
        if (_segments.MoveNext() && PostingKey.IsOf(_segments.Key, listId))
            nextFirstWindow = PostingKey.FirstWindow(_segments.Key);
        PostingKey.Write(key, listId, firstWindow);
        return _segments.Seek(key);
    }

    /// <summary>
    /// Stores the largest impacts of a list that has reached the minimum length, and removes those of a list that fell below
    /// it.
    /// </summary>
    private void NoteImpacts(long listId, long before, long count)
    {
        bool had = before >= WindowImpacts.MinEntries, has = count >= WindowImpacts.MinEntries;
        if (has && !had)
            _largest?.Build(listId);
        else if (had && !has)
            _largest?.Delete(listId);
    }

    /// <summary>Writes the result of an edit.</summary>
    /// <param name="listId">The list.</param>
    /// <param name="kept">Where to store the largest impacts of the windows; null if they are not stored.</param>
    /// <param name="start">Windows of the edited segment that precede the result.</param>
    /// <param name="appended">The edited segment if it has a single window and postings were only added to it or after it;
    /// otherwise empty.</param>
    private void PutSegments(
        long listId, WindowImpacts? kept = null, SegmentStart start = default, ReadOnlySpan<byte> appended = default)
    {
        Debug.Assert(start.Count == 0 || appended.IsEmpty, "a segment is extended after its start or replaced as a whole");
        for (int i = 0; kept is not null && i < _edit.WindowCount; i++)
        {
            (long window, byte impact) = _edit.ImpactAt(i);
            kept.Set(listId, window, impact);
        }

        Span<byte> key = stackalloc byte[PostingKey.Bytes];
        for (int next = 0; next < _edit.WindowCount; start = default, appended = default)
        {
            int first = next;
            Debug.Assert(start.Count == 0 || first == 0, "a start is before all windows of the result");
            ReadOnlySpan<byte> segment = _edit.PackSegment(start, ref next, out long firstWindow);
            Debug.Assert(next > first || start.Count > 0, "a segment has windows");
            if (start.Count > 0 ? start.IsWhole && next == first : segment.SequenceEqual(appended))
                continue; // unchanged: only later segments are new
            if (_positions is not null)
                _edit.StorePositions(_positions, listId, start, first, next, isAppended: !appended.IsEmpty);
            PostingKey.Write(key, listId, firstWindow);
            _postings.Put(key, segment); // written last, because start may point into the page that is overwritten
        }
    }

    private void DeleteSegment(long listId, long firstWindow)
    {
        Span<byte> key = stackalloc byte[PostingKey.Bytes];
        PostingKey.Write(key, listId, firstWindow);
        _postings.Delete(key);
    }

    private void CheckMissed(int missed, ReadOnlySpan<byte> term)
    {
        if (missed != 0)
            throw Missed(missed, term);
    }

    private CorruptionException Missed(long missed, ReadOnlySpan<byte> term) => new(
        $"The index dictionary '{_name}' misses {missed} entries of the term "
            + $"{Convert.ToHexString(term[..Math.Min(term.Length, 32)])} that its entries name. "
            + "Reset the index to build it again.");
}
