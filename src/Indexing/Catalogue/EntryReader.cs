using Treepie.Indexing.Terms;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Catalogue;

/// <summary>Finds the records of entries, and the words they name by number. One thread at a time; spans live as those of trees do.</summary>
/// <param name="tree">Gives a tree by name; null where it does not exist.</param>
internal sealed class EntryReader(Func<string, Tree?> tree) : IEntrySource
{
    private readonly Cursor? cursor = tree(TreeNames.Entries)?.OpenCursor();
    private readonly byte[] numberRoom = new byte[NumberKey.Bytes];
    private readonly Dictionary<int, Tree?> words = [];

    public Span<byte> NumberRoom => numberRoom;

    /// <summary>The record of an entry; false if there is none.</summary>
    public bool TryGet(long id, out EntryRecord record)
    {
        bool found = TryGetBytes(id, out ReadOnlySpan<byte> bytes);
        record = found ? new EntryRecord(bytes, this) : default;
        return found;
    }

    /// <summary>The record of an entry that others name.</summary>
    /// <exception cref="CorruptionException">There is none.</exception>
    public EntryRecord Get(long id) => TryGet(id, out EntryRecord record)
        ? record
        : throw new CorruptionException($"The index tree '{TreeNames.Entries}' misses entry {id}. Reset the index to build it again.");

    /// <summary>The record of an entry as it lies there.</summary>
    public bool TryGetBytes(long id, out ReadOnlySpan<byte> bytes)
    {
        Span<byte> above = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(above, id + 1);
        if (cursor is not null && cursor.SeekBefore(above))
        {
            var block = new EntryBlock(cursor.Value, EntryKey.Read(cursor.Key));
            while (block.MoveNext() && block.Id <= id)
            {
                if (block.Id == id)
                {
                    bytes = block.Record;
                    return true;
                }
            }
        }

        bytes = default;
        return false;
    }

    public ReadOnlySpan<byte> Word(int field, long number)
    {
        if (!words.TryGetValue(field, out Tree? named))
            words.Add(field, named = tree(TreeNames.Words(field)));
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, number);
        return named is not null && named.TryGet(key, out ReadOnlySpan<byte> form)
            ? form
            : throw new CorruptionException($"The index tree '{TreeNames.Words(field)}' misses word {number} that entries name. Reset the index to build it again.");
    }
}
