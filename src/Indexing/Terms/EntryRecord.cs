using System.Diagnostics;

namespace Treepie.Indexing.Terms;

/// <summary>
/// What the index keeps of an entry: its key, and everything it put into dictionaries, so that it can be taken out again
/// exactly. Read in place.
/// <code>
/// key length (varint), key
/// then groups until the end: field · 8 + kind (varint), and by kind
///   TERMS   (0)  count (varint), each: length (varint), stored form of the term
///   NUMBERS (1)  count (varint), each: a CompactNumber; its text form is a term too and not repeated
///   NULL    (2)  nothing: the field has an explicit null
///   KEPT    (3)  0: the field has values that its own trees keep (spatial)
///   WORDS   (4)  full text: count (varint), each (varint): number of the word less that of the word before, ascending
/// </code>
/// A field that is named by any group exists in the entry. A reader sees words as terms: their numbers are looked up as they are asked for.
/// </summary>
internal ref struct EntryRecord
{
    private readonly IEntrySource? source;
    private ReadOnlySpan<byte> rest;
    private long lastWord;
    private int itemsLeft;
    private bool isWords;

    /// <param name="record">The record.</param>
    /// <param name="source">What it refers to; null where items are not asked for.</param>
    public EntryRecord(ReadOnlySpan<byte> record, IEntrySource? source = null)
    {
        this.source = source;
        rest = record;
        int keyLength = Varint.Read(ref rest);
        Key = rest[..keyLength];
        rest = rest[keyLength..];
    }

    public ReadOnlySpan<byte> Key { get; }

    public int Field { get; private set; }

    /// <summary>What the items of the group are; words are terms.</summary>
    public EntryGroup Group { get; private set; }

    /// <summary>Goes to the next group.</summary>
    public bool MoveNextGroup()
    {
        Debug.Assert(itemsLeft == 0, "the items of a group are read before the next group");
        if (rest.IsEmpty)
            return false;

        int head = Varint.Read(ref rest);
        Field = head >> 3;
        Group = (EntryGroup)(head & 7);
        isWords = Group == EntryGroup.Words;
        if (isWords)
            Group = EntryGroup.Terms;
        lastWord = 0;
        itemsLeft = Group == EntryGroup.Null ? 0 : Varint.Read(ref rest);
        return true;
    }

    /// <summary>Reads the next item of the group; it lives until the next one is read.</summary>
    public bool MoveNextItem(out ReadOnlySpan<byte> item)
    {
        if (itemsLeft == 0)
        {
            item = default;
            return false;
        }

        Debug.Assert(source is not null, "who asks for items has said what they refer to");
        itemsLeft--;
        if (Group == EntryGroup.Numbers)
        {
            CompactNumber.Read(ref rest, source.NumberRoom);
            item = source.NumberRoom;
        }
        else if (isWords)
        {
            lastWord += Varint.ReadLong(ref rest);
            item = source.Word(Field, lastWord);
        }
        else
        {
            int length = Varint.Read(ref rest);
            item = rest[..length];
            rest = rest[length..];
        }

        return true;
    }

    /// <summary>All groups of a record, as they stand.</summary>
    public static ReadOnlySpan<byte> GroupsOf(ReadOnlySpan<byte> record) => new EntryRecord(record).rest;

    public static int GroupHead(int field, EntryGroup group) => checked((field * 8) + (int)group);
}

/// <summary>Kinds of groups of an <see cref="EntryRecord"/>.</summary>
internal enum EntryGroup
{
    Terms = 0,
    Numbers = 1,
    Null = 2,
    Kept = 3,
    Words = 4,
}
