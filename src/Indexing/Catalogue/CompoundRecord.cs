using System.Buffers.Binary;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Catalogue;

/// <summary>
/// The compound keys of an index, and the progress of building each. In tree <c>index</c>: count (varint), then per key the
/// equality field, the order field (varints), the order (1), the next entry to be added (8, little-endian; -1 when
/// complete).
/// </summary>
/// <remarks>
/// Invariants: 1. The key's tree contains the entries before the next one, and all that were added after the key was. 2. It
/// contains no removed entry. 3. Its fields are fully backfilled. 4. The next entry only grows, until complete.
/// </remarks>
/// <param name="Equal">Number of the equality field.</param>
/// <param name="Order">Number of the order field.</param>
/// <param name="Kind">How the values of the order field are compared.</param>
/// <param name="NextEntryId">The next entry to be added; -1 if the key is complete.</param>
internal readonly record struct CompoundRecord(int Equal, int Order, CompoundOrder Kind, long NextEntryId)
{
    /// <summary>Value of <see cref="NextEntryId"/> once all entries are added.</summary>
    public const long Complete = -1;

    private static ReadOnlySpan<byte> Key => "compounds"u8;

    public bool IsComplete => NextEntryId == Complete;

    public static List<CompoundRecord> Read(Tree? index)
    {
        var compounds = new List<CompoundRecord>();
        if (index is null || !index.TryGet(Key, out ReadOnlySpan<byte> value))
            return compounds;

        int count = RecordReader.Count(ref value, 3 + sizeof(long));
        for (int i = 0; i < count; i++)
        {
            int equal = Varint.Read(ref value), order = Varint.Read(ref value);
            ReadOnlySpan<byte> rest = RecordReader.Take(ref value, 1 + sizeof(long));
            compounds.Add(
                new CompoundRecord(equal, order, (CompoundOrder)rest[0], BinaryPrimitives.ReadInt64LittleEndian(rest[1..])));
        }

        return compounds;
    }

    public static void Write(Tree index, List<CompoundRecord> compounds)
    {
        var record = new ByteArena();
        record.AddVarint(compounds.Count);
        Span<byte> rest = stackalloc byte[1 + sizeof(long)];
        foreach (CompoundRecord compound in compounds)
        {
            record.AddVarint(compound.Equal);
            record.AddVarint(compound.Order);
            rest[0] = (byte)compound.Kind;
            BinaryPrimitives.WriteInt64LittleEndian(rest[1..], compound.NextEntryId);
            record.Add(rest);
        }

        index.Put(Key, record.Slice(0, record.Length));
    }
}
