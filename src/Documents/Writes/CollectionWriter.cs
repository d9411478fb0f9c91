using System.Buffers.Binary;
using System.Text;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;

namespace Treepie.Writes;

/// <summary>
/// The collections changed by one command: read when first used, written once at its end. Valid only inside the command, because
/// the number assigned by a command that is undone is assigned again.
/// </summary>
internal sealed class CollectionWriter
{
    private readonly Tree _collections;
    private readonly Tree _byName;
    private readonly Dictionary<int, CollectionChange> _byId = [];
    private CollectionName? _lastName;
    private CollectionChange? _last;

    public CollectionWriter(WriteTransaction transaction)
    {
        _collections = transaction.GetOrCreateTree(TreeNames.Collections);
        _byName = transaction.GetOrCreateTree(TreeNames.CollectionsByName);
    }

    /// <summary>Returns a collection by name; creates it if it does not exist.</summary>
    public CollectionChange Get(CollectionName name)
    {
        if (ReferenceEquals(name, _lastName))
            return _last!; // set together

        CollectionChange change = _byName.TryGet(name.Folded, out ReadOnlySpan<byte> number)
            ? Get(BinaryPrimitives.ReadInt32LittleEndian(number))
            : Create(name);
        _lastName = name;
        _last = change;
        return change;
    }

    /// <summary>Returns the etag of the last change in a collection; 0 if it does not exist.</summary>
    public long LastEtagOf(CollectionName name) => _byName.TryGet(name.Folded, out ReadOnlySpan<byte> number)
        ? Get(BinaryPrimitives.ReadInt32LittleEndian(number)).LastEtag
        : 0;

    /// <summary>Returns a collection by number.</summary>
    public CollectionChange Get(int id)
    {
        if (_byId.TryGetValue(id, out CollectionChange? change))
            return change;

        Span<byte> key = stackalloc byte[4];
        BinaryPrimitives.WriteInt32BigEndian(key, id);
        if (!_collections.TryGet(key, out ReadOnlySpan<byte> value))
            throw new CorruptionException(
                $"Collection number {id} does not exist. Run a check of the database and restore a backup.");

        var record = new CollectionRecord(value);
        change = new CollectionChange(id, Encoding.UTF8.GetString(record.Name))
        {
            DocumentCount = record.DocumentCount,
            SizeBytes = record.SizeBytes,
            LastEtag = record.LastEtag,
        };
        _byId.Add(id, change);
        return change;
    }

    /// <summary>Writes the changed collections.</summary>
    public void Save()
    {
        Span<byte> key = stackalloc byte[4];
        foreach (CollectionChange change in _byId.Values)
        {
            byte[] name = Encoding.UTF8.GetBytes(change.Name);
            BinaryPrimitives.WriteInt32BigEndian(key, change.Id);
            CollectionRecord.Write(
                _collections.Reserve(key, CollectionRecord.SizeOf(name.Length)), change.DocumentCount, change.SizeBytes,
                change.LastEtag, name);
        }
    }

    private CollectionChange Create(CollectionName name)
    {
        int id = 1;
        using (Cursor cursor = _collections.OpenCursor())
            if (cursor.MoveLast())
                id = BinaryPrimitives.ReadInt32BigEndian(cursor.Key) + 1;

        Span<byte> number = stackalloc byte[4];
        BinaryPrimitives.WriteInt32LittleEndian(number, id);
        _byName.Put(name.Folded, number);
        BinaryPrimitives.WriteInt32BigEndian(number, id);
        CollectionRecord.Write(_collections.Reserve(number, CollectionRecord.SizeOf(name.Utf8.Length)), 0, 0, 0, name.Utf8);
        var change = new CollectionChange(id, name.Text);
        _byId.Add(id, change);
        return change;
    }
}

/// <summary>A collection during a command.</summary>
/// <param name="id">The number of the collection.</param>
/// <param name="name">The name, in the case in which it was first written.</param>
internal sealed class CollectionChange(int id, string name)
{
    public int Id { get; } = id;

    public string Name { get; } = name;

    public long DocumentCount { get; set; }

    public long SizeBytes { get; set; }

    public long LastEtag { get; set; }
}
