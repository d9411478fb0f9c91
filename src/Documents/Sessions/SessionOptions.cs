using System.Text.Json;

namespace Treepie.Sessions;

/// <summary>Options of a session. Immutable; one instance can be shared by any number of sessions.</summary>
public sealed record SessionOptions
{
    /// <summary>
    /// The serializer options. Trimmed and AOT-compiled programs pass <c>MyContext.Default.Options</c> of a source-generated
    /// context that lists every stored type. <see cref="JsonSerializerOptions.MaxDepth"/> (64 by default) limits the nesting of
    /// documents that can be loaded.
    /// </summary>
    public required JsonSerializerOptions Json { get; init; }

    /// <summary>
    /// Makes every save fail if a document has changed since it was loaded, or if a new document exists already. If false, the
    /// last write wins, unless a change vector was given.
    /// </summary>
    public bool UseOptimisticConcurrency { get; init; }

    /// <summary>
    /// Makes every save verify that each document which the session loaded, or found not to exist, is still in that state, even
    /// if the session does not change it. Queries are not verified. Implies <see cref="UseOptimisticConcurrency"/>.
    /// </summary>
    public bool ChecksLoads { get; init; }

    /// <summary>Whether the session reads one snapshot, and verifies all that it has read.</summary>
    internal bool IsTransaction { get; init; }

    /// <summary>
    /// Makes saves keep members of a document that the entity's type does not have, and the JSON spelling of unchanged values.
    /// Default: true. If false, the document becomes exactly what the type serializes to.
    /// </summary>
    public bool PreserveUnknownProperties { get; init; } = true;

    /// <summary>
    /// Makes queries return immediately from what their index has processed. If false, the default, queries see every
    /// commit acknowledged before they started: documents that the index has not processed yet are indexed in memory for the
    /// query.
    /// </summary>
    public bool AllowStale { get; init; }

    /// <summary>
    /// Makes saves cluster-wide: a save fails as a whole if a compare-exchange value has changed, or if another cluster-wide save
    /// has written one of its documents since it was loaded.
    /// </summary>
    public bool IsClusterWide { get; init; }

    /// <summary>Returns the collection of a type. Null: the plural of its name, such as <c>Users</c> for <c>User</c>.</summary>
    public Func<Type, string>? CollectionOf { get; init; }

    /// <summary>
    /// The maximum number of documents a session tracks at a time. Default: 100,000. For more, use a bulk insert or several
    /// sessions.
    /// </summary>
    public int MaxTrackedDocuments { get; init; } = 100_000;
}
