using System.Text.Json;

namespace Treepie.Sessions;

/// <summary>How a session turns objects into documents. Immutable; one instance serves any number of sessions.</summary>
public sealed record SessionOptions
{
    /// <summary>
    /// The serializer: for trimmed and natively compiled programs <c>MyContext.Default.Options</c> of a source-generated context
    /// that names every type stored. Its <see cref="JsonSerializerOptions.MaxDepth"/> (64 unless set) limits what can be loaded.
    /// </summary>
    public required JsonSerializerOptions Json { get; init; }

    /// <summary>
    /// Every save checks that nobody changed a document since it was loaded, and that a new one does not exist yet. Off: the last
    /// writer wins, unless a change vector was given.
    /// </summary>
    public bool UseOptimisticConcurrency { get; init; }

    /// <summary>
    /// Every save checks that each document which the session loaded, or looked for in vain, is as it was then, whether it is
    /// changed or not: what was decided by them still holds. Queries are not checked. Implies
    /// <see cref="UseOptimisticConcurrency"/>.
    /// </summary>
    public bool ChecksLoads { get; init; }

    /// <summary>
    /// Saving an object keeps the members of its document that its type does not have, and the spelling of values it did not
    /// change. Default true; off, the document becomes what the type writes.
    /// </summary>
    public bool PreserveUnknownProperties { get; init; } = true;

    /// <summary>
    /// Queries answer from what their index has seen, at once. Off, as by default, they see every commit that was acknowledged
    /// before they began: what the index has not seen is indexed in memory for the query.
    /// </summary>
    public bool AllowStale { get; init; }

    /// <summary>
    /// Saves are cluster-wide: compare-exchange values that are not as expected refuse the whole save, and no other cluster-wide
    /// save may have written a document since it was loaded.
    /// </summary>
    public bool IsClusterWide { get; init; }

    /// <summary>Names the collection of a type; null: the plural of its name, <c>Users</c> for <c>User</c>.</summary>
    public Func<Type, string>? CollectionOf { get; init; }

    /// <summary>
    /// Most documents a session follows at a time. Default 100,000; use a bulk insert, or several sessions, for more.
    /// </summary>
    public int MaxTrackedDocuments { get; init; } = 100_000;
}
