using System.Buffers.Binary;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Catalogue;

/// <summary>
/// Fields that were added to an index with entries, and how far each group of them is: its entries up to that etag have the
/// fields, later ones have not. Groups are filled one after the other, in the order of the schema; the record goes with the last.
/// In tree <c>index</c>: count (varint), then of each group first field, end (varints), etag (8, little-endian).
/// </summary>
/// <remarks>
/// Invariants: (1) groups follow one another and end with the schema; (2) entries are only given the fields in front of the first
/// group, so that a group's lists grow in the order of entry ids, whichever way its entries come.
/// </remarks>
internal static class BackfillRecord
{
    private static ReadOnlySpan<byte> Key => "backfill"u8;

    public static List<Backfill> Read(Tree? index)
    {
        var groups = new List<Backfill>();
        if (index is null || !index.TryGet(Key, out ReadOnlySpan<byte> value))
            return groups;

        int count = Varint.Read(ref value);
        for (int i = 0; i < count; i++)
        {
            int first = Varint.Read(ref value);
            int end = Varint.Read(ref value);
            groups.Add(new Backfill(first, end, BinaryPrimitives.ReadInt64LittleEndian(value)));
            value = value[sizeof(long)..];
        }

        return groups;
    }

    public static void Write(Tree index, List<Backfill> groups)
    {
        if (groups.Count == 0)
        {
            index.Delete(Key);
            return;
        }

        var record = new ByteArena();
        record.AddVarint(groups.Count);
        byte[] etag = new byte[sizeof(long)];
        foreach (Backfill group in groups)
        {
            record.AddVarint(group.FirstField);
            record.AddVarint(group.EndField);
            BinaryPrimitives.WriteInt64LittleEndian(etag, group.Etag);
            record.Add(etag);
        }

        index.Put(Key, record.Slice(0, record.Length));
    }
}
