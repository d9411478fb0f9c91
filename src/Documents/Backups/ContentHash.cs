using System.Buffers.Binary;
using System.Text;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Directories;
using Treepie.Indexes.Grouping;
using Treepie.Storage.Backups;

namespace Treepie.Backups;

/// <summary>
/// The hash of a state of a database: BLAKE3 over its items, each with its kind and lengths, in a fixed order. The same
/// whether computed from the database, from its backup, or from what was restored. <c>docs/internals/backup-format.md</c>
/// specifies the bytes.
/// </summary>
internal sealed class ContentHash(BackupHashKind kind = BackupHashKind.Blake3) : IDisposable
{
    /// <summary>The kind, etag, time and length of the id: the head of a document is hashed with one call.</summary>
    private const int HeadBytes = 1 + (3 * sizeof(long));

    private BackupHash _hash = new(kind);
    private long _documents;
    private long _tombstones;
    private long _indexes;
    private long _identities;
    private long _collections;
    private long _beside;

    /// <summary>The number of items hashed.</summary>
    public BackupCounts Counts => new(_documents, _tombstones, _indexes, _identities, _collections) { Beside = _beside };

    /// <summary>
    /// Switches to another algorithm before anything is added: the header of a backup names its algorithm.
    /// </summary>
    public void Choose(BackupHashKind other)
    {
        _hash.Dispose();
        _hash = new BackupHash(other);
    }

    public void Database(Guid id, long lastEtag)
    {
        Kind('B');
        Span<byte> bytes = stackalloc byte[16];
        id.TryWriteBytes(bytes);
        _hash.Append(bytes);
        Number(lastEtag);
    }

    public void Since(DumpSince since)
    {
        Kind('S');
        Number(since.LastEtag);
        Text(since.ContentHash);
        Number(since.PurgedUpTo);
        Number(since.HoldsIndexes ? 1 : 0);
        Number(since.HoldsIdentities ? 1 : 0);
        Number(since.Documents);
        Number(since.Tombstones);
        if (since.Beside > 0)
            Number(since.Beside);
    }

    /// <summary>Adds an item of related data (counters, attachments and the like), or its deletion.</summary>
    public void Beside(
        long etag, long ticks, bool isDeleted, ReadOnlySpan<byte> key, ReadOnlySpan<byte> name, ReadOnlySpan<byte> value)
    {
        _beside++;
        Kind('K');
        Number(etag);
        Number(ticks);
        Number(isDeleted ? 1 : 0);
        Bytes(key);
        Bytes(name);
        Bytes(value);
    }

    public void Document(
        long etag, long ticks, ReadOnlySpan<byte> id, ReadOnlySpan<byte> collection, ReadOnlySpan<byte> metadata,
        ReadOnlySpan<byte> body)
    {
        _documents++;
        Span<byte> head = stackalloc byte[HeadBytes];
        head[0] = (byte)'D';
        BinaryPrimitives.WriteInt64LittleEndian(head[1..], etag);
        BinaryPrimitives.WriteInt64LittleEndian(head[(1 + sizeof(long))..], ticks);
        BinaryPrimitives.WriteInt64LittleEndian(head[(1 + (2 * sizeof(long)))..], id.Length);
        _hash.Append(head);
        _hash.Append(id);
        Bytes(collection);
        Bytes(metadata);
        Bytes(body);
    }

    public void Document(long etag, long ticks, DumpDocument document) => Document(
        etag, ticks, document.IdUtf8, document.Collection.Utf8, document.Metadata.IsEmpty ? "{}"u8 : document.Metadata,
        document.Body);

    public void Tombstone(long etag, long ticks, bool isSuperseded, ReadOnlySpan<byte> id, ReadOnlySpan<byte> collection)
    {
        _tombstones++;
        Kind('T');
        Number(etag);
        Number(ticks);
        Number(isSuperseded ? 1 : 0);
        Bytes(id);
        Bytes(collection);
    }

    public void Index(IndexMapping mapping)
    {
        _indexes++;
        if (mapping is StaticIndexMapping byHand)
        {
            Kind('H');
            Bytes(IndexDefinitionJson.Write(byHand.Definition));
            return;
        }

        if (mapping is GroupDefinition groups)
        {
            Kind('G');
            Bytes(DefinitionJson.Write(groups));
            return;
        }

        var definition = (AutoIndexDefinition)mapping;
        Kind('X');
        Text(definition.Name);
        Text(definition.Collection);
        Number(definition.Fields.Count);
        foreach (AutoIndexField field in definition.Fields)
        {
            Text(field.Path);
            Text(field.Kind.ToString());
        }
    }

    /// <summary>Adds the settings of an index under its name, for a hash of settings alone.</summary>
    public void Settings(string index, IndexSettings settings)
    {
        Kind('N');
        Text(index);
        Settings(settings);
    }

    /// <summary>
    /// Adds the settings of the index added last, unless they are the defaults. Not part of the hash of a dump, only of the
    /// position of a database.
    /// </summary>
    public void Settings(IndexSettings settings)
    {
        if (settings == new IndexSettings())
            return;
        Kind('O');
        Number((int)settings.LockMode);
        Number((int)settings.Priority);
        Number(settings.IsDisabled ? 1 : 0);
    }

    public void Identity(string name, long value)
    {
        _identities++;
        Kind('I');
        Text(name);
        Number(value);
    }

    public void Collection(string name, long documents, long sizeBytes, long lastEtag)
    {
        _collections++;
        Kind('C');
        Text(name);
        Number(documents);
        Number(sizeBytes);
        Number(lastEtag);
    }

    /// <summary>Returns the hash of everything added since the last call, in hexadecimal.</summary>
    public string Finish() => Convert.ToHexStringLower(_hash.GetHashAndReset());

    public void Dispose() => _hash.Dispose();

    private void Text(string text) => Bytes(Encoding.UTF8.GetBytes(text));

    private void Kind(char kind) => _hash.Append([(byte)kind]);

    private void Number(long value)
    {
        Span<byte> bytes = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, value);
        _hash.Append(bytes);
    }

    private void Bytes(ReadOnlySpan<byte> bytes)
    {
        Number(bytes.Length);
        _hash.Append(bytes);
    }
}
