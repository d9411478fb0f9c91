using System.Text.Json.Serialization.Metadata;

namespace Treepie.Sessions;

/// <summary>
/// What is known of a type of objects: how it is serialized, which member is the id, and its collection. Immutable, one for each
/// type and options.
/// </summary>
internal sealed class EntityType
{
    /// <exception cref="TreepieException">Objects of the type would lose data on their way into a document and back; the message
    /// says where.</exception>
    public EntityType(Type type, SessionOptions options)
    {
        Json = RootOf(type, options.Json);
        EntityShape.Check(Json);
        Collection = options.CollectionOf?.Invoke(Json.Type) ?? EnglishPlural.Of(PlainName(Json.Type));
        Tag = TagOf(Collection);
        JsonTypeInfo own = options.Json.GetTypeInfo(type);
        Id = Json.Kind == JsonTypeInfoKind.Object ? EntityId.Find(own, Tag) : null;
        IdFollows = Id is { CanFollow: true } && own.Type == Json.Type && Json.PolymorphismOptions is null
            && Json.OnDeserialized is null;
    }

    /// <summary>How it is written: as the base type that tells its derived types apart, if there is one.</summary>
    public JsonTypeInfo Json { get; }

    public string Collection { get; }

    /// <summary>What ids of this collection begin with, without the slash.</summary>
    public string Tag { get; }

    /// <summary>Its id; null where it has none. It is not kept in the document.</summary>
    public EntityId? Id { get; }

    /// <summary>Whether an object is read first and given its id then, as nothing would notice the difference.</summary>
    public bool IdFollows { get; }

    /// <summary>Name of the id's member in JSON, UTF-8; empty without one.</summary>
    public byte[] IdMember => Id?.Member ?? [];

    /// <summary>
    /// The uppermost base class that says of this type that it is derived from it (<c>JsonDerivedType</c>): what is written as
    /// that one has its discriminator, and is found again as what it was.
    /// </summary>
    private static JsonTypeInfo RootOf(Type type, System.Text.Json.JsonSerializerOptions options)
    {
        JsonTypeInfo root = options.GetTypeInfo(type);
        for (Type? above = type.BaseType; above is not null && above != typeof(object); above = above.BaseType)
            if (options.TryGetTypeInfo(above, out JsonTypeInfo? json)
                && json.PolymorphismOptions is { } known
                && known.DerivedTypes.Any(derived => derived.DerivedType == type))
                root = json;
        return root;
    }

    private static string PlainName(Type type)
    {
        int generic = type.Name.IndexOf('`', StringComparison.Ordinal);
        return generic < 0 ? type.Name : type.Name[..generic];
    }

    // One capital: users. Several, as in OrderLines: as they are, so that words stay apart.
    private static string TagOf(string collection) =>
        collection.Count(char.IsUpper) <= 1 ? collection.ToLowerInvariant() : collection;
}
