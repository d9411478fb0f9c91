using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>The state of a document when a session read or saved it. Immutable; outlives the snapshot.</summary>
internal sealed record DocumentCopy
{
    private static readonly byte[] _noMetadata = "{}"u8.ToArray();

    private readonly ChangeVectors? _changeVectors; // set for a document that was read: few change vectors are needed
    private readonly long _etag;
    private string? _changeVector;

    /// <summary>Creates the copy of a document that was saved.</summary>
    public DocumentCopy(string changeVector) => _changeVector = changeVector;

    private DocumentCopy(Document document) =>
        (_changeVectors, _etag) = (document.Snapshot.ChangeVectors, document.Etag);

    public string ChangeVector => _changeVector ??= _changeVectors?.Format(_etag) ?? "";

    /// <summary>
    /// In a cluster-wide session, the change vector with the index of the document's atomic guard; otherwise null.
    /// </summary>
    public string? GuardedChangeVector { get; init; }

    public required string Collection { get; init; }

    public DateTime LastModified { get; init; }

    /// <summary>The JSON without its metadata.</summary>
    public required byte[] Body { get; init; }

    public byte[] Metadata { get; init; } = _noMetadata;

    /// <summary>Copies a document that was read.</summary>
    public static DocumentCopy Of(Document document, string? guardedChangeVector) => new(document)
    {
        GuardedChangeVector = guardedChangeVector,
        Collection = document.CollectionName,
        LastModified = new DateTime(document.LastModifiedTicks, DateTimeKind.Utc),
        Body = document.Body.ToArray(),
        Metadata = document.Metadata is { Length: > 2 } metadata ? metadata.ToArray() : _noMetadata,
    };

    /// <summary>Returns a copy with the change vector after a change of related data; the guard is unchanged.</summary>
    public DocumentCopy At(string changeVector) => this with
    {
        _changeVector = changeVector,
        GuardedChangeVector = GuardedChangeVector is null
            ? null
            : AtomicGuard.ChangeVector(changeVector, AtomicGuard.IndexIn(GuardedChangeVector)),
    };
}
