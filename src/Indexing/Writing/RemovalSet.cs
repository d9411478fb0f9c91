using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Terms;
using Treepie.Storage.Transactions;

namespace Treepie.Indexing.Writing;

/// <summary>
/// What has to be taken out of the dictionaries because entries are removed or replaced: read from their records, in id
/// order. Owners are places in <see cref="Ids"/>. Its memory is kept from one commit to the next.
/// </summary>
internal sealed class RemovalSet
{
    /// <summary>Largest piece of memory that is kept.</summary>
    private const int KeepBytes = 16 << 20;

    private readonly SortedDictionary<int, BatchField> fields = [];
    private long[] ids = [];
    private int count;

    /// <summary>Entries to be removed, ascending.</summary>
    public ReadOnlySpan<long> Ids => ids.AsSpan(0, count);

    /// <summary>Fields that any of them has, ascending.</summary>
    public IEnumerable<int> UsedFields => fields.Where(pair => pair.Value.Exists.Count > 0).Select(pair => pair.Key);

    /// <summary>What they have in a field; null: nothing.</summary>
    public BatchField? Field(int field) =>
        fields.TryGetValue(field, out BatchField? found) && found.Exists.Count > 0 ? found : null;

    /// <summary>Begins anew.</summary>
    public void Clear()
    {
        count = 0;
        foreach (BatchField field in fields.Values)
            field.Clear(KeepBytes);
    }

    /// <summary>Notes that an entry is to be removed.</summary>
    public void Add(long id)
    {
        if (count == ids.Length)
            TermTable.GrowTo(ref ids, Math.Max(64, 2 * count));
        ids[count++] = id;
    }

    /// <summary>Reads the records of the entries and removes them from the tree.</summary>
    /// <param name="transaction">Where they are.</param>
    /// <param name="compounds">Told of each.</param>
    /// <param name="cancellationToken">Ends it.</param>
    public void Take(WriteTransaction transaction, CompoundWriter compounds, CancellationToken cancellationToken)
    {
        if (count == 0)
            return;

        ids.AsSpan(0, count).Sort();
        var reader = new EntryReader(transaction.FindTree);
        for (int owner = 0; owner < count; owner++)
        {
            if ((owner & 1023) == 0)
                cancellationToken.ThrowIfCancellationRequested();
            Add(owner, reader.Get(ids[owner]));
            if (compounds.IsNeeded)
                compounds.Remove(ids[owner], reader.Get(ids[owner]), reader);
        }

        var entries = new EntryBlockWriter(transaction.GetOrCreateTree(TreeNames.Entries));
        foreach (long id in Ids)
            entries.Remove(id);
        entries.Flush();
    }

    private void Add(int owner, EntryRecord record)
    {
        while (record.MoveNextGroup())
        {
            if (!fields.TryGetValue(record.Field, out BatchField? field))
                fields.Add(record.Field, field = new BatchField());
            if (field.Exists.Count == 0 || field.Exists[^1] != owner)
                field.Exists.Add(owner);
            if (record.Group == EntryGroup.Null)
                field.Nulls.Add(owner);
            while (record.MoveNextItem(out ReadOnlySpan<byte> item))
            {
                if (record.Group == EntryGroup.Terms)
                    field.Terms.Add(item, owner, out _);
                else
                    field.Numbers.Add(item, owner, out _);
            }
        }
    }
}
