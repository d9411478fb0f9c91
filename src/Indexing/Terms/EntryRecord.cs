using System.Diagnostics;

namespace Treepie.Indexing.Terms;

/// <summary>
/// What the index keeps of an entry: its key, and everything it put into dictionaries, so that it can be taken out again
/// exactly. Read in place.
/// <code>
/// key length (varint), key
/// then groups until the end: field · 4 + kind (varint), and by kind
///   TERMS   (0)  count (varint), each: length (varint), stored form of the term
///   NUMBERS (1)  count (varint), each: a NumberKey of 10 bytes; its text form is a term too and not repeated
///   NULL    (2)  nothing: the field has an explicit null
///   KEPT    (3)  0: the field has values that its own trees keep (spatial)
/// </code>
/// A field that is named by any group exists in the entry.
/// </summary>
internal ref struct EntryRecord
{
    private ReadOnlySpan<byte> rest;
    private int itemsLeft;

    public EntryRecord(ReadOnlySpan<byte> record)
    {
        rest = record;
        int keyLength = Varint.Read(ref rest);
        Key = rest[..keyLength];
        rest = rest[keyLength..];
    }

    public ReadOnlySpan<byte> Key { get; }

    public int Field { get; private set; }

    public EntryGroup Group { get; private set; }

    /// <summary>Goes to the next group.</summary>
    public bool MoveNextGroup()
    {
        Debug.Assert(itemsLeft == 0, "the items of a group are read before the next group");
        if (rest.IsEmpty)
            return false;

        int head = Varint.Read(ref rest);
        Field = head >> 2;
        Group = (EntryGroup)(head & 3);
        itemsLeft = Group == EntryGroup.Null ? 0 : Varint.Read(ref rest);
        return true;
    }

    /// <summary>Reads the next item of the group.</summary>
    public bool MoveNextItem(out ReadOnlySpan<byte> item)
    {
        if (itemsLeft == 0)
        {
            item = default;
            return false;
        }

        itemsLeft--;
        int length = Group == EntryGroup.Numbers ? NumberKey.Bytes : Varint.Read(ref rest);
        item = rest[..length];
        rest = rest[length..];
        return true;
    }

    /// <summary>All groups of a record, as they stand.</summary>
    public static ReadOnlySpan<byte> GroupsOf(ReadOnlySpan<byte> record) => new EntryRecord(record).rest;

    public static int GroupHead(int field, EntryGroup group) => checked((field * 4) + (int)group);
}

/// <summary>Kinds of groups of an <see cref="EntryRecord"/>.</summary>
internal enum EntryGroup
{
    Terms = 0,
    Numbers = 1,
    Null = 2,
    Kept = 3,
}
