using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>
/// Contents of attachments: each once, under its SHA-256, in pieces, with the number of attachments that have it; the last one
/// that goes takes it along. A content that is longer than a piece comes in several commits: until the attachment is put it
/// stands among the uploads, and what is found there at an opening was never finished.
/// </summary>
/// <param name="transaction">Where they are.</param>
/// <param name="keepsUnused">Whether the last attachment that goes leaves its content to <see cref="Sweep"/>: one that comes
/// later may have it.</param>
internal sealed class ContentStore(WriteTransaction transaction, bool keepsUnused = false)
{
    /// <summary>Deletes at most so many pieces in a commit of its own.</summary>
    private const int PiecesPerStep = 256;

    /// <summary>Makes room for a content that comes in pieces; gives its number.</summary>
    public long Begin()
    {
        long id = NextId();
        transaction.GetOrCreateTree(TreeNames.ContentUploads).Put(ContentRecord.IdKey(id), default);
        return id;
    }

    /// <summary>Puts a piece.</summary>
    public void AddPiece(long id, int number, ReadOnlySpan<byte> bytes) =>
        transaction.GetOrCreateTree(TreeNames.Contents).Put(ContentRecord.PieceKey(id, number), bytes);

    /// <summary>
    /// A content is whole: it stands under its hash, and what was uploaded is dropped where it stood there before.
    /// </summary>
    /// <param name="hash">SHA-256 of it.</param>
    /// <param name="size">Its length in bytes.</param>
    /// <param name="uploadId">Where it was uploaded to; 0: it is <paramref name="only"/>.</param>
    /// <param name="only">Its only piece.</param>
    public void Settle(ReadOnlySpan<byte> hash, long size, long uploadId, ReadOnlySpan<byte> only)
    {
        Tree byHash = transaction.GetOrCreateTree(TreeNames.ContentsByHash);
        bool isKnown = byHash.Contains(hash);
        if (uploadId != 0)
        {
            transaction.GetOrCreateTree(TreeNames.ContentUploads).Delete(ContentRecord.IdKey(uploadId));
            if (isKnown)
                DeletePieces(uploadId, int.MaxValue);
        }

        if (isKnown)
            return;
        long id = uploadId == 0 ? NextId() : uploadId;
        if (uploadId == 0)
            AddPiece(id, 0, only);
        new ContentRecord(id, size, References: 0).Write(byHash, hash);
    }

    /// <summary>Whether there is a content of a hash.</summary>
    public bool Contains(ReadOnlySpan<byte> hash) => transaction.FindTree(TreeNames.ContentsByHash)?.Contains(hash) == true;

    /// <summary>One attachment more has a content.</summary>
    public void Acquire(ReadOnlySpan<byte> hash) => Change(hash, 1);

    /// <summary>One attachment fewer has a content.</summary>
    public void Release(ReadOnlySpan<byte> hash) => Change(hash, -1);

    /// <summary>Drops some of what was uploaded and not put; true when nothing of it is left.</summary>
    public bool Abandon(long uploadId)
    {
        if (transaction.FindTree(TreeNames.ContentUploads)?.Contains(ContentRecord.IdKey(uploadId)) != true)
            return true; // it was put
        bool isDone = DeletePieces(uploadId, PiecesPerStep);
        if (isDone)
            transaction.GetOrCreateTree(TreeNames.ContentUploads).Delete(ContentRecord.IdKey(uploadId));
        return isDone;
    }

    /// <summary>
    /// Drops contents that came with a dump and that no attachment has, some in each step, from a hash on; gives the hash to go
    /// on from, null after the last.
    /// </summary>
    public byte[]? Sweep(byte[] from)
    {
        const int HashesPerStep = 1024;
        if (transaction.FindTree(TreeNames.ContentsByHash) is not { } byHash)
            return null;

        var unused = new List<byte[]>();
        byte[]? next = null;
        using (Cursor cursor = byHash.OpenCursor())
        {
            bool more = cursor.Seek(from);
            for (int i = 0; more && i < HashesPerStep; i++, more = cursor.MoveNext())
                if (ContentRecord.Read(cursor.Value).References == 0)
                    unused.Add(cursor.Key.ToArray());
            next = more ? cursor.Key.ToArray() : null;
        }

        foreach (byte[] hash in unused)
            Drop(byHash, hash);
        return next;
    }

    private void Change(ReadOnlySpan<byte> hash, int by)
    {
        Tree byHash = transaction.GetOrCreateTree(TreeNames.ContentsByHash);
        if (!byHash.TryGet(hash, out ReadOnlySpan<byte> value))
            throw new CorruptionException(
                $"The content {Convert.ToHexStringLower(hash)} of an attachment does not exist. Run a check of the database and "
                    + $"restore a backup.");
        ContentRecord record = ContentRecord.Read(value);
        record = record with { References = record.References + by };
        Debug.Assert(record.References >= 0, "what is released was acquired");
        if (record.References == 0 && !keepsUnused)
            Drop(byHash, hash);
        else
            record.Write(byHash, hash);
    }

    private void Drop(Tree byHash, ReadOnlySpan<byte> hash)
    {
        if (byHash.TryGet(hash, out ReadOnlySpan<byte> value))
            DeletePieces(ContentRecord.Read(value).Id, int.MaxValue);
        byHash.Delete(hash);
    }

    private bool DeletePieces(long id, int limit)
    {
        Tree contents = transaction.GetOrCreateTree(TreeNames.Contents);
        int deleted = 0;
        while (deleted < limit && contents.Delete(ContentRecord.PieceKey(id, LastPiece(contents, id))))
            deleted++;
        return deleted < limit;
    }

    /// <summary>
    /// The last piece: from the end on, an upload that is dropped in steps has its first pieces until the last step.
    /// </summary>
    private static int LastPiece(Tree contents, long id)
    {
        using Cursor cursor = contents.OpenCursor();
        bool found = cursor.SeekBefore(ContentRecord.PieceKey(id + 1, 0));
        return found && ContentRecord.IdOf(cursor.Key) == id ? ContentRecord.NumberOf(cursor.Key) : 0;
    }

    private long NextId()
    {
        Tree meta = transaction.GetOrCreateTree(TreeNames.Meta);
        long id = meta.TryGet(TreeNames.MetaContent, out ReadOnlySpan<byte> last)
            ? BinaryPrimitives.ReadInt64LittleEndian(last) + 1
            : 1;
        BinaryPrimitives.WriteInt64LittleEndian(meta.Reserve(TreeNames.MetaContent, sizeof(long)), id);
        return id;
    }
}
