using System.Text;
using System.Text.Json.Serialization.Metadata;

namespace Treepie.Sessions;

/// <summary>What a session knows of a type of objects: how it is serialized, which property is the id, and its collection.</summary>
internal sealed class EntityType
{
    private readonly JsonPropertyInfo? _idProperty;

    public EntityType(Type type, SessionOptions options)
    {
        Json = options.Json.GetTypeInfo(type);
        Collection = options.CollectionOf?.Invoke(type) ?? EnglishPlural.Of(PlainName(type));
        Tag = TagOf(Collection);
        _idProperty = Json.Kind == JsonTypeInfoKind.Object ? FindIdProperty(Json) : null;
        IdMember = _idProperty is null ? [] : Encoding.UTF8.GetBytes(_idProperty.Name);
    }

    public JsonTypeInfo Json { get; }

    public string Collection { get; }

    /// <summary>What ids of this collection begin with, without the slash.</summary>
    public string Tag { get; }

    /// <summary>Name of the id's member in JSON, UTF-8; empty without one. It is not kept in the document: the id is.</summary>
    public byte[] IdMember { get; }

    /// <summary>The id an object has given itself; null or empty without.</summary>
    public string? GetId(object entity) => _idProperty?.Get?.Invoke(entity) as string;

    /// <summary>Tells an object its id, if it can be told.</summary>
    public void SetId(object entity, string id)
    {
        try
        {
            _idProperty?.Set?.Invoke(entity, id);
        }
        catch (InvalidOperationException)
        {
            // A property that is set only while the object is made: the session knows the id nevertheless.
        }
    }

    private static JsonPropertyInfo? FindIdProperty(JsonTypeInfo json)
    {
        foreach (JsonPropertyInfo property in json.Properties)
            if (property.PropertyType == typeof(string) && property.Get is not null && property.Name.Equals("id", StringComparison.OrdinalIgnoreCase))
                return property;
        return null;
    }

    private static string PlainName(Type type)
    {
        int generic = type.Name.IndexOf('`', StringComparison.Ordinal);
        return generic < 0 ? type.Name : type.Name[..generic];
    }

    // One capital: users. Several, as in OrderLines: as they are, so that words stay apart.
    private static string TagOf(string collection) => collection.Count(char.IsUpper) <= 1 ? collection.ToLowerInvariant() : collection;
}
