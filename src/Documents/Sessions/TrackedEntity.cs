using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.Json.Serialization.Metadata;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>An object of a session and the document it was, or will be.</summary>
/// <param name="entity">The object.</param>
/// <param name="type">What is known of its type.</param>
/// <param name="id">The document's id; one that ends in <c>/</c> or <c>|</c> is completed by the save.</param>
internal sealed class TrackedEntity(object entity, EntityType type, string id)
{
    public object Entity { get; } = entity;

    public EntityType Type { get; } = type;

    public string Id { get; set; } = id;

    /// <summary>Change vector of the document as it was loaded or saved; null while it is new.</summary>
    public string? ChangeVector { get; set; }

    /// <summary>
    /// In a cluster-wide session the change vector with the index of the document's atomic guard; null while it is new.
    /// </summary>
    public string? GuardedChangeVector { get; set; }

    /// <summary>Change vector the caller insists on at the next save; null: what the session's options say.</summary>
    public string? ExpectedChangeVector { get; set; }

    /// <summary>The document's collection; null while it is new.</summary>
    public string? Collection { get; set; }

    /// <summary>When it was last modified; null while it is new.</summary>
    public DateTime? LastModified { get; set; }

    /// <summary>The body as it is in the database; empty while it is new.</summary>
    public byte[] Body { get; set; } = [];

    /// <summary>The same as this program's type would write it; null until it was needed.</summary>
    public byte[]? BodyAsWritten { get; set; }

    /// <summary>The document's metadata as it is in the database.</summary>
    public byte[] StoredMetadata { get; set; } = "{}"u8.ToArray();

    /// <summary>The metadata handed out, which may have been changed since; null if nobody asked.</summary>
    public JsonObject? Metadata { get; set; }

    /// <summary>The metadata as it was handed out.</summary>
    public JsonNode? MetadataBefore { get; set; }

    public bool IsDeleted { get; set; }

    public bool IsNew => ChangeVector is null;

    public bool HasChangedMetadata => Metadata is not null && !JsonNode.DeepEquals(Metadata, MetadataBefore);

    /// <summary>Whether the id is still to be completed.</summary>
    public bool HasOpenId => Id.EndsWith('/') || Id.EndsWith('|');

    /// <summary>The object of a document.</summary>
    public static TrackedEntity Of(object read, EntityType type, IncludedDocument document) => new(read, type, document.Id)
    {
        ChangeVector = document.ChangeVector,
        GuardedChangeVector = document.GuardedChangeVector,
        Collection = document.Collection,
        LastModified = document.LastModified,
        Body = document.Body,
        StoredMetadata = document.Metadata,
    };

    /// <summary>The object as one of a type.</summary>
    /// <exception cref="InvalidOperationException">It is none.</exception>
    public T As<T>()
        where T : class => Entity as T ?? throw new InvalidOperationException(
        $"Document '{Id}' is in this session as {Entity.GetType().Name} and cannot be loaded as {typeof(T).Name}. Evict it "
            + $"first, or use another session.");

    /// <summary>The metadata, which the caller may change; a change is saved.</summary>
    public JsonObject ReadMetadata(int maxDepth)
    {
        if (Metadata is null)
        {
            // the store keeps objects
            Metadata = (JsonObject)JsonNode.Parse(
                StoredMetadata, documentOptions: new JsonDocumentOptions { MaxDepth = maxDepth })!;
            Metadata["@collection"] = Collection ?? Type.Collection;
            MetadataBefore = Metadata.DeepClone();
        }

        return Metadata;
    }

    /// <summary>Takes over the change vector that something beside the document gave it; its guard stays.</summary>
    public void Move(string changeVector)
    {
        if (GuardedChangeVector is not null)
            GuardedChangeVector = AtomicGuard.ChangeVector(changeVector, AtomicGuard.IndexIn(GuardedChangeVector));
        ChangeVector = changeVector;
    }

    /// <summary>Brings the object to what the document is now.</summary>
    /// <param name="document">What it is.</param>
    /// <param name="fresh">An object made of it.</param>
    /// <param name="guardedChangeVector">In a cluster-wide session, with the index of its guard.</param>
    public void Refresh(Document document, object fresh, string? guardedChangeVector)
    {
        foreach (JsonPropertyInfo property in Type.Json.Options.GetTypeInfo(Entity.GetType()).Properties)
            if (property is { Get: { } get, Set: { } set })
                set(Entity, get(fresh));
        Refresh(document, guardedChangeVector);
    }

    /// <summary>Takes over what the document is now.</summary>
    private void Refresh(Document document, string? guardedChangeVector)
    {
        (ChangeVector, GuardedChangeVector, Collection) = (document.ChangeVector, guardedChangeVector, document.CollectionName);
        LastModified = new DateTime(document.LastModifiedTicks, DateTimeKind.Utc);
        (Body, BodyAsWritten, StoredMetadata) = (document.Body.ToArray(), null, document.Metadata.ToArray());
        (Metadata, MetadataBefore, ExpectedChangeVector, IsDeleted) = (null, null, null, false);
    }
}
