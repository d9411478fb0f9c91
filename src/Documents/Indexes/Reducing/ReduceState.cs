using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexes.Reducing;

/// <summary>
/// What a reduce remembers between batches, in three trees beside the index in its store. All integers big-endian.
/// <code>
/// TREE            KEY                                      VALUE
/// reduce.sources  document                                 1 byte: 1 if it failed; then the keys of its groups, in order of its results, a length in 1 byte before each
/// reduce.mapped   group, place (16 bytes)                  mapped object
/// reduce.groups   group, level (1 byte), first (8 bytes)   node, see GroupNode
/// </code>
/// The place of a result is a hash of its document and its number among the results of the document.
/// </summary>
internal sealed class ReduceState
{
    private const string SourcesName = "reduce.sources", MappedName = "reduce.mapped", GroupsName = "reduce.groups";

    private ReduceState(StateTree sources, StateTree mapped, StateTree groups)
    {
        Sources = sources;
        Mapped = mapped;
        Groups = groups;
    }

    public StateTree Sources { get; }

    public StateTree Mapped { get; }

    public StateTree Groups { get; }

    /// <summary>The state to be changed.</summary>
    public static ReduceState In(WriteTransaction transaction) => new(
        new StoredStateTree(transaction.GetOrCreateTree(SourcesName)),
        new StoredStateTree(transaction.GetOrCreateTree(MappedName)),
        new StoredStateTree(transaction.GetOrCreateTree(GroupsName)));

    /// <summary>The state as a reader sees it, to be changed for that reader alone.</summary>
    public static ReduceState Over(Func<string, Tree?> find) => new(
        new OverlaidStateTree(find(SourcesName)), new OverlaidStateTree(find(MappedName)),
        new OverlaidStateTree(find(GroupsName)));
}
