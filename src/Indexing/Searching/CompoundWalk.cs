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
/// have them are a group, put in order by these values.
/// </summary>
internal sealed class CompoundWalk(
    QueryContext context, Tree tree, byte[] prefix, SortKey sort, FilterProbe filter, KeyPart[] parts, long limit)
{
    private readonly List<long> found = context.Rent<IdList>().Ids;
    private readonly List<long> group = context.Rent<IdList>().Ids;
    private readonly byte[] order = new byte[CompoundKeyText.MaxOrderBytes];
    private int orderLength = -1;
    private SortRoom? room;

    private long Left => limit - found.Count;

    /// <summary>Whether the entries of a group are equal in all that is asked, so that their ids say their order.</summary>
    private bool IsByIds => parts.Length == 1 && CompoundKeyText.IsWhole(order.AsSpan(0, orderLength));

    /// <summary>Ids of the first hits in order; good until the query ends.</summary>
    public List<long> Run()
    {
        using Cursor cursor = tree.OpenCursor();
        int steps = 0;
        for (bool valid = Begin(cursor); valid && Left > 0; valid = sort.Descending ? cursor.MovePrevious() : cursor.MoveNext())
        {
            ReadOnlySpan<byte> key = cursor.Key;
            if (!key.StartsWith(prefix))
                break;
            if ((++steps & 1023) == 0)
                context.Check();
            context.Meter.Count.TermsScanned++;
            if (!Take(key[prefix.Length..^EntryKey.Bytes], EntryKey.Read(key[^EntryKey.Bytes..])))
                break;
        }

        EndGroup();
        return found;
    }

    /// <summary>Takes an entry; false when there are enough.</summary>
    private bool Take(ReadOnlySpan<byte> mine, long id)
    {
        if (orderLength < 0 || !mine.SequenceEqual(order.AsSpan(0, orderLength)))
        {
            EndGroup();
            if (Left <= 0)
                return false;
            mine.CopyTo(order);
            orderLength = mine.Length;
        }

        if (filter.Contains(id))
            group.Add(id);
        return sort.Descending || !IsByIds || group.Count < Left; // upwards the first ids come first
    }

    private bool Begin(Cursor cursor)
    {
        if (!sort.Descending)
            return cursor.Seek(prefix);

        // A prefix ends with a 0.
        byte[] behind = [.. prefix];
        behind[^1]++;
        return cursor.SeekBefore(behind);
    }

    private void EndGroup()
    {
        if (group.Count == 0)
            return;

        if (group.Count > 1 && !IsByIds)
        {
            room ??= context.Rent<SortRoom>();
            room.Clear();
            var sorter = new HitSorter(parts, Left, room);
            foreach (long id in group)
                sorter.Add(id, 0);
            foreach (SortedHit hit in sorter.Finish())
                found.Add(hit.Id);
        }
        else
        {
            if (sort.Descending)
                group.Reverse();
            found.AddRange(CollectionsMarshal.AsSpan(group)[..(int)Math.Min(group.Count, Left)]);
        }

        group.Clear();
    }
}
