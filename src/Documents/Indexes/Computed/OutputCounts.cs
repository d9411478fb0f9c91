using System.Buffers.Binary;
using Treepie.Indexes.States;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexes.Computed;

/// <summary>
/// How many entries documents have, of those with more than one. In the tree <c>computed.outputs</c>: folded id → 4 bytes,
/// little-endian.
/// </summary>
internal sealed class OutputCounts
{
    private const string TreeName = "computed.outputs";

    private readonly StateTree _counts;

    private OutputCounts(StateTree counts) => _counts = counts;

    /// <summary>To be changed.</summary>
    public static OutputCounts In(WriteTransaction transaction) =>
        new(new StoredStateTree(transaction.GetOrCreateTree(TreeName)));

    /// <summary>As a reader sees it, to be changed for that reader alone.</summary>
    public static OutputCounts Over(Func<string, Tree?> find) => new(new OverlaidStateTree(find(TreeName)));

    /// <summary>Notes how many a document has now; gives how many it had, 1 where it is not known to have more.</summary>
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
