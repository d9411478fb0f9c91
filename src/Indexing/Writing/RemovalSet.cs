using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Terms;
using Treepie.Storage.Transactions;

namespace Treepie.Indexing.Writing;

/// <summary>
/// What has to be taken out of the dictionaries because entries are removed or replaced: read from their records, in id
/// order. Owners are places in <see cref="Ids"/>.
/// </summary>
internal sealed class RemovalSet
{
    private readonly SortedDictionary<int, BatchField> fields = [];

    /// <summary>Entries to be removed, ascending.</summary>
    public required long[] Ids { get; init; }

    public IEnumerable<int> UsedFields => fields.Keys;

    public BatchField? Field(int field) => fields.GetValueOrDefault(field);

    /// <summary>Reads the records of the entries and removes them from the tree.</summary>
    public static RemovalSet Take(WriteTransaction transaction, long[] ids, CancellationToken cancellationToken)
    {
        var set = new RemovalSet { Ids = ids };
        if (ids.Length == 0)
            return set;

        var reader = new EntryReader(transaction.FindTree);
        for (int owner = 0; owner < ids.Length; owner++)
        {
            if ((owner & 1023) == 0)
                cancellationToken.ThrowIfCancellationRequested();
            set.Add(owner, reader.Get(ids[owner]));
        }

        var entries = new EntryBlockWriter(transaction.GetOrCreateTree(TreeNames.Entries));
        foreach (long id in ids)
            entries.Remove(id);
        entries.Flush();
        return set;
    }

    private void Add(int owner, EntryRecord record)
    {
        Span<byte> text = stackalloc byte[32];
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
                {
                    field.Terms.Add(item, owner, out _);
                }
                else
                {
                    field.Numbers.Add(item, owner, out _);
                    field.Terms.Add(text[..NumberKey.Format(item, text)], owner, out _);
                }
            }
        }
    }
}
