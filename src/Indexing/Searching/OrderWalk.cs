using System.Buffers.Binary;
using System.Runtime.InteropServices;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Sorting;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Finds the first hits of an order without visiting the others: walks the dictionary of the first sort key in order and
/// probes the filter for each entry. Entries of equal value form a group, which is sorted by the other keys: a large one by a
/// walk along the second key, until that visited as many entries as the group has.
/// </summary>
/// <remarks>Requires that each entry is in the dictionary once, at its sort value; see <see cref="Obstacle"/>.</remarks>
internal sealed class OrderWalk
{
    /// <summary>A group of fewer entries is always read.</summary>
    private const int ManyInGroup = 1_024;

    private readonly QueryContext _context;
    private readonly FilterProbe _filter;
    private readonly IReadOnlyList<SortKey> _sorts;
    private readonly SortKey _sort;
    private readonly KeyPart[] _parts;
    private readonly string _dictionary;
    private readonly TermTree? _tree;
    private readonly long _limit;
    private readonly WalkStart _start;
    private readonly KeyRange? _range;
    private readonly List<long> _found;
    private readonly List<long> _group;
    private (long Id, long Entries)? _longList;
    private ushort[]? _offsets;
    private KeyBuffer? _key;
    private SortRoom? _room;
    private int _groupLists;
    private byte[] _valueRoom = new byte[NumberKey.Bytes];
    private ulong _lastNumber;
    private int _steps;
    private long _visited;
    private int _blocksPassed;
    private ReadOnlyMemory<byte> _rest;

    private OrderWalk(
        QueryContext context, FilterProbe filter, IReadOnlyList<SortKey> sorts, KeyPart[] parts, long limit,
        ReadOnlyMemory<byte> after, KeyRange? range)
    {
        _range = range;
        _context = context;
        _filter = filter;
        _sorts = sorts;
        _sort = sorts[0];
        _parts = parts;
        _limit = limit;
        _found = context.Rent<IdList>().Ids;
        _group = context.Rent<IdList>().Ids;
        _dictionary = Dictionary(context, _sort);
        _tree = context.View.Dictionary(_dictionary);
        _start = new WalkStart(_sort, after);
        _rest = _start.Rest;
    }

    /// <summary>
    /// Number of skipped hits whose blocks were passed without reading them; they are not among those returned.
    /// </summary>
    public long Passed { get; private set; }

    /// <summary>
    /// Number of hits to skip. If every entry is a hit, blocks of terms with no more entries than that are passed.
    /// </summary>
    public long Skip { private get; init; }

    /// <summary>Part of the visited entries that is expected to pass the filter.</summary>
    public double Density { private get; init; } = 1;

    /// <summary>Maximum number of entries to visit, after which the walk gives up.</summary>
    public long MostVisited { private get; init; } = long.MaxValue;

    /// <summary>Whether the walk visited too many entries and its result is not complete.</summary>
    public bool GaveUp { get; private set; }

    /// <summary>How large groups were sorted, for the plan; null if there were none.</summary>
    public PlanDecision? Decision { get; private set; }

    private long Left => _limit - _found.Count - Passed;

    private bool IsFull => Left <= 0;

    /// <summary>
    /// Returns why this order cannot be walked, or null if it can. Each entry must be in the dictionary once, at its sort
    /// value. This fails if an entry ever had several values (only the first is the sort value) or if there were texts among
    /// numbers (they sort as null).
    /// </summary>
    public static string? Obstacle(QueryContext context, SortKey first)
    {
        if (first.Kind is not (SortKind.Text or SortKind.Long or SortKind.Double))
            return "only texts and numbers lie in their order";

        int field = context.View.Field(first.Field);
        FieldStatistics statistics = context.View.Statistics(field);
        if (statistics.EverHadSeveralValues)
            return "an entry had several values, and stands in the order more than once";
        if (first.Kind == SortKind.Text && context.View.HasLongTexts(field))
            return "there are texts of more than 512 bytes, which do not all lie in their order";
        if (first.Kind != SortKind.Text && statistics.EverHadTextValue)
            return "there were texts among the numbers";
        return null;
    }

    /// <summary>Number of distinct values of the first key.</summary>
    public static long ValueCount(QueryContext context, SortKey first) => context.View.TermCount(Dictionary(context, first));

    /// <summary>Opens a walk.</summary>
    /// <param name="context">The query.</param>
    /// <param name="filter">What entries must match.</param>
    /// <param name="sorts">The keys.</param>
    /// <param name="parts">The parts of all keys.</param>
    /// <param name="limit">Number of hits wanted.</param>
    /// <param name="after">Sort key of the hit to continue after; empty to begin with the first.</param>
    /// <param name="range">The range of values to walk; null for all.</param>
    /// <param name="skip">How many of the first hits the caller skips, if every entry is a hit; otherwise 0.</param>
    /// <param name="density">Part of the visited entries that is expected to pass the filter.</param>
    public static OrderWalk Open(
        QueryContext context, FilterProbe filter, IReadOnlyList<SortKey> sorts, KeyPart[] parts, long limit,
        ReadOnlyMemory<byte> after, KeyRange? range = null, long skip = 0, double density = 1) =>
        new(context, filter, sorts, parts, limit, after, range) { Skip = skip, Density = density };

    /// <summary>
    /// Number of entries that a walk along the second key visits for a group of equal first values, if that is expected to be
    /// fewer than the group has; otherwise null.
    /// </summary>
    /// <param name="context">The query.</param>
    /// <param name="sorts">The keys.</param>
    /// <param name="group">Number of entries in the group.</param>
    /// <param name="density">Part of them that are hits.</param>
    /// <param name="wanted">Number of hits wanted.</param>
    public static double? VisitedInGroup(
        QueryContext context, IReadOnlyList<SortKey> sorts, double group, double density, long wanted)
    {
        if (sorts.Count < 2 || group < ManyInGroup || Obstacle(context, sorts[1]) is not null)
            return null;
        double visited = wanted * context.View.State.EntryCount / Math.Max(1, group * density);
        return visited < group / 2 ? visited : null;
    }

    /// <summary>Returns the ids of the first hits in order; valid until the query ends.</summary>
    public List<long> Run()
    {
        if (_range is not null)
        {
            // Entries without a value are in no range.
            if (!_start.IsAtLastNulls)
                TakeValues();
            return _found;
        }

        bool nullsFirst = _sort.NullsFirst ?? !_sort.Descending;
        if (nullsFirst && !_start.IsAtValue)
            TakeNulls();
        if (!IsFull && !_start.IsAtLastNulls)
            TakeValues();
        if (!nullsFirst && !IsFull && !GaveUp)
            TakeNulls();
        return _found;
    }

    /// <summary>Name of the dictionary that a walk reads.</summary>
    public static string Dictionary(QueryContext context, SortKey sort)
    {
        int field = context.View.Field(sort.Field);
        return sort.Kind == SortKind.Text ? context.View.TextDictionary(field) : TreeNames.Numbers(field);
    }

    /// <summary>
    /// Whether the order is that of the text forms of a field that stores only numbers. The walk then visits them in a
    /// different order than they are stored in.
    /// </summary>
    public static bool IsByTextsOfNumbers(QueryContext context, SortKey sort) =>
        sort.Kind == SortKind.Text && context.View.HasNumbersAlone(context.View.Field(sort.Field));

    private void TakeValues()
    {
        if (!_start.IsAtValue)
            _rest = default; // it applies to nulls only
        if (_tree is null)
            return;
        if (IsByTextsOfNumbers(_context, _sort))
        {
            TakeTextsOfNumbers(_tree);
            EndGroup();
            return;
        }

        using TermCursor cursor = _tree.OpenCursor();
        for (bool valid = Begin(cursor);
             valid;
             valid = _sort.Descending ? cursor.MoveToPreviousBlock() : cursor.MoveToNextBlock())
        {
            if (TryPass(cursor))
                continue;
            if (_steps == 0 && Passed > 0)
                ReturnToGroup(cursor);
            if (!(_sort.Descending ? TakeBackwards(cursor.Block, cursor.Index) : TakeForwards(cursor.Block, cursor.Index)))
                break;
        }

        EndGroup();
    }

    /// <summary>Passes a block if all its entries are skipped; never once a term has been read.</summary>
    private bool TryPass(TermCursor cursor)
    {
        if (_steps > 0
            || _range is not null
            || !_rest.IsEmpty
            || cursor.Block.Weight is not { } weight
            || weight > Skip - _found.Count - Passed)
            return false;
        if ((++_blocksPassed & 63) == 0)
            _context.Check();
        Passed += weight;
        return true;
    }

    /// <summary>
    /// Goes back to the block in which the first group of the current one begins: numbers that are equal in this order may be on
    /// both sides of a block's end, and the other keys order them. Each text is a group of its own.
    /// </summary>
    private void ReturnToGroup(TermCursor cursor)
    {
        while (_sort.Kind != SortKind.Text && Passed > 0)
        {
            ulong number = NumberOf(EnterFromStart(cursor));
            _ = _sort.Descending ? cursor.MoveToNextBlock() : cursor.MoveToPreviousBlock(); // there is one: it was passed
            if (NumberOf(cursor.Key) != number)
            {
                _ = _sort.Descending ? cursor.MoveToPreviousBlock() : cursor.MoveToNextBlock();
                return;
            }

            Passed -= cursor.Block.Weight ?? 0; // known, as it was passed
            EnterFromStart(cursor);
        }
    }

    /// <summary>Moves to the term of the block at which the walk enters it, and returns the term.</summary>
    private ReadOnlySpan<byte> EnterFromStart(TermCursor cursor)
    {
        cursor.MoveTo(_sort.Descending ? cursor.Block.Count - 1 : 0);
        return cursor.Key;
    }

    private void TakeTextsOfNumbers(TermTree tree)
    {
        // A range is walked this way only if the text forms of its numbers sort in numeric order, or in reverse.
        using NumberTextCursor texts = _range?.TryGetEnds() is var (from, to)
            && NumberTextCursor.TryOpen(tree, from, to, _sort.Descending) is { } inside
                ? inside
                : new NumberTextCursor(tree, _sort.Descending);
        bool valid = _start.IsAtValue ? texts.Seek(_start.Text) : texts.MoveFirst();
        while (valid && TakeTerm(texts.Key, texts.Value))
            valid = texts.MoveNext();
    }

    /// <summary>Processes the terms of a block from an index on; false once the walk has ended.</summary>
    private bool TakeForwards(TermBlock block, int from)
    {
        int next = block.At(from, out TermPlace term);
        for (int left = block.Count - from; TakeTerm(block, term); next = block.Read(next, out term))
        {
            if (--left == 0)
                return true;
        }

        return false;
    }

    /// <summary>
    /// As <see cref="TakeForwards"/>, in descending order. Terms can only be read in ascending order, so each group is read
    /// as a whole.
    /// </summary>
    private bool TakeBackwards(TermBlock block, int from)
    {
        Span<TermPlace> terms = stackalloc TermPlace[1 << TermBlock.GroupBits];
        for (int last = from; last >= 0;)
        {
            int first = last & ~(terms.Length - 1);
            int next = block.Group(first >> TermBlock.GroupBits);
            for (int i = first; i <= last; i++)
                next = block.Read(next, out terms[i - first]);
            for (; last >= first; last--)
            {
                if (!TakeTerm(block, terms[last - first]))
                    return false;
            }
        }

        return true;
    }

    /// <summary>Processes the entries of a term; false once the walk has ended.</summary>
    private bool TakeTerm(TermBlock block, TermPlace term)
    {
        ReadOnlySpan<byte> value = default;
        if (_range is not null || !_rest.IsEmpty || _sort.Kind != SortKind.Text)
        {
            value = Value(block, term);
            if (!IsInside(value))
                return false;
        }

        return TakeTerm(value, block.Value(term));
    }

    /// <summary>As above, given the value (if it is needed) and its payload.</summary>
    private bool TakeTerm(ReadOnlySpan<byte> value, ReadOnlySpan<byte> payload)
    {
        _context.Meter.Count.TermsScanned++;
        if ((++_steps & 1023) == 0)
            _context.Check();
        ulong number = NumberOf(value);
        if (_steps == 1 || _sort.Kind == SortKind.Text || number != _lastNumber)
        {
            if (_steps > 1)
                EndGroup();
            if (IsFull)
                return false;
            _lastNumber = number;
            if (!_rest.IsEmpty && !_start.IsSame(value))
                _rest = default; // the value to continue after is gone, so all later entries count
        }

        var list = new TermPayload(payload);
        if ((_visited += list.EntryCount) > MostVisited)
        {
            GaveUp = true;
            return false;
        }

        Take(list);
        return true;
    }

    private ReadOnlySpan<byte> Value(TermBlock block, TermPlace term)
    {
        int length = block.LengthOf(term);
        if (_valueRoom.Length < length)
            _valueRoom = new byte[2 * length];
        block.CopyTerm(term, _valueRoom);
        return _valueRoom.AsSpan(0, length);
    }

    private bool Begin(TermCursor cursor)
    {
        if (_range is not { } keys)
            return _start.Begin(cursor);

        // The value to continue after may begin before the range: -0.7 and 0 are the same long.
        if (_start.IsAtValue && !_start.Begin(cursor))
            return false;
        if (_start.IsAtValue && (_sort.Descending ? keys.IsUpTo(cursor.Key) : keys.IsFrom(cursor.Key)))
            return true;
        return _sort.Descending ? keys.MoveLast(cursor) : keys.MoveFirst(cursor);
    }

    /// <summary>Whether a value is not past the end of the range. The walk is never before its beginning.</summary>
    private bool IsInside(ReadOnlySpan<byte> value) =>
        _range is not { } keys || (_sort.Descending ? keys.IsFrom(value) : keys.IsUpTo(value));

    /// <summary>
    /// The number that a key sorts as in this order, where different keys may be equal: 1.2 and 1.7 as longs, 2^53 and 2^53
    /// + 1 as doubles.
    /// </summary>
    private ulong NumberOf(ReadOnlySpan<byte> value) => _sort.Kind switch
    {
        SortKind.Text => 0,
        SortKind.Double => BinaryPrimitives.ReadUInt64BigEndian(value),
        _ => (ulong)NumberKey.ToSaturatedLong(value),
    };

    /// <summary>
    /// How many entries of one list suffice: without further sort keys a group is ordered by id, so the first entries of
    /// each list do.
    /// </summary>
    private long EnoughOfList => _parts.Length == 1 ? Left : long.MaxValue;

    /// <summary>
    /// The first entry of the group that was not returned yet: without further sort keys, the rest of the key to continue after
    /// is the id of an entry.
    /// </summary>
    private long FirstOfGroup => _rest.IsEmpty || _parts.Length > 1 ? 0 : EntryKey.Read(_rest.Span) + 1;

    private void Take(TermPayload payload)
    {
        TakeLongList();
        _groupLists++;
        switch (payload.Kind)
        {
            case PostingKind.Flat:
                long left = EnoughOfList, first = FirstOfGroup;
                FlatPostings flat = payload.Flat;
                while (left > 0 && flat.MoveNext(out Posting posting))
                {
                    if (posting.EntryId < first || !_filter.Contains(posting.EntryId))
                        continue;
                    _group.Add(posting.EntryId);
                    left--;
                }

                break;
            default:
                _longList = (payload.ListId, payload.EntryCount);
                if (_groupLists > 1)
                    TakeLongList(); // else the group may end with it, and need not be read
                break;
        }
    }

    /// <summary>The lists of the dictionary; it has them if a term has a long list.</summary>
    private Tree Postings => _context.View.Postings(_dictionary)!;

    /// <summary>Reads the long list that the group began with, if it was not read yet.</summary>
    private void TakeLongList()
    {
        if (_longList is not var (listId, _))
            return;
        _longList = null;
        using var list = new PostingCursor(Postings, listId, _context.Meter);
        WindowSet set = _context.Rent();
        long left = EnoughOfList;
        for (long window = list.Next(FirstOfGroup >> PostingWindow.SizeBits);
             left > 0 && window != Operator.End;
             window = list.Next(window + 1))
        {
            _context.Check();
            if (!list.TryGet(window, out PostingWindow mine))
                continue;
            set.Set(mine);
            left -= TakeWindow(window, set, left);
        }

        _context.Return(set);
    }

    /// <summary>Adds the hits among the entries of a window, at most <paramref name="most"/>; returns how many.</summary>
    private int TakeWindow(long window, WindowSet set, long most = long.MaxValue)
    {
        _filter.And(window, set);
        _offsets ??= _context.RentOffsets();
        ReadOnlySpan<ushort> offsets = _offsets.AsSpan(0, set.CopyTo(_offsets));
        long start = window << PostingWindow.SizeBits, first = FirstOfGroup;
        while (!offsets.IsEmpty && start + offsets[0] < first)
            offsets = offsets[1..];
        offsets = offsets[..(int)Math.Min(most, offsets.Length)];
        _context.Meter.Count.EntriesScanned += offsets.Length;
        foreach (ushort offset in offsets)
            _group.Add(start + offset);
        return offsets.Length;
    }

    /// <summary>Adds the hits without a sort value: the field is missing or has only null.</summary>
    private void TakeNulls()
    {
        if (_context.View.HasValueAlways(_context.View.Field(_sort.Field)))
        {
            EndGroup();
            return;
        }

        Operator nulls = new QueryCompiler(_context, isScored: false).Compile(new TermQuery(_sort.Field, FieldValue.Null));
        WindowSet set = _context.Rent();
        _groupLists = 1;
        for (long window = nulls.Next(FirstOfGroup >> PostingWindow.SizeBits);
             window != Operator.End;
             window = nulls.Next(window + 1))
        {
            _context.Check();
            nulls.Fill(window, set);
            int before = _group.Count;
            TakeWindow(window, set);

            // An array with a null and a value is in the list of nulls but has a sort value.
            int kept = before + KeepNulls(CollectionsMarshal.AsSpan(_group)[before..]);
            _group.RemoveRange(kept, _group.Count - kept);
            if (_parts.Length == 1 && _group.Count >= Left)
                break;
        }

        _context.Return(set);
        EndGroup();
    }

    /// <summary>
    /// Moves the entries without a sort value to the front, keeping their order; returns how many there are.
    /// </summary>
    private int KeepNulls(Span<long> ids)
    {
        _key ??= new KeyBuffer();
        int kept = 0;
        foreach (long id in ids)
        {
            _key.Clear();
            _parts[0].Append(id, 0, _key);
            ids[kept] = id;
            kept += _key.Written[0] == KeyPart.ValueRank ? 0 : 1;
        }

        return kept;
    }

    private void EndGroup()
    {
        if (!TryWalkGroup())
            TakeLongList();
        if (_group.Count == 0 && _rest.IsEmpty)
        {
            _groupLists = 0;
            return;
        }

        if (_group.Count == 1 && _rest.IsEmpty)
        {
            _found.Add(_group[0]);
        }
        else if (_groupLists == 1 && _parts.Length == 1)
        {
            // A single list without further sort keys is already in order.
            _found.AddRange(CollectionsMarshal.AsSpan(_group)[..(int)Math.Min(_group.Count, Left)]);
        }
        else
        {
            _room ??= _context.Rent<SortRoom>();
            _room.Clear();
            var sorter = new HitSorter(_parts[1..], Left, _room, _rest);
            foreach (long id in _group)
                sorter.Add(id, 0);
            foreach (SortedHit hit in sorter.Finish())
                _found.Add(hit.Id);
        }

        _rest = default;
        _groupLists = 0;
        _group.Clear();
    }

    /// <summary>
    /// Finds the first hits of a group that is one long list by a walk along the second key, if that visits fewer entries.
    /// </summary>
    private bool TryWalkGroup()
    {
        if (GaveUp
            || _longList is not var (listId, entries)
            || VisitedInGroup(_context, _sorts, entries, Density, Left) is not { } visited)
            return false;

        var list = new LongListOperator(_context, Postings, listId, entries, scorer: null);
        var filter = new FilterProbe(_context, list, matchesAll: false, expectedProbes: visited) { Beside = _filter };
        var walk = new OrderWalk(_context, filter, [.. _sorts.Skip(1)], _parts[1..], Left, _rest, range: null)
        {
            Density = Density * entries / Math.Max(1, _context.View.State.EntryCount),
            MostVisited = entries,
        };
        List<long> found = walk.Run();
        if (walk.GaveUp)
        {
            Decision = DecisionOf("sort all of them", "a walk along the second key visited as many entries without an end");
            return false;
        }

        Decision = DecisionOf("walk the values of the second key", "few of its entries are visited before the page is full");
        (_longList, _rest) = (null, default);
        _found.AddRange(found);
        return true;
    }

    private PlanDecision? DecisionOf(string chosen, string reason) => _context.Tracer is null
        ? null
        : new PlanDecision("how to order many equal values", chosen, null, reason, []);
}
