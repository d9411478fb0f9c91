using System.Runtime.InteropServices;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Sorting;
using Treepie.Storage.Trees;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Finds the first hits of an order among the entries with one value of another field: goes along the keys of a compound key,
/// asks the filter about each entry, and ends when there are enough. Entries whose sort values are the same as far as the keys
/// have them are a group, put in order by these values. A walk that goes on from a hit begins with the group of that hit.
/// </summary>
/// <remarks>
/// Keys have nulls before all values. Where the order has them at the other end, these two ranges of keys are walked in turn.
/// </remarks>
/// <param name="context">The query.</param>
/// <param name="tree">The compound key's.</param>
/// <param name="along">The equality, and the bounds between which keys are looked at.</param>
/// <param name="sort">The first key of the order.</param>
/// <param name="filter">What entries have to match.</param>
/// <param name="parts">The parts of the order.</param>
/// <param name="limit">Hits wanted.</param>
/// <param name="after">The sort key of the hit to go on from; empty: from the first.</param>
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

    // The hit to go on from: its sort value as keys have it, and its id.
    private byte[] _given = [];
    private long _givenId = -1;

    private long Left => limit - _found.Count;

    /// <summary>Whether the entries of a group are equal in all that is asked, so that their ids say their order.</summary>
    private bool IsByIds => parts.Length == 1 && CompoundKeyText.IsWhole(_order.AsSpan(0, _orderLength));

    /// <summary>Whether some entries of the group may have been given before.</summary>
    private bool GoesOn => _isFirstGroup && !after.IsEmpty;

    /// <summary>Ids of the first hits in order; good until the query ends.</summary>
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
            // What has no value is in no range.
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

    /// <summary>Goes along the keys of a range, from some keys on.</summary>
    /// <param name="cursor">Over the keys.</param>
    /// <param name="range">What the keys begin with.</param>
    /// <param name="from">What the keys of the first group begin with; empty: it is the first of the range.</param>
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

    /// <summary>Whether a sort value is behind the range, as far as keys have it.</summary>
    private bool IsBehind(ReadOnlySpan<byte> mine) => sort.Descending
        ? along.Low is not null && mine.SequenceCompareTo(along.Low) < 0
        : along.High is not null && mine.SequenceCompareTo(along.High) > 0;

    /// <summary>Takes an entry; false when there are enough.</summary>
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
        return sort.Descending || !IsByIds || _group.Count < Left; // upwards the first ids come first
    }

    /// <summary>Whether ids alone say which entries of the first group were given.</summary>
    private bool IsGivenByIds => _givenId >= 0 && parts.Length == 1 && CompoundKeyText.IsWhole(_given);

    /// <summary>The least key behind that of the hit to go on from.</summary>
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
            return cursor.SeekBefore([.. from, .. Enumerable.Repeat(byte.MaxValue, EntryKey.Bytes)]); // no id is so great

        byte[] behind = [.. range];
        behind[^1]++; // a range ends with a 0, or a rank
        return cursor.SeekBefore(behind);
    }

    /// <summary>
    /// Whether an entry of a group that ids put in order was given before: it has the sort value of the hit to go on from, and
    /// an id up to that hit's.
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
