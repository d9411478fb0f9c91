using System.Diagnostics;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Sorting;
using Treepie.Indexing.Terms;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Writing;

/// <summary>
/// Keeps the trees of compound keys as the entries are. The keys of an entry follow from its record and its sort values, so those
/// of a removed one are worked out before these go, and those of a new one when they are there. Lives for one write transaction.
/// </summary>
/// <param name="transaction">The transaction.</param>
/// <param name="compounds">The compound keys.</param>
internal sealed class CompoundWriter(WriteTransaction transaction, List<CompoundRecord> compounds)
{
    private readonly TermTable[] removed = [.. compounds.Select(static _ => new TermTable())];
    private readonly TermTable[] added = [.. compounds.Select(static _ => new TermTable())];
    private readonly KeyBuffer key = new();

    /// <summary>Whether there is anything to keep.</summary>
    public bool IsNeeded => compounds.Count > 0;

    /// <summary>Notes an entry that will be removed; its values are still there.</summary>
    public void Remove(long id, EntryRecord record, EntryReader reader) => Collect(id, record, reader, removed);

    /// <summary>Changes the trees: takes out what was noted, and adds entries that are there with all their values.</summary>
    public void Apply(ReadOnlySpan<long> ids, CancellationToken cancellationToken)
    {
        if (!IsNeeded)
            return;

        var reader = new EntryReader(transaction.FindTree);
        foreach (long id in ids)
        {
            if (id < 0)
                continue;
            if ((id & 1023) == 0)
                cancellationToken.ThrowIfCancellationRequested();
            Collect(id, reader.Get(id), reader, added);
        }

        Apply();
    }

    /// <summary>Changes each tree in its order.</summary>
    private void Apply()
    {
        for (int i = 0; i < compounds.Count; i++)
        {
            if (removed[i].Count + added[i].Count == 0)
                continue;

            Tree tree = transaction.GetOrCreateTree(TreeNames.Compound(i));
            for (int place = 0; place < removed[i].SortedOrdinals().Length; place++)
                tree.Delete(removed[i].InOrder(place));
            for (int place = 0; place < added[i].SortedOrdinals().Length; place++)
                tree.Put(added[i].InOrder(place), []);
        }
    }

    private void Collect(long id, EntryRecord record, EntryReader reader, TermTable[] keys)
    {
        while (record.MoveNextGroup())
        {
            // A null stands in no compound key: who asks for nulls asks for entries without the field too.
            bool isNumber = record.Group == EntryGroup.Numbers;
            if (!IsOfEquality(record.Field) || (!isNumber && record.Group != EntryGroup.Terms))
            {
                record.PassItems();
                continue;
            }

            while (record.MoveNextItem(out ReadOnlySpan<byte> item))
            {
                for (int i = 0; i < compounds.Count; i++)
                {
                    if (compounds[i].Equal != record.Field || !CompoundKeyText.TryBegin(key, item, isNumber))
                        continue;
                    SortChunk chunk = reader.SortChunkOf(compounds[i].Order, id, out int slot);
                    CompoundKeyText.AppendOrder(key, chunk, slot, compounds[i].Kind);
                    key.Append((ulong)id);
                    keys[i].Add(key.Written, 0, out _);
                }
            }
        }
    }

    private bool IsOfEquality(int field)
    {
        foreach (CompoundRecord compound in compounds)
            if (compound.Equal == field)
                return true;

        return false;
    }

    /// <summary>Adds the next entries to the first compound key that is not complete; gives what is so now.</summary>
    public static List<CompoundRecord> Build(WriteTransaction transaction, int most, CancellationToken cancellationToken)
    {
        Tree index = transaction.GetOrCreateTree(TreeNames.Index);
        List<CompoundRecord> compounds = CompoundRecord.Read(index);
        int number = compounds.FindIndex(static one => !one.IsComplete);
        if (number < 0)
            return compounds;

        long end = IndexState.Read(index).NextEntryId, next = compounds[number].NextEntryId, until = Math.Min(end, next + most);
        Debug.Assert(next >= 0, "an entry id is not negative");
        List<CompoundRecord> only = [.. compounds.Select((one, place) => place == number ? one : one with { Equal = -1 })];
        var writer = new CompoundWriter(transaction, only);
        var reader = new EntryReader(transaction.FindTree);
        for (; next < until; next++)
        {
            if ((next & 1023) == 0)
                cancellationToken.ThrowIfCancellationRequested();
            if (reader.TryGet(next, out EntryRecord record))
                writer.Collect(next, record, reader, writer.added);
        }

        writer.Apply();
        compounds[number] = compounds[number] with { NextEntryId = next >= end ? CompoundRecord.Complete : next };
        CompoundRecord.Write(index, compounds);
        return compounds;
    }
}
