using System.Diagnostics;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Terms;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Columns;

/// <summary>
/// Finds the records of entries, the words to which they refer by number, and the values in columns. One thread at a time;
/// spans are valid until the next entry is read.
/// </summary>
/// <param name="tree">Returns a tree by name; null if it does not exist.</param>
internal sealed class EntryReader(Func<string, Tree?> tree) : IEntrySource
{
    private readonly Cursor? _cursor = tree(TreeNames.Entries)?.OpenCursor();
    private readonly byte[] _keyRoom = new byte[IndexBatch.MaxKeyBytes];
    private readonly byte[] _numberRoom = new byte[NumberKey.Bytes];
    private readonly Dictionary<int, Tree?> _words = [];
    private readonly Dictionary<int, SortColumn> _columns = [];
    private EntryPlace? _place;
    private byte[]? _text;

    public Span<byte> NumberRoom => _numberRoom;

    /// <summary>Resets the reader as if it had just been opened, so that reads do not depend on earlier ones.</summary>
    public void Reset()
    {
        _cursor?.Reset();
        _place = null;
        _columns.Clear();
    }

    /// <summary>Reads the record of an entry; false if there is none.</summary>
    public bool TryGet(long id, out EntryRecord record)
    {
        record = default;
        if (_cursor is null)
            return false;

        // An entry soon after the one read last is probably in the same block.
        EntryPlace last = _place ?? default;
        bool goesOn = _place is not null && EntryBlock.IsNear(last.Id, id) && _cursor.IsValid;
        _place = null;
        if (!goesOn && !Seek(_cursor, id))
            return false;

        var block = new EntryBlock(_cursor.Value, goesOn ? last.FirstId : EntryKey.Read(_cursor.Key), _keyRoom);
        if (goesOn)
            block.Resume(last);
        if (!block.MoveTo(id))
            return goesOn && TryGet(id, out record); // now from the block that covers it

        Debug.Assert(block.Id == id, "the block is on the entry");
        _place = block.Place;
        record = new EntryRecord(id, _keyRoom.AsSpan(0, block.Key.Length), block.Heads, block.Items, this);
        return true;
    }

    /// <summary>Moves to the block that covers an entry; false if all are after it.</summary>
    private static bool Seek(Cursor cursor, long id)
    {
        Span<byte> above = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(above, id + 1);
        return cursor.SeekBefore(above);
    }

    /// <summary>Reads the record of an entry that must exist.</summary>
    /// <exception cref="CorruptionException">There is no such entry.</exception>
    public EntryRecord Get(long id) => TryGet(id, out EntryRecord record)
        ? record
        : throw new CorruptionException(
            $"The index tree '{TreeNames.Entries}' misses entry {id}. Reset the index to build it again.");

    public ReadOnlySpan<byte> Word(int field, long number)
    {
        if (!_words.TryGetValue(field, out Tree? named))
            _words.Add(field, named = tree(TreeNames.Words(field)));
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, number);
        return named is not null && named.TryGet(key, out ReadOnlySpan<byte> form)
            ? form
            : throw new CorruptionException(
                $"The index tree '{TreeNames.Words(field)}' misses word {number} that entries name. Reset the index to build it "
                    + $"again.");
    }

    /// <summary>Returns the chunk with the sort value of an entry, and the entry's slot in it.</summary>
    public SortChunk SortChunkOf(int field, long id, out int slot)
    {
        if (!_columns.TryGetValue(field, out SortColumn? column))
            _columns.Add(
                field,
                column = new SortColumn(
                    new ChunkCursor(tree(TreeNames.Sort(field))), Open(TreeNames.SortTexts(field)),
                    Open(TreeNames.SortNumbers(field))));
        slot = (int)(id & (SortChunk.Entries - 1));
        return column.Read(id >> SortChunk.EntryBits);
    }

    public ReadOnlySpan<byte> SortValue(int field, long id, out bool isNumber)
    {
        SortChunk chunk = SortChunkOf(field, id, out int slot);
        SortTag tag = chunk.TagAt(slot);
        isNumber = tag == SortTag.Number;
        if (isNumber)
            return chunk.NumberAt(slot, _numberRoom);
        _text ??= new byte[SortText.MaxBytes];
        return tag == SortTag.Text
            ? _text.AsSpan(0, SortText.Copy(chunk, slot, _text))
            : throw new CorruptionException(
                $"The index tree '{TreeNames.Sort(field)}' misses the value of entry {id}. Reset the index to build it again.");
    }

    private ChunkCursor? Open(string name) => tree(name) is { } chunks ? new ChunkCursor(chunks) : null;
}
