using System.Text;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>The tree of trees: name in UTF-8 → <see cref="TreeRecord"/>.</summary>
internal static class Catalogue
{
    /// <summary>Longest name whose key is made on the stack; a char takes up to three bytes of UTF-8.</summary>
    private const int MaxStackChars = 80;

    /// <summary>The key of a name; throws where it is too long.</summary>
    public static byte[] KeyOf(string name)
    {
        byte[] key = Encoding.UTF8.GetBytes(name);
        return key.Length <= Tree.MaxKeyBytes
            ? key
            : throw new ArgumentException(
                $"A tree's name has at most {Tree.MaxKeyBytes} bytes; this one has {key.Length}.", nameof(name));
    }

    /// <summary>Bytes that <see cref="KeyOf(string, Span{byte})"/> wants.</summary>
    public const int StackBytes = MaxStackChars * 3;

    /// <summary>As <see cref="KeyOf(string)"/>, in <paramref name="room"/> where the name has an ordinary length.</summary>
    public static ReadOnlySpan<byte> KeyOf(string name, Span<byte> room) =>
        Encoding.UTF8.TryGetBytes(name, room, out int length) ? room[..length] : KeyOf(name);

    /// <summary>The record of a name, or null. Allocates nothing for names of ordinary length.</summary>
    public static TreeRecord? Find(PageStore store, in TreeRecord catalogue, string name)
    {
        Span<byte> key = name.Length <= MaxStackChars ? stackalloc byte[StackBytes] : new byte[Tree.MaxKeyBytes];
        return Encoding.UTF8.TryGetBytes(name, key, out int length)
            && Tree.TryGet(store, catalogue, key[..length], out ReadOnlySpan<byte> value)
            ? ReadRecord(store, name, value)
            : null;
    }

    /// <summary>
    /// The record in a value of the catalogue; throws <see cref="CorruptionException"/> for what cannot be one.
    /// </summary>
    public static TreeRecord ReadRecord(PageStore store, string name, ReadOnlySpan<byte> value) =>
        TreeRecord.FindFault(value) is { } fault
            ? throw store.CorruptTree(name, fault)
            : TreeRecord.Read(value);

    /// <summary>The names of all trees, or of all maps.</summary>
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
