using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Catalogue;

/// <summary>
/// Records of entries, several in one value of the tree: a key and a cell for each would take a third of the room. The key is the id of the first entry the block
/// was made for (8 bytes, big-endian); a block holds entries up to the key of the next. Read in place:
/// <code>
/// for each entry, ids ascending: id less the id before, of the first: less the key (varint); bytes of its record (varint); EntryRecord
/// </code>
/// </summary>
/// <param name="bytes">The value.</param>
/// <param name="firstId">The id of the key.</param>
internal ref struct EntryBlock(ReadOnlySpan<byte> bytes, long firstId)
{
    /// <summary>Longest block of more than one entry: four of them fill a leaf.</summary>
    public const int MaxBytes = 1_990;

    private ReadOnlySpan<byte> rest = bytes;

    /// <summary>Id of the entry moved to.</summary>
    public long Id { get; private set; } = firstId;

    /// <summary>Its record.</summary>
    public ReadOnlySpan<byte> Record { get; private set; }

    /// <summary>Goes to the next entry.</summary>
    public bool MoveNext()
    {
        if (rest.IsEmpty)
            return false;

        Id += Varint.ReadLong(ref rest);
        int length = Varint.Read(ref rest);
        Record = rest[..length];
        rest = rest[length..];
        return true;
    }
}
