using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Catalogue;

/// <summary>
/// The groups of fields that were added to an index with entries, and the progress of each: entries up to its etag have the
/// fields, later ones do not yet. Groups are backfilled one after another, in the order of the schema; the record is deleted
/// with the last group. In tree <c>index</c>: count (varint), then per group first field, end (varints), etag (8,
/// little-endian).
/// </summary>
/// <remarks>
/// Invariants: 1. Groups are contiguous and end with the schema. 2. New entries get only the fields before the first group, so
/// that a group's lists grow in the order of entry ids, regardless of the source of its entries.
/// </remarks>
internal static class BackfillRecord
{
    private static ReadOnlySpan<byte> Key => "backfill"u8;

    public static List<Backfill> Read(Tree? index)
    {
        var groups = new List<Backfill>();
        if (index is null || !index.TryGet(Key, out ReadOnlySpan<byte> value))
            return groups;

        int count = RecordReader.Count(ref value, 2 + sizeof(long));
        for (int i = 0; i < count; i++)
        {
            int first = Varint.Read(ref value);
            int end = Varint.Read(ref value);
            long etag = BinaryPrimitives.ReadInt64LittleEndian(RecordReader.Take(ref value, sizeof(long)));
            groups.Add(new Backfill(first, end, etag));
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

        Debug.Assert(
            groups.Zip(groups.Skip(1)).All(static pair => pair.First.EndField == pair.Second.FirstField),
            "1: groups are contiguous");
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
