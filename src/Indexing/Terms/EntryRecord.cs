using System.Diagnostics;

namespace Treepie.Indexing.Terms;

/// <summary>
/// The stored form of an index entry: its key and everything it added to dictionaries, so that exactly that can be removed
/// again. It is read in place, in three parts that are stored apart (see EntryBlock), because neighbouring entries often have
/// the same heads.
/// <code>
/// key
/// heads: for each group, field · 8 + kind (varint)
/// items of the groups, one group after another, by kind
///   TERMS   (0)  count (varint), each: length (varint), stored form of the term
///   NUMBERS (1)  count (varint), each: a CompactNumber; its text form is also a term and is not repeated
///   NULL    (2)  nothing: the field has an explicit null
///   KEPT    (3)  0: the values of the field are in separate trees (spatial)
///   WORDS   (4)  full text: count (varint), WordNumbers, padded to a whole byte
///   COLUMN  (5)  nothing: the only value of the field is its sort value, a term or a number
/// </code>
/// A field with at least one group exists in the entry. The reader presents words as terms and column values as terms or
/// numbers, and looks each up when it is read. Invariants:
/// 1. The items of a group are read or skipped before the next group.
/// 2. Words of a group ascend.
/// </summary>
internal ref struct EntryRecord
{
    private readonly IEntrySource _source;
    private readonly long _id;
    private ReadOnlySpan<byte> _heads;
    private ReadOnlySpan<byte> _rest;
    private ReadOnlySpan<byte> _column;
    private BitReader _words;
    private long _lastWord;
    private int _itemsLeft;
    private EntryGroup _kind;

    /// <param name="id">The entry.</param>
    /// <param name="key">Its key.</param>
    /// <param name="heads">The heads of its groups.</param>
    /// <param name="items">The items of its groups.</param>
    /// <param name="source">Resolves words and sort values.</param>
    public EntryRecord(long id, ReadOnlySpan<byte> key, ReadOnlySpan<byte> heads, ReadOnlySpan<byte> items, IEntrySource source)
    {
        _source = source;
        _id = id;
        _heads = heads;
        _rest = items;
        Key = key;
    }

    public ReadOnlySpan<byte> Key { get; }

    public int Field { get; private set; }

    /// <summary>The kind of the items of the group as presented: terms or numbers, or a kind without items.</summary>
    public EntryGroup Group { get; private set; }

    /// <summary>Moves to the next group.</summary>
    public bool MoveNextGroup()
    {
        Debug.Assert(_itemsLeft == 0, "1: the items of a group are read before the next group");
        if (_heads.IsEmpty)
            return false;

        int head = Varint.Read(ref _heads);
        Field = head >> 3;
        Group = _kind = (EntryGroup)(head & 7);
        switch (_kind)
        {
            case EntryGroup.Null:
                _itemsLeft = 0;
                break;
            case EntryGroup.Column:
                _itemsLeft = 1;
                _column = _source.SortValue(Field, _id, out bool isNumber);
                Group = isNumber ? EntryGroup.Numbers : EntryGroup.Terms;
                break;
            case EntryGroup.Words:
                _itemsLeft = Varint.Read(ref _rest);
                _words = new BitReader(_rest);
                _lastWord = -1;
                Group = EntryGroup.Terms;
                break;
            default:
                _itemsLeft = Varint.Read(ref _rest);
                break;
        }

        return true;
    }

    /// <summary>Reads the next item of the group; it is valid until the next read.</summary>
    public bool MoveNextItem(out ReadOnlySpan<byte> item)
    {
        item = default;
        if (_itemsLeft == 0)
            return false;

        _itemsLeft--;
        switch (_kind)
        {
            case EntryGroup.Column:
                item = _column;
                break;
            case EntryGroup.Numbers:
                CompactNumber.Read(ref _rest, _source.NumberRoom);
                item = _source.NumberRoom;
                break;
            case EntryGroup.Words:
                long before = _lastWord;
                _lastWord = WordNumbers.ReadNext(ref _words, _lastWord);
                Debug.Assert(_lastWord > before, "2: words ascend");
                item = _source.Word(Field, _lastWord);
                if (_itemsLeft == 0)
                    _rest = _rest[_words.Bytes..];
                break;
            default:
                int length = Varint.Read(ref _rest);
                item = _rest[..length];
                _rest = _rest[length..];
                break;
        }

        return true;
    }

    /// <summary>Skips the items of the group without looking them up.</summary>
    public void PassItems()
    {
        if (_kind != EntryGroup.Words)
        {
            while (MoveNextItem(out _))
            {
            }

            return;
        }

        for (; _itemsLeft > 0; _itemsLeft--)
            _lastWord = WordNumbers.ReadNext(ref _words, _lastWord);
        _rest = _rest[_words.Bytes..];
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
