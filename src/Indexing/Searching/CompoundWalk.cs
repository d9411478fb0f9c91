using System.Runtime.InteropServices;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Matching;
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
/// <param name="context">The query.</param>
/// <param name="tree">The tree of the compound key.</param>
/// <param name="along">The equality, and the bounds within which keys are read.</param>
/// <param name="sort">The first key of the order.</param>
/// <param name="filter">What entries must match.</param>
/// <param name="parts">The parts of the order.</param>
/// <param name="limit">Number of hits wanted.</param>
/// <param name="after">Sort key of the hit to continue after; empty to begin with the first.</param>
internal sealed class CompoundWalk(
    QueryContext context, Tree tree, CompoundRange along, SortKey sort, FilterProbe filter, KeyPart[] parts, long limit,
    ReadOnlyMemory<byte> after)
{
    private readonly byte[] _prefix = along.Prefix;
    private readonly List<long> _found = context.Rent<IdList>().Ids;
    private readonly List<long> _group = context.Rent<IdList>().Ids;
    private readonly byte[] _order = new byte[CompoundKeyText.MaxOrderBytes];
    private int _orderLength = -1;
    private bool _isFirstGroup = true;
    private SortRoom? _room;

    // The hit to continue after: its sort value as stored in keys, and its id.
    private byte[] _given = [];
    private long _givenId = -1;

    private long Left => limit - _found.Count;

    /// <summary>Whether the entries of a group are equal in all sort keys, so that they are ordered by id.</summary>
    private bool IsByIds => parts.Length == 1 && CompoundKeyText.IsWhole(_order.AsSpan(0, _orderLength));

    /// <summary>Whether some entries of the group may have been returned on an earlier page.</summary>
    private bool GoesOn => _isFirstGroup && !after.IsEmpty;

    /// <summary>Returns the ids of the first hits in order; valid until the query ends.</summary>
    public List<long> Run()
    {
        byte[] from = [];
        if (!after.IsEmpty)
        {
            _given = CompoundKeyText.OrderOf(after.Span, sort.Kind, sort.Descending);
            _givenId = EntryKey.Read(after.Span[^EntryKey.Bytes..]);
            from = [.. _prefix, .. _given];
        }

        using Cursor cursor = tree.OpenCursor();
        bool areNullsFirst = sort.NullsFirst ?? !sort.Descending;
        if (along.Within is not null)
        {
            // Entries without a value are in no range.
            byte[]? bound = sort.Descending ? along.High : along.Low;
            Walk(cursor, [.. _prefix, KeyPart.ValueRank], from.Length > 0 || bound is null ? from : [.. _prefix, .. bound]);
        }
        else if (areNullsFirst != sort.Descending)
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
             valid = sort.Descending ? cursor.MovePrevious() : cursor.MoveNext())
        {
            ReadOnlySpan<byte> key = cursor.Key;
            if (!key.StartsWith(range))
                break;
            if ((++steps & 1023) == 0)
                context.Check();
            context.Meter.Count.TermsScanned++;
            if (IsBehind(key[_prefix.Length..^EntryKey.Bytes]))
                break;
            if (!Take(key[_prefix.Length..^EntryKey.Bytes], EntryKey.Read(key[^EntryKey.Bytes..])))
                break;
        }

        EndGroup();
        _orderLength = -1;
    }

    /// <summary>Whether a sort value is past the end of the range, as far as keys store it.</summary>
    private bool IsBehind(ReadOnlySpan<byte> mine) => sort.Descending
        ? along.Low is not null && mine.SequenceCompareTo(along.Low) < 0
        : along.High is not null && mine.SequenceCompareTo(along.High) > 0;

    /// <summary>Processes an entry; false once there are enough.</summary>
    private bool Take(ReadOnlySpan<byte> mine, long id)
    {
        if (_orderLength < 0 || !mine.SequenceEqual(_order.AsSpan(0, _orderLength)))
        {
            EndGroup();
            if (Left <= 0)
                return false;
            mine.CopyTo(_order);
            _orderLength = mine.Length;
        }

        if (!(GoesOn && IsByIds && IsGiven(mine, id)) && filter.Contains(id))
            _group.Add(id);
        return sort.Descending || !IsByIds || _group.Count < Left; // in ascending order, the lowest ids are the first hits
    }

    /// <summary>Whether ids alone decide which entries of the first group were already returned.</summary>
    private bool IsGivenByIds => _givenId >= 0 && parts.Length == 1 && CompoundKeyText.IsWhole(_given);

    /// <summary>Returns the smallest key after that of the hit to continue after.</summary>
    private byte[] BehindGiven(byte[] from)
    {
        byte[] key = [.. from, .. new byte[EntryKey.Bytes]];
        EntryKey.Write(key.AsSpan(from.Length), _givenId + 1);
        return key;
    }

    private bool Begin(Cursor cursor, byte[] range, byte[] from)
    {
        if (!sort.Descending)
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
            _room ??= context.Rent<SortRoom>();
            _room.Clear();
            var sorter = new HitSorter(parts, Left, _room, GoesOn ? after : default);
            foreach (long id in _group)
                sorter.Add(id, 0);
            foreach (SortedHit hit in sorter.Finish())
                _found.Add(hit.Id);
        }
        else
        {
            if (sort.Descending)
                _group.Reverse();
            _found.AddRange(CollectionsMarshal.AsSpan(_group)[..(int)Math.Min(_group.Count, Left)]);
        }

        _group.Clear();
    }
}
