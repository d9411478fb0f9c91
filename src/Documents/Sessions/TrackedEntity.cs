using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.Json.Serialization.Metadata;

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

    /// <summary>The document as it was loaded or saved; null while it is new.</summary>
    public DocumentCopy? Document { get; private set; }

    public string? ChangeVector => Document?.ChangeVector;

    /// <summary>Name of the document's collection, or of the one it will be in.</summary>
    public string Collection => Document?.Collection ?? Type.Collection;

    /// <summary>Change vector the caller insists on at the next save; null: what the session's options say.</summary>
    public string? ExpectedChangeVector { get; set; }

    /// <summary>The document's body as this program's type would write it; null until it was needed.</summary>
    public byte[]? BodyAsWritten { get; set; }

    /// <summary>The metadata handed out, which may have been changed since; null if nobody asked.</summary>
    public JsonObject? Metadata { get; set; }

    /// <summary>The metadata as it was handed out.</summary>
    public JsonNode? MetadataBefore { get; set; }

    public bool IsDeleted { get; set; }

    public bool IsNew => Document is null;

    public bool HasChangedMetadata => Metadata is not null && !JsonNode.DeepEquals(Metadata, MetadataBefore);

    /// <summary>Whether the id is still to be completed.</summary>
    public bool HasOpenId => Id.EndsWith('/') || Id.EndsWith('|');

    /// <summary>The object of a document.</summary>
    public static TrackedEntity Of(object read, EntityType type, string id, DocumentCopy document) =>
        new(read, type, id) { Document = document };

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
            Metadata = Document is null
                ? []
                : (JsonObject)JsonNode.Parse(
                    Document.Metadata, documentOptions: new JsonDocumentOptions { MaxDepth = maxDepth })!;
            Metadata["@collection"] = Collection;
            MetadataBefore = Metadata.DeepClone();
        }

        return Metadata;
    }

    /// <summary>Takes over the change vector that something beside the document gave it.</summary>
    public void Move(string changeVector) => Document = Document?.At(changeVector);

    /// <summary>Takes over what was saved.</summary>
    /// <param name="document">The document now.</param>
    /// <param name="asWritten">Its body as this program's type writes it.</param>
    public void Saved(DocumentCopy document, byte[] asWritten)
    {
        (Document, BodyAsWritten, ExpectedChangeVector) = (document, asWritten, null);
        MetadataBefore = Metadata?.DeepClone();
    }

    /// <summary>Brings the object to what the document is now.</summary>
    /// <param name="document">What it is.</param>
    /// <param name="fresh">An object made of it.</param>
    public void Refresh(DocumentCopy document, object fresh)
    {
        foreach (JsonPropertyInfo property in Type.Json.Options.GetTypeInfo(Entity.GetType()).Properties)
            if (property is { Get: { } get, Set: { } set })
                set(Entity, get(fresh));
        (Document, BodyAsWritten) = (document, null);
        (Metadata, MetadataBefore, ExpectedChangeVector, IsDeleted) = (null, null, null, false);
    }
}
