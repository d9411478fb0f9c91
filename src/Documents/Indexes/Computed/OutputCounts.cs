using System.Buffers.Binary;
using Treepie.Indexes.States;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexes.Computed;

/// <summary>
/// The number of entries of each document that has more than one. Stored in the tree <c>computed.outputs</c>: folded id → 4
/// bytes, little-endian.
/// </summary>
internal sealed class OutputCounts
{
    private const string TreeName = "computed.outputs";

    private readonly StateTree _counts;

    private OutputCounts(StateTree counts) => _counts = counts;

    /// <summary>Opens the counts for writing.</summary>
    public static OutputCounts In(WriteTransaction transaction) =>
        new(new StoredStateTree(transaction.GetOrCreateTree(TreeName)));

    /// <summary>Opens the counts as seen by a reader; changes are visible to that reader only.</summary>
    public static OutputCounts Over(Func<string, Tree?> find) => new(new OverlaidStateTree(find(TreeName)));

    /// <summary>Whether any document of an index has more than one entry.</summary>
    public static bool Any(Func<string, Tree?> find) => find(TreeName) is { Count: > 0 };

    /// <summary>Sets the count of a document; returns the previous one, 1 if none is stored.</summary>
    public int Replace(byte[] document, int count)
    {
        int before = _counts.TryGet(document, out ReadOnlySpan<byte> value) ? BinaryPrimitives.ReadInt32LittleEndian(value) : 1;
        if (count > 1)
        {
            Span<byte> now = stackalloc byte[sizeof(int)];
            BinaryPrimitives.WriteInt32LittleEndian(now, count);
            _counts.Put(document, now);
        }
        else if (before > 1)
        {
            _counts.Delete(document);
        }

        return before;
    }
}
