using Treepie.Storage.Format;
using Treepie.Storage.Snapshots;

namespace Treepie.Storage.Transactions;

/// <summary>A published state: all a reader needs to know. Never changes.</summary>
internal sealed record Snapshot(long TransactionId, TreeRecord Catalogue, uint NextTreeId, long PageCount)
{
    /// <summary>The system tree, from which <see cref="Named"/> can be read again.</summary>
    public TreeRecord System { get; init; } = TreeRecord.Empty(TreeRecord.SystemId);

    /// <summary>The named snapshots there were.</summary>
    public NamedSnapshots Named { get; init; } = NamedSnapshots.None;

    /// <summary>
    /// What readers found out of this state and keep for those who read it next; it goes with the state, so it need never be
    /// brought up to date.
    /// </summary>
    public Kept Derived { get; } = new();

    /// <summary>One object, made by the reader that comes first.</summary>
    internal sealed class Kept
    {
        private object? _value;

        /// <summary>
        /// The object of this type; another, which nobody shares, where the place is taken by one of a different type.
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
