using System.Text;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>The catalogue: a tree that maps tree names (UTF-8) to their <see cref="TreeRecord"/>.</summary>
internal static class Catalogue
{
    /// <summary>Longest name whose key is encoded on the stack; a char takes up to three bytes of UTF-8.</summary>
    private const int MaxStackChars = 80;

    /// <summary>Returns the key of a name; throws <see cref="ArgumentException"/> if it is too long.</summary>
    public static byte[] KeyOf(string name)
    {
        byte[] key = Encoding.UTF8.GetBytes(name);
        return key.Length <= Tree.MaxKeyBytes
            ? key
            : throw new ArgumentException(
                $"A tree's name has at most {Tree.MaxKeyBytes} bytes; this one has {key.Length}.", nameof(name));
    }

    /// <summary>Size in bytes of the buffer to pass to <see cref="KeyOf(string, Span{byte})"/>.</summary>
    public const int StackBytes = MaxStackChars * 3;

    /// <summary>Like <see cref="KeyOf(string)"/>, but uses <paramref name="room"/> if the key fits into it.</summary>
    public static ReadOnlySpan<byte> KeyOf(string name, Span<byte> room) =>
        Encoding.UTF8.TryGetBytes(name, room, out int length) ? room[..length] : KeyOf(name);

    /// <summary>
    /// Returns the record of a name, or null if there is none. Does not allocate for names of ordinary length.
    /// </summary>
    public static TreeRecord? Find(PageStore store, in TreeRecord catalogue, string name)
    {
        Span<byte> key = name.Length <= MaxStackChars ? stackalloc byte[StackBytes] : new byte[Tree.MaxKeyBytes];
        return Encoding.UTF8.TryGetBytes(name, key, out int length)
            && Tree.TryGet(store, catalogue, key[..length], out ReadOnlySpan<byte> value)
            ? ReadRecord(store, name, value)
            : null;
    }

    /// <summary>Parses a catalogue value; throws <see cref="CorruptionException"/> if it is not a valid record.</summary>
    public static TreeRecord ReadRecord(PageStore store, string name, ReadOnlySpan<byte> value) =>
        TreeRecord.FindFault(value) is { } fault
            ? throw store.CorruptTree(name, fault)
            : TreeRecord.Read(value);

    /// <summary>Returns the names of all trees of a kind.</summary>
    public static List<string> ReadNames(PageStore store, TreeRecord catalogue, TreeKind kind)
    {
        var names = new List<string>();
        using Cursor cursor = new Tree(store, "", catalogue, null).OpenCursor();
        for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
        {
            string name = Encoding.UTF8.GetString(cursor.Key);
            if (ReadRecord(store, name, cursor.Value).Kind == kind)
                names.Add(name);
        }

        return names;
    }
}
