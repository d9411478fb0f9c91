using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>A copy of a document, so that it outlives its snapshot.</summary>
internal sealed record IncludedDocument(
    string Id, byte[] Body, byte[] Metadata, string ChangeVector, string? GuardedChangeVector, string Collection,
    DateTime LastModified)
{
    public static IncludedDocument Of(Document document, string? guardedChangeVector) => new(
        document.IdText(),
        document.Body.ToArray(),
        document.Metadata.ToArray(),
        document.ChangeVector,
        guardedChangeVector,
        document.CollectionName,
        new DateTime(document.LastModifiedTicks, DateTimeKind.Utc));
}
