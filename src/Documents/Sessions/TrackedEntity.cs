using System.Text.Json;
using System.Text.Json.Nodes;

namespace Treepie.Sessions;

/// <summary>An entity of a session with its document.</summary>
/// <param name="entity">The entity.</param>
/// <param name="type">The information about its type.</param>
/// <param name="id">The document's id; one that ends in <c>/</c> or <c>|</c> is completed by the save.</param>
internal sealed class TrackedEntity(object entity, EntityType type, string id)
{
    public object Entity { get; } = entity;

    public EntityType Type { get; } = type;

    public string Id { get; set; } = id;

    /// <summary>The document as it was loaded or saved; null if it is new.</summary>
    public DocumentCopy? Document { get; private set; }

    public string? ChangeVector => Document?.ChangeVector;

    /// <summary>The name of the document's current or future collection.</summary>
    public string Collection => Document?.Collection ?? Type.Collection;

    /// <summary>The change vector that the caller expects at the next save; null: as the session's options specify.</summary>
    public string? ExpectedChangeVector { get; set; }

    /// <summary>The document's body in the form in which this program's type serializes it; null until needed.</summary>
    public byte[]? BodyAsWritten { get; set; }

    /// <summary>The metadata returned to the caller, who may have changed it since; null if it was not requested.</summary>
    public JsonObject? Metadata { get; set; }

    /// <summary>The metadata at the time it was returned.</summary>
    public JsonNode? MetadataBefore { get; set; }

    public bool IsDeleted { get; set; }

    /// <summary>The deleted entity whose id this one took over before the save; null if there is none.</summary>
    public TrackedEntity? Hidden { get; set; }

    public bool IsNew => Document is null;

    public bool HasChangedMetadata => Metadata is not null && !JsonNode.DeepEquals(Metadata, MetadataBefore);

    /// <summary>Whether the id is still to be completed by the save.</summary>
    public bool HasOpenId => Id.EndsWith('/') || Id.EndsWith('|');

    /// <summary>Creates the entity of a document.</summary>
    public static TrackedEntity Of(object read, EntityType type, string id, DocumentCopy document) =>
        new(read, type, id) { Document = document };

    /// <summary>Casts the entity to a type.</summary>
    /// <exception cref="InvalidOperationException">The entity is not of the type.</exception>
    public T As<T>()
        where T : class => Entity as T ?? throw new InvalidOperationException(
        $"Document '{Id}' is in this session as {Entity.GetType().Name} and cannot be loaded as {typeof(T).Name}. Evict it "
            + $"first, or use another session.");

    /// <summary>Returns the metadata, which the caller may change; changes are saved.</summary>
    public JsonObject ReadMetadata(int maxDepth)
    {
        if (Metadata is null)
        {
            // an object: the database stores no other metadata
            Metadata = Document is null
                ? []
                : (JsonObject)JsonNode.Parse(
                    Document.Metadata, documentOptions: new JsonDocumentOptions { MaxDepth = maxDepth })!;
            Metadata["@collection"] = Collection;
            MetadataBefore = Metadata.DeepClone();
        }

        return Metadata;
    }

    /// <summary>Takes over the change vector after a change of related data.</summary>
    public void Move(string changeVector) => Document = Document?.At(changeVector);

    /// <summary>Takes over the saved state.</summary>
    /// <param name="document">The document now.</param>
    /// <param name="asWritten">Its body in the form in which this program's type serializes it.</param>
    public void Saved(DocumentCopy document, byte[] asWritten)
    {
        (Document, BodyAsWritten, ExpectedChangeVector) = (document, asWritten, null);
        MetadataBefore = Metadata?.DeepClone();
    }

    /// <summary>
    /// Updates the entity to the current state of the document. Returns false, with the entity unchanged, if it is of another
    /// type than the document now, has members that only a constructor or initializer sets and that have changed, or if a
    /// setter throws.
    /// </summary>
    /// <param name="document">The document.</param>
    /// <param name="fresh">A new entity deserialized from it.</param>
    public bool TryRefresh(DocumentCopy document, object fresh)
    {
        if (fresh.GetType() != Entity.GetType() || !new MemberCopy().TryRun(Type.Json.Options, fresh, Entity))
            return false;
        (Document, BodyAsWritten) = (document, null);
        (Metadata, MetadataBefore, ExpectedChangeVector, IsDeleted) = (null, null, null, false);
        return true;
    }
}
