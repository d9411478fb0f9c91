using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>What a document was when a session read or saved it. Immutable; it outlives the snapshot.</summary>
internal sealed record DocumentCopy
{
    private static readonly byte[] _noMetadata = "{}"u8.ToArray();

    private readonly ChangeVectors? _changeVectors; // of a document that was read: few are asked for their change vector
    private readonly long _etag;
    private string? _changeVector;

    /// <summary>A document that was saved.</summary>
    public DocumentCopy(string changeVector) => _changeVector = changeVector;

    private DocumentCopy(Document document) =>
        (_changeVectors, _etag) = (document.Snapshot.ChangeVectors, document.Etag);

    public string ChangeVector => _changeVector ??= _changeVectors?.Format(_etag) ?? "";

    /// <summary>
    /// In a cluster-wide session the change vector with the index of the document's atomic guard; null in another.
    /// </summary>
    public string? GuardedChangeVector { get; init; }

    public required string Collection { get; init; }

    public DateTime LastModified { get; init; }

    /// <summary>The JSON without its metadata.</summary>
    public required byte[] Body { get; init; }

    public byte[] Metadata { get; init; } = _noMetadata;

    /// <summary>A document that was read.</summary>
    public static DocumentCopy Of(Document document, string? guardedChangeVector) => new(document)
    {
        GuardedChangeVector = guardedChangeVector,
        Collection = document.CollectionName,
        LastModified = new DateTime(document.LastModifiedTicks, DateTimeKind.Utc),
        Body = document.Body.ToArray(),
        Metadata = document.Metadata is { Length: > 2 } metadata ? metadata.ToArray() : _noMetadata,
    };

    /// <summary>The same, at the change vector that something beside the document gave it; its guard stays.</summary>
    public DocumentCopy At(string changeVector) => this with
    {
        _changeVector = changeVector,
        GuardedChangeVector = GuardedChangeVector is null
            ? null
            : AtomicGuard.ChangeVector(changeVector, AtomicGuard.IndexIn(GuardedChangeVector)),
    };
}
