using Treepie.Indexes.States;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexes.Reducing;

/// <summary>
/// The persistent state of a reduce, in three trees in the store of the index. All integers are big-endian.
/// <code>
/// TREE            KEY                                      VALUE
/// reduce.sources  document                                 1 byte: 1 if it failed; then the keys of its groups, in order of its
///                                                          results, each preceded by its length (1 byte)
/// reduce.mapped   group, place (16 bytes)                  mapped object
/// reduce.groups   group, level (1 byte), first (8 bytes)   node, see GroupNode
/// </code>
/// The place of a result is a hash of its document and its number among the results of the document.
/// </summary>
internal sealed class ReduceState
{
    /// <summary>The name of the tree of partial results.</summary>
    public const string GroupsName = "reduce.groups";

    /// <summary>The name of the tree of documents.</summary>
    public const string SourcesName = "reduce.sources";

    private const string MappedName = "reduce.mapped";

    private ReduceState(StateTree sources, StateTree mapped, StateTree groups)
    {
        Sources = sources;
        Mapped = mapped;
        Groups = groups;
    }

    public StateTree Sources { get; }

    public StateTree Mapped { get; }

    public StateTree Groups { get; }

    /// <summary>Returns the group in the key of a node.</summary>
    public static ReadOnlySpan<byte> GroupOf(ReadOnlySpan<byte> nodeKey) => nodeKey[..^(1 + sizeof(ulong))];

    /// <summary>Returns the key of the node with the result of a group.</summary>
    public static byte[] RootKey(byte[] group) => [.. group, 0, 0, 0, 0, 0, 0, 0, 0, 0];

    /// <summary>Opens the state for writing.</summary>
    public static ReduceState In(WriteTransaction transaction) => new(
        new StoredStateTree(transaction.GetOrCreateTree(SourcesName)),
        new StoredStateTree(transaction.GetOrCreateTree(MappedName)),
        new StoredStateTree(transaction.GetOrCreateTree(GroupsName)));

    /// <summary>Opens the state as seen by a reader; changes are visible to that reader only.</summary>
    public static ReduceState Over(Func<string, Tree?> find) => new(
        new OverlaidStateTree(find(SourcesName)), new OverlaidStateTree(find(MappedName)),
        new OverlaidStateTree(find(GroupsName)));
}
