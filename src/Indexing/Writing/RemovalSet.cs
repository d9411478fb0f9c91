using System.Diagnostics;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Terms;
using Treepie.Storage.Transactions;

namespace Treepie.Indexing.Writing;

/// <summary>
/// What must be removed from the dictionaries because entries are removed or replaced, read from the records of these
/// entries in id order. Owners are places in <see cref="Ids"/>. Reused from commit to commit.
/// </summary>
internal sealed class RemovalSet
{
    /// <summary>Largest buffer that is kept.</summary>
    private const int KeepBytes = 16 << 20;

    private readonly SortedDictionary<int, BatchField> _fields = [];
    private long[] _ids = [];
    private int _count;

    /// <summary>Entries to be removed, ascending.</summary>
    public ReadOnlySpan<long> Ids => _ids.AsSpan(0, _count);

    /// <summary>Fields that at least one of the entries has, ascending.</summary>
    public IEnumerable<int> UsedFields => _fields.Where(pair => pair.Value.Exists.Count > 0).Select(pair => pair.Key);

    /// <summary>The content of the entries in a field; null if there is none.</summary>
    public BatchField? Field(int field) =>
        _fields.TryGetValue(field, out BatchField? found) && found.Exists.Count > 0 ? found : null;

    /// <summary>Removes everything.</summary>
    public void Clear()
    {
        _count = 0;
        foreach (BatchField field in _fields.Values)
            field.Clear(KeepBytes);
    }

    /// <summary>Adds an entry to be removed.</summary>
    public void Add(long id)
    {
        if (_count == _ids.Length)
            TermTable.GrowTo(ref _ids, Math.Max(64, 2 * _count));
        _ids[_count++] = id;
    }

    /// <summary>Reads the records of the entries and removes them from the tree.</summary>
    /// <param name="transaction">The transaction of the commit.</param>
    /// <param name="compounds">Collects the compound keys of each entry.</param>
    /// <param name="cancellationToken">Checked every 1,024 entries.</param>
    public void Take(WriteTransaction transaction, CompoundWriter compounds, CancellationToken cancellationToken)
    {
        if (_count == 0)
            return;

        _ids.AsSpan(0, _count).Sort();
        var reader = new EntryReader(transaction.FindTree);
        for (int owner = 0; owner < _count; owner++)
        {
            if ((owner & 1023) == 0)
                cancellationToken.ThrowIfCancellationRequested();
            Debug.Assert(owner == 0 || _ids[owner - 1] < _ids[owner], "an entry is removed once");
            Add(owner, reader.Get(_ids[owner]));
            if (compounds.IsNeeded)
                compounds.Remove(_ids[owner], reader.Get(_ids[owner]), reader);
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
            if (!_fields.TryGetValue(record.Field, out BatchField? field))
                _fields.Add(record.Field, field = new BatchField());
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
