using System.Diagnostics;
using System.Runtime.InteropServices;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Sorting;
using Treepie.Storage.Trees;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Finds the first hits of an order among the entries with one value of another field: walks the keys of a compound key,
/// probes the filter for each entry, and stops when there are enough. Entries whose sort values are equal as far as the keys
/// store them form a group, which is sorted by the full values. A continued walk begins with the group of the last hit.
/// </summary>
/// <remarks>
/// Keys hold nulls before all values. If the order has them at the other end, the two ranges of keys are walked separately.
/// </remarks>
internal sealed class CompoundWalk : IReusable
{
    private const int MostKept = 1_024;

    private readonly byte[] _order = new byte[CompoundKeyText.MaxOrderBytes];
    private readonly List<int> _groupKeys = [];
    private List<long> _group = null!; // set by Begin
    private readonly HitKeys _keys = new();
    private QueryContext _context = null!; // set by Begin
    private CompoundRange _along = null!; // set by Begin
    private SearchRequest _request = null!; // set by Begin
    private FilterProbe? _filter;
    private ReadOnlyMemory<byte> _after;
    private long _limit;
    private KeyPart[]? _parts;
    private byte[] _prefix = [];
    private List<long> _found = null!; // set by Begin
    private int _orderLength = -1;
    private bool _isFirstGroup = true;
    private SortRoom? _room;

    // The hit to continue after: its sort value as stored in keys, and its id.
    private byte[] _given = [];
    private long _givenId = -1;

    private SortKey First => _request.Sort[0];

    private long Left => _limit - _found.Count;

    private bool IsOfOneKey => _request.Sort.Count == 1;

    /// <summary>Whether the entries of a group are equal in all sort keys, so that they are ordered by id.</summary>
    private bool IsByIds => IsOfOneKey && CompoundKeyText.IsWhole(_order.AsSpan(0, _orderLength));

    /// <summary>Whether some entries of the group may have been returned on an earlier page.</summary>
    private bool GoesOn => _isFirstGroup && !_after.IsEmpty;

    /// <summary>
    /// The keys of the entries found. An entry has none here if the tree does not store it, or if its group was sorted. Valid
    /// until the query ends.
    /// </summary>
    public HitKeys Keys => _keys;

    /// <inheritdoc/>
    public void Clear()
    {
        (_context, _along, _request, _filter, _after, _parts, _room) = (null!, null!, null!, null, default, null, null);
        (_prefix, _given, _givenId, _orderLength, _isFirstGroup) = ([], [], -1, -1, true);
        (_found, _group) = (null!, null!);
        _groupKeys.Clear();
        if (_groupKeys.Capacity > MostKept)
            _groupKeys.Capacity = 0;
        _keys.Clear();
    }

    /// <summary>Returns the ids of the first hits in order; valid until the query ends.</summary>
    /// <param name="context">The query.</param>
    /// <param name="cursor">A cursor over the tree of the compound key.</param>
    /// <param name="along">The equality, and the bounds within which keys are read.</param>
    /// <param name="request">The order.</param>
    /// <param name="filter">What entries must match; null if all of them do.</param>
    /// <param name="limit">Number of hits wanted.</param>
    /// <param name="after">Sort key of the hit to continue after; empty to begin with the first.</param>
    public List<long> Run(
        QueryContext context, Cursor cursor, CompoundRange along, SearchRequest request, FilterProbe? filter, long limit,
        ReadOnlyMemory<byte> after)
    {
        Debug.Assert(_keys.Count == 0 && _groupKeys.Count == 0, "it was cleared");
        (_context, _along, _request, _filter, _limit, _after) = (context, along, request, filter, limit, after);
        _prefix = along.Prefix;
        (_found, _group) = (context.Rent<IdList>().Ids, context.Rent<IdList>().Ids);
        byte[] from = [];
        if (!after.IsEmpty)
        {
            _given = CompoundKeyText.OrderOf(after.Span, First.Kind, First.Descending);
            _givenId = EntryKey.Read(after.Span[^EntryKey.Bytes..]);
            from = [.. _prefix, .. _given];
        }

        bool areNullsFirst = First.NullsFirst ?? !First.Descending;
        if (along.Within is not null)
        {
            // Entries without a value are in no range.
            byte[]? bound = First.Descending ? along.High : along.Low;
            Walk(cursor, [.. _prefix, KeyPart.ValueRank], from.Length > 0 || bound is null ? from : [.. _prefix, .. bound]);
        }
        else if (areNullsFirst != First.Descending)
        {
            Walk(cursor, _prefix, from);
        }
        else
        {
            byte[] nulls = [.. _prefix, KeyPart.NullsFirstRank], values = [.. _prefix, KeyPart.ValueRank];
            (byte[] first, byte[] second) = areNullsFirst ? (nulls, values) : (values, nulls);
            if (from.Length == 0 || from.AsSpan().StartsWith(first))
                Walk(cursor, first, from);
            if (Left > 0)
                Walk(cursor, second, from.AsSpan().StartsWith(second) ? from : []);
        }

        return _found;
    }

    /// <summary>Walks the keys of a range.</summary>
    /// <param name="cursor">Cursor over the keys.</param>
    /// <param name="range">Prefix of the keys in the range.</param>
    /// <param name="from">Prefix of the keys of the first group; empty to begin with the first of the range.</param>
    private void Walk(Cursor cursor, byte[] range, byte[] from)
    {
        int steps = 0;
        for (bool valid = Begin(cursor, range, from);
             valid && Left > 0;
             valid = First.Descending ? cursor.MovePrevious() : cursor.MoveNext())
        {
            ReadOnlySpan<byte> key = cursor.Key;
            if (!key.StartsWith(range))
                break;
            if ((++steps & 1023) == 0)
                _context.Check();
            _context.Meter.Count.TermsScanned++;
            if (IsBehind(key[_prefix.Length..^EntryKey.Bytes]))
                break;
            if (!Take(cursor, key[_prefix.Length..^EntryKey.Bytes], EntryKey.Read(key[^EntryKey.Bytes..])))
                break;
        }

        EndGroup();
        _orderLength = -1;
    }

    /// <summary>Whether a sort value is past the end of the range, as far as keys store it.</summary>
    private bool IsBehind(ReadOnlySpan<byte> mine) => First.Descending
        ? _along.Low is not null && mine.SequenceCompareTo(_along.Low) < 0
        : _along.High is not null && mine.SequenceCompareTo(_along.High) > 0;

    /// <summary>Processes the entry on whose key the cursor is; false once there are enough.</summary>
    private bool Take(Cursor cursor, ReadOnlySpan<byte> mine, long id)
    {
        if (_orderLength < 0 || !mine.SequenceEqual(_order.AsSpan(0, _orderLength)))
        {
            EndGroup();
            if (Left <= 0)
                return false;
            mine.CopyTo(_order);
            _orderLength = mine.Length;
        }

        if (!(GoesOn && IsByIds && IsGiven(mine, id)) && Matches(id))
        {
            _group.Add(id);
            _groupKeys.Add(_group.Count <= HitKeys.MostOfGroup ? _keys.Keep(cursor.Value) : HitKeys.None);
        }

        return First.Descending || !IsByIds || _group.Count < Left; // in ascending order, the lowest ids are the first hits
    }

    private bool Matches(long id)
    {
        if (_filter is not null)
            return _filter.Contains(id);
        _context.Meter.Count.EntriesScanned++;
        return true;
    }

    /// <summary>Whether ids alone decide which entries of the first group were already returned.</summary>
    private bool IsGivenByIds => _givenId >= 0 && IsOfOneKey && CompoundKeyText.IsWhole(_given);

    /// <summary>Returns the smallest key after that of the hit to continue after.</summary>
    private byte[] BehindGiven(byte[] from)
    {
        byte[] key = [.. from, .. new byte[EntryKey.Bytes]];
        EntryKey.Write(key.AsSpan(from.Length), _givenId + 1);
        return key;
    }

    private bool Begin(Cursor cursor, byte[] range, byte[] from)
    {
        if (!First.Descending)
            return cursor.Seek(from.Length == 0 ? range : IsGivenByIds ? BehindGiven(from) : from);
        if (from.Length > 0)
            return cursor.SeekBefore([.. from, .. Enumerable.Repeat(byte.MaxValue, EntryKey.Bytes)]); // greater than any id

        byte[] behind = [.. range];
        behind[^1]++; // a range ends with 0 or a rank
        return cursor.SeekBefore(behind);
    }

    /// <summary>
    /// Whether an entry of a group ordered by id was already returned: it has the sort value of the hit to continue after,
    /// and its id is not greater.
    /// </summary>
    private bool IsGiven(ReadOnlySpan<byte> mine, long id) =>
        id <= _givenId && mine.SequenceEqual(_given);

    private void EndGroup()
    {
        AddGroup();
        _isFirstGroup &= _orderLength < 0;
    }

    private void AddGroup()
    {
        if (_group.Count == 0)
            return;

        if ((_group.Count > 1 || GoesOn) && !IsByIds)
        {
            _room ??= _context.Rent<SortRoom>();
            _room.Clear();
            _parts ??= SortPlan.Open(_context, _request.Sort);
            var sorter = new HitSorter(_parts, Left, _room, GoesOn ? _after : default);
            foreach (long id in _group)
                sorter.Add(id, 0);
            foreach (SortedHit hit in sorter.Finish())
            {
                _found.Add(hit.Id);
                _keys.Add(HitKeys.None);
            }
        }
        else
        {
            if (First.Descending)
            {
                _group.Reverse();
                _groupKeys.Reverse();
            }

            int taken = (int)Math.Min(_group.Count, Left);
            _found.AddRange(CollectionsMarshal.AsSpan(_group)[..taken]);
            foreach (int key in CollectionsMarshal.AsSpan(_groupKeys)[..taken])
                _keys.Add(key);
        }

        Debug.Assert(_keys.Count == _found.Count, "each hit has a key, or none");
        _group.Clear();
        _groupKeys.Clear();
    }
}
