using System.Diagnostics;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Terms;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Writing;

/// <summary>
/// The stored values of the entries of a batch, see <see cref="StoredRecord"/>. Owners are places of entries in the batch.
/// </summary>
internal sealed class StoredValues
{
    private readonly ByteArena _bytes = new();
    private readonly List<(int Owner, int Start)> _owners = [];

    /// <summary>Adds a value of an entry. Entries and slots must come in order.</summary>
    public void Add(int owner, int slot, ReadOnlySpan<byte> value)
    {
        Debug.Assert(_owners.Count == 0 || _owners[^1].Owner <= owner, "entries come in order");
        if (_owners.Count == 0 || _owners[^1].Owner != owner)
            _owners.Add((owner, _bytes.Length));
        _bytes.AddVarint(slot);
        _bytes.AddVarint(value.Length);
        _bytes.Add(value);
    }

    /// <summary>Appends other values. Their owner 0 becomes <paramref name="firstOwner"/>.</summary>
    public void Append(StoredValues other, int firstOwner)
    {
        int start = _bytes.Add(other._bytes.Slice(0, other._bytes.Length));
        foreach ((int owner, int at) in other._owners)
            _owners.Add((firstOwner + owner, start + at));
    }

    /// <summary>Deletes the values of removed entries and writes those of new ones.</summary>
    public void Apply(WriteTransaction transaction, ReadOnlySpan<long> idOf, ReadOnlySpan<long> removed)
    {
        if (_owners.Count == 0 && transaction.FindTree(TreeNames.Stored) is null)
            return;

        Tree stored = transaction.GetOrCreateTree(TreeNames.Stored);
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        foreach (long id in removed)
        {
            EntryKey.Write(key, id);
            stored.Delete(key);
        }

        for (int i = 0; i < _owners.Count; i++)
        {
            (int owner, int start) = _owners[i];
            if (idOf[owner] < 0)
                continue;
            EntryKey.Write(key, idOf[owner]);
            int end = i + 1 < _owners.Count ? _owners[i + 1].Start : _bytes.Length;
            stored.Put(key, _bytes.Slice(start, end - start));
        }
    }

    public void Clear(int keepBytes)
    {
        _owners.Clear();
        _bytes.Clear(keepBytes);
    }
}
