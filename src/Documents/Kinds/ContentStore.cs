using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>
/// Contents of attachments: each is stored once, under its SHA-256, in chunks, with the number of attachments that refer to it,
/// and deleted with the last one. A content longer than a chunk is written by several commits: until the attachment is stored, it
/// is listed as an upload, and uploads found at opening were never completed.
/// </summary>
/// <param name="transaction">The transaction.</param>
/// <param name="keepsUnused">Whether the last attachment leaves its content to <see cref="Sweep"/>, since a later one may refer
/// to it.</param>
internal sealed class ContentStore(WriteTransaction transaction, bool keepsUnused = false)
{
    /// <summary>The maximum number of chunks deleted by one commit.</summary>
    private const int PiecesPerStep = 256;

    /// <summary>Starts a content of several chunks and returns its number.</summary>
    public long Begin()
    {
        long id = NextId();
        transaction.GetOrCreateTree(TreeNames.ContentUploads).Put(ContentRecord.IdKey(id), default);
        return id;
    }

    /// <summary>Stores a chunk.</summary>
    public void AddPiece(long id, int number, ReadOnlySpan<byte> bytes) =>
        transaction.GetOrCreateTree(TreeNames.Contents).Put(ContentRecord.PieceKey(id, number), bytes);

    /// <summary>
    /// Completes a content: stores it under its hash, and drops the upload if the content existed already.
    /// </summary>
    /// <param name="hash">The SHA-256 hash.</param>
    /// <param name="size">The length in bytes.</param>
    /// <param name="uploadId">The number of the upload; 0: the content is <paramref name="only"/>.</param>
    /// <param name="only">The only chunk.</param>
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

    /// <summary>Returns whether a content with the specified hash exists.</summary>
    public bool Contains(ReadOnlySpan<byte> hash) => transaction.FindTree(TreeNames.ContentsByHash)?.Contains(hash) == true;

    /// <summary>Adds a reference of an attachment to a content.</summary>
    public void Acquire(ReadOnlySpan<byte> hash) => Change(hash, 1);

    /// <summary>Removes a reference of an attachment to a content.</summary>
    public void Release(ReadOnlySpan<byte> hash) => Change(hash, -1);

    /// <summary>Drops some chunks of an upload; returns true when nothing is left.</summary>
    public bool Abandon(long uploadId)
    {
        if (transaction.FindTree(TreeNames.ContentUploads)?.Contains(ContentRecord.IdKey(uploadId)) != true)
            return true; // the attachment was stored
        bool isDone = DeletePieces(uploadId, PiecesPerStep);
        if (isDone)
            transaction.GetOrCreateTree(TreeNames.ContentUploads).Delete(ContentRecord.IdKey(uploadId));
        return isDone;
    }

    /// <summary>
    /// Drops imported contents without attachments, a limited number per step, starting at a hash; returns the hash at which to
    /// continue, null after the last.
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
    /// Finds the last chunk: from the end, since an upload that is dropped in steps keeps its first chunks until the last step.
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
