using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Snapshots;

namespace Treepie.Storage.Transactions;

/// <summary>A published state: all that a reader needs. Immutable.</summary>
internal sealed record Snapshot(long TransactionId, TreeRecord Catalogue, uint NextTreeId, long PageCount)
{
    /// <summary>The system tree, from which <see cref="Named"/> can be read again.</summary>
    public TreeRecord System { get; init; } = TreeRecord.Empty(TreeRecord.SystemId);

    /// <summary>The named snapshots that existed in this state.</summary>
    public NamedSnapshots Named { get; init; } = NamedSnapshots.None;

    /// <summary>
    /// Data derived from this state by readers and kept for later readers. It is dropped with the state, so it never needs
    /// updating.
    /// </summary>
    public Kept Derived { get; } = new();

    private readonly KnownTrees _trees = new();

    /// <summary>Returns the record of a tree or map of this state; null if it does not exist.</summary>
    public TreeRecord? Find(PageStore store, string name)
    {
        if (_trees.Find(name) is { } known)
            return known;
        if (Transactions.Catalogue.Find(store, Catalogue, name) is not { } record)
            return null;
        _trees.Add(name, record);
        return record;
    }

    /// <summary>Holds one object, created by the first reader.</summary>
    internal sealed class Kept
    {
        private object? _value;

        /// <summary>
        /// Returns the shared object of this type, or an unshared new one if the place holds an object of another type.
        /// </summary>
        public T Of<T>()
            where T : class, new()
        {
            if (Volatile.Read(ref _value) is T known)
                return known;
            var made = new T();
            return Interlocked.CompareExchange(ref _value, made, null) is null ? made : Volatile.Read(ref _value) as T ?? made;
        }
    }
}
