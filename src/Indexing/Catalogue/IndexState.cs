using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Catalogue;

/// <summary>
/// The progress of an index. An index of an unknown format is not read; its owner rebuilds it from the documents. Invariants:
/// 1. No counter decreases, except for the number of entries. 2. There are at most as many entries as ids.
/// <code>
/// OFFSET  SIZE  MEANING
/// 0       4     format version
/// 4       8     etag of the last batch
/// 12      8     next entry id; ids grow and are never reused
/// 20      8     number of entries
/// 28      8     next id of a long list
/// 36      8     next number of a word
/// </code>
/// </summary>
internal sealed class IndexState
{
    private const int FormatVersion = 14;

    /// <summary>Format of indexes whose blocks of entries have no restarts; still readable.</summary>
    private const int WithoutRestarts = 13;

    private const int Bytes = 44;

    public long Etag { get; set; }

    public long NextEntryId { get; set; }

    public long EntryCount { get; set; }

    public long NextListId { get; set; }

    public long NextWord { get; set; }

    private static ReadOnlySpan<byte> Key => "state"u8;

    /// <summary>Reads the state; returns that of an empty index if there is none.</summary>
    public static IndexState Read(Tree? index)
    {
        if (index is null || !index.TryGet(Key, out ReadOnlySpan<byte> value))
            return new IndexState();

        int version = BinaryPrimitives.ReadInt32LittleEndian(RecordReader.Take(ref value, sizeof(int)));
        if (version is not (FormatVersion or WithoutRestarts))
        {
            throw new IndexSchemaException(
                $"The index has format {version}; this version reads formats {WithoutRestarts} and {FormatVersion}. Reset the "
                    + "index to build it again.");
        }

        value = RecordReader.Take(ref value, Bytes - sizeof(int));
        return new IndexState
        {
            Etag = BinaryPrimitives.ReadInt64LittleEndian(value),
            NextEntryId = BinaryPrimitives.ReadInt64LittleEndian(value[8..]),
            EntryCount = BinaryPrimitives.ReadInt64LittleEndian(value[16..]),
            NextListId = BinaryPrimitives.ReadInt64LittleEndian(value[24..]),
            NextWord = BinaryPrimitives.ReadInt64LittleEndian(value[32..]),
        };
    }

    public void Write(Tree index)
    {
        Debug.Assert(EntryCount >= 0 && EntryCount <= NextEntryId, "2: each entry has an id of its own");
        Debug.Assert(NextListId >= 0 && NextWord >= 0, "1: counters start at 0 and grow");
        Span<byte> value = stackalloc byte[Bytes];
        BinaryPrimitives.WriteInt32LittleEndian(value, FormatVersion);
        BinaryPrimitives.WriteInt64LittleEndian(value[4..], Etag);
        BinaryPrimitives.WriteInt64LittleEndian(value[12..], NextEntryId);
        BinaryPrimitives.WriteInt64LittleEndian(value[20..], EntryCount);
        BinaryPrimitives.WriteInt64LittleEndian(value[28..], NextListId);
        BinaryPrimitives.WriteInt64LittleEndian(value[36..], NextWord);
        index.Put(Key, value);
    }
}
