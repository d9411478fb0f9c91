using System.Diagnostics;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Sorting;
using Treepie.Indexing.Terms;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Writing;

/// <summary>
/// Updates the trees of compound keys. The keys of an entry are derived from its record and sort values, so the keys of a
/// removed entry are collected before its values are removed, and those of a new entry after its values are written. Used
/// for one write transaction.
/// </summary>
/// <param name="transaction">The transaction.</param>
/// <param name="compounds">The compound keys.</param>
internal sealed class CompoundWriter(WriteTransaction transaction, List<CompoundRecord> compounds)
{
    private readonly TermTable[] _removed = [.. compounds.Select(static _ => new TermTable())];
    private readonly TermTable[] _added = [.. compounds.Select(static _ => new TermTable())];
    private readonly KeyBuffer _key = new();

    /// <summary>Entry keys of the added keys, and where each begins: by tree, and by the ordinal of the added key.</summary>
    private readonly ByteArena _entryKeys = new();
    private readonly List<(int Start, int Length)>[] _places = [.. compounds.Select(static _ => new List<(int, int)>())];

    /// <summary>Whether the index has compound keys.</summary>
    public bool IsNeeded => compounds.Count > 0;

    /// <summary>Collects the keys of an entry that will be removed and whose values still exist.</summary>
    public void Remove(long id, EntryRecord record, EntryReader reader) => Collect(id, record, reader, isAdded: false);

    /// <summary>
    /// Updates the trees: deletes the collected keys, and adds those of new entries, whose values must all be written.
    /// </summary>
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
            Collect(id, reader.Get(id), reader, isAdded: true);
        }

        Apply();
    }

    /// <summary>Updates each tree in key order.</summary>
    private void Apply()
    {
        for (int i = 0; i < compounds.Count; i++)
        {
            if (_removed[i].Count + _added[i].Count == 0)
                continue;

            Tree tree = transaction.GetOrCreateTree(TreeNames.Compound(i));
            for (int place = 0; place < _removed[i].SortedOrdinals().Length; place++)
                tree.Delete(_removed[i].InOrder(place));
            ReadOnlySpan<int> ordinals = _added[i].SortedOrdinals();
            for (int place = 0; place < ordinals.Length; place++)
            {
                (int start, int length) = _places[i][ordinals[place]];
                tree.Put(_added[i].InOrder(place), _entryKeys.Slice(start, length));
            }
        }
    }

    private void Collect(long id, EntryRecord record, EntryReader reader, bool isAdded)
    {
        (int Start, int Length)? entryKey = null;
        while (record.MoveNextGroup())
        {
            // Compound keys exclude nulls: a query for nulls also matches entries without the field.
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
                    if (compounds[i].Equal != record.Field || !CompoundKeyText.TryBegin(_key, item, isNumber))
                        continue;
                    SortChunk chunk = reader.SortChunkOf(compounds[i].Order, id, out int slot);
                    CompoundKeyText.AppendOrder(_key, chunk, slot, compounds[i].Kind);
                    _key.Append((ulong)id);
                    if (!isAdded)
                    {
                        _removed[i].Add(_key.Written, 0, out _);
                        continue;
                    }

                    _added[i].Add(_key.Written, 0, out int ordinal);
                    entryKey ??= KeepKey(record.Key);
                    if (ordinal == _places[i].Count)
                        _places[i].Add(entryKey.Value);
                }
            }
        }
    }

    /// <summary>Keeps the key of an entry, unless it is longer than trees hold.</summary>
    private (int Start, int Length) KeepKey(ReadOnlySpan<byte> entryKey) =>
        entryKey.Length > CompoundKeyText.MaxEntryKeyBytes ? (0, 0) : (_entryKeys.Add(entryKey), entryKey.Length);

    private bool IsOfEquality(int field)
    {
        foreach (CompoundRecord compound in compounds)
            if (compound.Equal == field)
                return true;

        return false;
    }

    /// <summary>Adds the next entries to the first incomplete compound key; returns the new state of all keys.</summary>
    public static List<CompoundRecord> Build(WriteTransaction transaction, int most, CancellationToken cancellationToken)
    {
        Tree index = transaction.GetOrCreateTree(TreeNames.Index);
        List<CompoundRecord> compounds = CompoundRecord.Read(index);
        int number = compounds.FindIndex(static one => !one.IsComplete);
        if (number < 0)
            return compounds;

        long end = IndexState.Read(index).NextEntryId, next = compounds[number].NextEntryId, until = Math.Min(end, next + most);
        Debug.Assert(next >= 0 && next <= end, "1: the next entry is an id that was given");
        List<CompoundRecord> only = [.. compounds.Select((one, place) => place == number ? one : one with { Equal = -1 })];
        var writer = new CompoundWriter(transaction, only);
        var reader = new EntryReader(transaction.FindTree);
        for (; next < until; next++)
        {
            if ((next & 1023) == 0)
                cancellationToken.ThrowIfCancellationRequested();
            if (reader.TryGet(next, out EntryRecord record))
                writer.Collect(next, record, reader, isAdded: true);
        }

        writer.Apply();
        compounds[number] = compounds[number] with { NextEntryId = next >= end ? CompoundRecord.Complete : next };
        Debug.Assert(compounds[number].IsComplete || compounds[number].NextEntryId < end, "4: the next entry grows");
        CompoundRecord.Write(index, compounds);
        return compounds;
    }
}
