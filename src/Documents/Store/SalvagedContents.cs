using System.Buffers.Binary;
using System.Security.Cryptography;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>
/// Determines by their hashes which attachment contents a salvage recovered completely, and rewrites the records that refer to
/// them. Contents without attachments are dropped.
/// </summary>
internal sealed class SalvagedContents(ReadTransaction read)
{
    private readonly Dictionary<string, ContentRecord> _byHash = new(StringComparer.Ordinal);
    private readonly List<long> _dropped = [];
    private long _lastId;

    /// <summary>Returns whether a content is complete.</summary>
    public bool Contains(string hash) => _byHash.ContainsKey(hash);

    /// <summary>Adds a reference of an attachment.</summary>
    public void Acquire(string hash) => _byHash[hash] = _byHash[hash] with { References = _byHash[hash].References + 1 };

    /// <summary>Hashes all contents.</summary>
    public void Read()
    {
        if (read.FindTree(TreeNames.Contents) is not { } contents)
            return;

        using Cursor cursor = contents.OpenCursor();
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        bool more = cursor.MoveFirst();
        while (more)
        {
            long id = _lastId = ContentRecord.IdOf(cursor.Key), size = 0;
            for (; more && ContentRecord.IdOf(cursor.Key) == id; more = cursor.MoveNext())
            {
                hash.AppendData(cursor.Value);
                size += cursor.Value.Length;
            }

            if (!_byHash.TryAdd(Convert.ToHexString(hash.GetHashAndReset()), new ContentRecord(id, size, References: 0)))
                _dropped.Add(id);
        }
    }

    /// <summary>Writes the records.</summary>
    public bool Write(WriteTransaction transaction)
    {
        if (_lastId == 0)
            return false;

        Tree byHash = transaction.GetOrCreateTree(TreeNames.ContentsByHash),
            uploads = transaction.GetOrCreateTree(TreeNames.ContentUploads);
        foreach ((string hash, ContentRecord record) in _byHash)
        {
            if (record.References > 0)
                record.Write(byHash, Convert.FromHexString(hash));
            else
                _dropped.Add(record.Id);
        }

        foreach (long id in _dropped)
            uploads.Put(ContentRecord.IdKey(id), default); // they are then dropped like unfinished uploads
        BinaryPrimitives.WriteInt64LittleEndian(
            transaction.GetOrCreateTree(TreeNames.Meta).Reserve(TreeNames.MetaContent, sizeof(long)), _lastId);
        return true;
    }
}
