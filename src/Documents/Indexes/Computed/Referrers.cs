using System.Buffers.Binary;
using Treepie.Indexes.States;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexes.Computed;

/// <summary>
/// Which documents refer to what, and the position within a change that concerns many, in the store of the index. All
/// integers are big-endian.
/// <code>
/// TREE                  KEY                                       VALUE
/// computed.referrers    reference (16 bytes), document            empty
/// computed.references   document                                  its references (16 bytes each), ascending
/// computed.position     one byte, 0                               etag of a change (8 bytes), last document mapped again for it
/// </code>
/// Documents are identified by their folded id.
/// </summary>
internal sealed class Referrers(Func<string, Tree?> find)
{
    private const string ReferrersName = "computed.referrers",
        ReferencesName = "computed.references",
        PositionName = "computed.position";

    private static ReadOnlySpan<byte> PositionKey => [0];

    /// <summary>Returns the documents that refer to what changed, in order of their ids, after a given one.</summary>
    public IEnumerable<byte[]> Of(MappedChanges feed, byte[] after) =>
        find(ReferrersName) is { } tree ? Walk(tree, Key(Reference.To(feed), after), after.Length > 0) : [];

    /// <summary>Returns the last document that was mapped again for a change; empty if none was.</summary>
    public byte[] PositionIn(long etag) =>
        find(PositionName) is { } tree
            && tree.TryGet(PositionKey, out ReadOnlySpan<byte> value)
            && BinaryPrimitives.ReadInt64BigEndian(value) == etag ? value[sizeof(long)..].ToArray() : [];

    /// <summary>Writes the current references of documents, and the position within a change.</summary>
    public static void Write(
        WriteTransaction transaction, IReadOnlyDictionary<byte[], UInt128[]> references, (long Etag, byte[] Document)? position)
    {
        var referrers = new StoredStateTree(transaction.GetOrCreateTree(ReferrersName));
        var known = new StoredStateTree(transaction.GetOrCreateTree(ReferencesName));
        foreach ((byte[] document, UInt128[] now) in references)
        {
            UInt128[] before = known.TryGet(document, out ReadOnlySpan<byte> value) ? Decode(value) : [];
            foreach (UInt128 gone in before.Except(now))
                referrers.Delete(Key(gone, document));
            foreach (UInt128 come in now.Except(before))
                referrers.Put(Key(come, document), default);
            if (now.Length > 0)
                known.Put(document, Encode(now));
            else if (before.Length > 0)
                known.Delete(document);
        }

        Tree at = transaction.GetOrCreateTree(PositionName);
        if (position is not { } place)
        {
            at.Delete(PositionKey);
            return;
        }

        byte[] record = new byte[sizeof(long) + place.Document.Length];
        BinaryPrimitives.WriteInt64BigEndian(record, place.Etag);
        place.Document.CopyTo(record, sizeof(long));
        at.Put(PositionKey, record);
    }

    private static IEnumerable<byte[]> Walk(Tree tree, byte[] from, bool isBehind)
    {
        using Cursor cursor = tree.OpenCursor();
        bool more = cursor.Seek(from);
        if (more && isBehind && cursor.Key.SequenceEqual(from))
            more = cursor.MoveNext();
        while (more && cursor.Key.StartsWith(from.AsSpan(0, Reference.Bytes)))
        {
            yield return cursor.Key[Reference.Bytes..].ToArray();
            more = cursor.MoveNext();
        }
    }

    private static byte[] Key(UInt128 reference, byte[] document)
    {
        byte[] key = new byte[Reference.Bytes + document.Length];
        BinaryPrimitives.WriteUInt128BigEndian(key, reference);
        document.CopyTo(key, Reference.Bytes);
        return key;
    }

    private static UInt128[] Decode(ReadOnlySpan<byte> value)
    {
        var references = new UInt128[value.Length / Reference.Bytes];
        for (int i = 0; i < references.Length; i++)
            references[i] = BinaryPrimitives.ReadUInt128BigEndian(value[(i * Reference.Bytes)..]);
        return references;
    }

    private static byte[] Encode(UInt128[] references)
    {
        byte[] value = new byte[references.Length * Reference.Bytes];
        for (int i = 0; i < references.Length; i++)
            BinaryPrimitives.WriteUInt128BigEndian(value.AsSpan(i * Reference.Bytes), references[i]);
        return value;
    }
}
