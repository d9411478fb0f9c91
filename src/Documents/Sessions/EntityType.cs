using System.Text.Json.Serialization.Metadata;

namespace Treepie.Sessions;

/// <summary>
/// Information about a type of entities: how it is serialized, which member is the id, and its collection. Immutable; one
/// instance per type and options.
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

    /// <summary>
    /// The serialization contract: that of the base type that defines the type's discriminator, if there is one.
    /// </summary>
    public JsonTypeInfo Json { get; }

    public string Collection { get; }

    /// <summary>The prefix of ids of this collection, without the slash.</summary>
    public string Tag { get; }

    /// <summary>The id member; null if there is none. It is not stored in the document.</summary>
    public EntityId? Id { get; }

    /// <summary>Whether an entity can be deserialized first and its id set afterwards, without a visible difference.</summary>
    public bool IdFollows { get; }

    /// <summary>The name of the id member in JSON, in UTF-8; empty if there is none.</summary>
    public byte[] IdMember => Id?.Member ?? [];

    /// <summary>
    /// Returns the topmost base class that declares this type as a derived type (<c>JsonDerivedType</c>): serialized as that
    /// type, an entity gets its discriminator and is deserialized as the same type.
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

    // One capital letter: users. Several, as in OrderLines: unchanged, so that the words remain distinguishable.
    private static string TagOf(string collection) =>
        collection.Count(char.IsUpper) <= 1 ? collection.ToLowerInvariant() : collection;
}
