using System.Diagnostics;

namespace Treepie.Indexing.Terms;

/// <summary>
/// What the index keeps of an entry: its key, and everything it put into dictionaries, so that it can be taken out again
/// exactly. Read in place, in three parts that lie apart (see EntryBlock): neighbours have the same heads.
/// <code>
/// key
/// heads: of each group field · 8 + kind (varint)
/// items of the groups one after the other, by kind
///   TERMS   (0)  count (varint), each: length (varint), stored form of the term
///   NUMBERS (1)  count (varint), each: a CompactNumber; its text form is a term too and not repeated
///   NULL    (2)  nothing: the field has an explicit null
///   KEPT    (3)  0: the field has values that its own trees keep (spatial)
///   WORDS   (4)  full text: count (varint), WordNumbers, to the end of a byte
///   COLUMN  (5)  nothing: the field has one value, its sort value, which is a term or a number
/// </code>
/// A field that is named by any group exists in the entry. A reader sees words as terms, and values of columns as what they are:
/// they are looked up as they are asked for.
/// </summary>
internal ref struct EntryRecord
{
    private readonly IEntrySource source;
    private readonly long id;
    private ReadOnlySpan<byte> heads;
    private ReadOnlySpan<byte> rest;
    private ReadOnlySpan<byte> column;
    private BitReader words;
    private long lastWord;
    private int itemsLeft;
    private EntryGroup kind;

    /// <param name="id">The entry.</param>
    /// <param name="key">Its key.</param>
    /// <param name="heads">Heads of its groups.</param>
    /// <param name="items">Their items.</param>
    /// <param name="source">What they refer to.</param>
    public EntryRecord(long id, ReadOnlySpan<byte> key, ReadOnlySpan<byte> heads, ReadOnlySpan<byte> items, IEntrySource source)
    {
        this.source = source;
        this.id = id;
        this.heads = heads;
        rest = items;
        Key = key;
    }

    public ReadOnlySpan<byte> Key { get; }

    public int Field { get; private set; }

    /// <summary>What the items of the group are: terms, numbers, or none.</summary>
    public EntryGroup Group { get; private set; }

    /// <summary>Goes to the next group.</summary>
    public bool MoveNextGroup()
    {
        Debug.Assert(itemsLeft == 0, "the items of a group are read before the next group");
        if (heads.IsEmpty)
            return false;

        int head = Varint.Read(ref heads);
        Field = head >> 3;
        Group = kind = (EntryGroup)(head & 7);
        switch (kind)
        {
            case EntryGroup.Null:
                itemsLeft = 0;
                break;
            case EntryGroup.Column:
                itemsLeft = 1;
                column = source.SortValue(Field, id, out bool isNumber);
                Group = isNumber ? EntryGroup.Numbers : EntryGroup.Terms;
                break;
            case EntryGroup.Words:
                itemsLeft = Varint.Read(ref rest);
                words = new BitReader(rest);
                lastWord = -1;
                Group = EntryGroup.Terms;
                break;
            default:
                itemsLeft = Varint.Read(ref rest);
                break;
        }

        return true;
    }

    /// <summary>Reads the next item of the group; it lives until the next one is read.</summary>
    public bool MoveNextItem(out ReadOnlySpan<byte> item)
    {
        item = default;
        if (itemsLeft == 0)
            return false;

        itemsLeft--;
        switch (kind)
        {
            case EntryGroup.Column:
                item = column;
                break;
            case EntryGroup.Numbers:
                CompactNumber.Read(ref rest, source.NumberRoom);
                item = source.NumberRoom;
                break;
            case EntryGroup.Words:
                lastWord = WordNumbers.ReadNext(ref words, lastWord);
                item = source.Word(Field, lastWord);
                if (itemsLeft == 0)
                    rest = rest[words.Bytes..];
                break;
            default:
                int length = Varint.Read(ref rest);
                item = rest[..length];
                rest = rest[length..];
                break;
        }

        return true;
    }

    /// <summary>Passes the items of the group without looking up what they name.</summary>
    public void PassItems()
    {
        if (kind != EntryGroup.Words)
        {
            while (MoveNextItem(out _))
            {
            }

            return;
        }

        for (; itemsLeft > 0; itemsLeft--)
            lastWord = WordNumbers.ReadNext(ref words, lastWord);
        rest = rest[words.Bytes..];
    }

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
    Column = 5,
}
