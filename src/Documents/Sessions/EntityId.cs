using System.Globalization;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Treepie.Json;

namespace Treepie.Sessions;

/// <summary>
/// The member of a type that holds the document's id. A string, or a custom type serialized as a JSON string, is the whole id. A
/// number, or a type serialized as one, and a Guid are the part after the collection's tag: <c>orders/42</c>. The member is not
/// stored in the document.
/// </summary>
internal sealed class EntityId
{
    private readonly JsonPropertyInfo _property;
    private readonly JsonTypeInfo _json;
    private readonly Type _type;
    private readonly string _prefix;

    private EntityId(JsonPropertyInfo property, JsonTypeInfo json, Type type, string tag)
    {
        (_property, _json, _type) = (property, json, type);
        _prefix = tag + "/";
        Member = Encoding.UTF8.GetBytes(property.Name);
        IsPlain = (type == typeof(string) || type == typeof(Guid) || IsNumber) && property.CustomConverter is null
            && json.Converter.GetType().Assembly == typeof(JsonSerializer).Assembly;
        CanFollow = IsPlain && property is { Set: not null, IsRequired: false, AssociatedParameter: null };
    }

    /// <summary>Its name in JSON, in UTF-8.</summary>
    public byte[] Member { get; }

    /// <summary>Whether generated ids are numbers after the tag.</summary>
    public bool IsNumber => _type == typeof(int) || _type == typeof(long);

    /// <summary>
    /// Whether the id can be set after an entity was deserialized without it; otherwise it must be part of the JSON from which
    /// the entity is deserialized.
    /// </summary>
    public bool CanFollow { get; }

    /// <summary>Whether values are strings, Guids or numbers without a custom converter.</summary>
    private bool IsPlain { get; }

    /// <summary>Returns the id member of a type; null if it has none.</summary>
    /// <exception cref="TreepieException">The member cannot hold an id.</exception>
    public static EntityId? Find(JsonTypeInfo json, string tag)
    {
        foreach (JsonPropertyInfo property in json.Properties)
        {
            if (property.Get is null || !property.Name.Equals("id", StringComparison.OrdinalIgnoreCase))
                continue;

            Type type = Nullable.GetUnderlyingType(property.PropertyType) ?? property.PropertyType;
            JsonTypeInfo own = json.Options.GetTypeInfo(property.PropertyType);
            bool isKnown = type == typeof(string) || type == typeof(Guid) || type == typeof(int) || type == typeof(long);
            if (!isKnown && (own.Kind != JsonTypeInfoKind.None || type.IsPrimitive || type.IsEnum || type.Namespace == "System"))
                throw new TreepieException(
                    $"{json.Type.Name}.{property.Name} is of type {type.Name}, which can be no document's id. Take string, Guid, "
                    + $"int, long or a type with a JSON converter that writes "
                    + "it as one of these, or give the member another name in JSON.");
            return new EntityId(property, own, type, tag);
        }

        return null;
    }

    /// <summary>Returns the id set in an entity; null if there is none.</summary>
    public string? Get(object entity) => IdOf(_property.Get?.Invoke(entity)); // Find requires a getter

    /// <summary>Returns the document id for a value of the member; null if the value is not an id.</summary>
    public string? IdOf(object? value)
    {
        return value switch
        {
            null => null,
            string text => text.Length == 0 ? null : text,
            Guid guid => guid == Guid.Empty ? null : Of(guid),
            int or long => Convert.ToInt64(value, CultureInfo.InvariantCulture) is var number && number == 0 ? null : Of(number),
            _ => Written(value),
        };
    }

    /// <summary>Returns the document id for a Guid.</summary>
    public string Of(Guid id) => _prefix + id.ToString("D", CultureInfo.InvariantCulture);

    /// <summary>Returns the document id for a number.</summary>
    public string Of(long id) => string.Create(CultureInfo.InvariantCulture, $"{_prefix}{id}");

    /// <summary>Generates a unique id: from a new Guid, or from the next number of the tag.</summary>
    public string Next(HiLoIds ids, string tag) =>
        _type == typeof(Guid) ? Of(Guid.CreateVersion7()) : IsNumber ? Of(ids.NextNumber(tag)) : ids.Next(tag);

    /// <summary>
    /// Sets the id of an entity if possible: an init-only member keeps its value, and only the session knows the id.
    /// </summary>
    public void Set(object entity, string id)
    {
        try
        {
            Give(entity, id);
        }
        catch (InvalidOperationException)
        {
            // See above.
        }
    }

    /// <summary>Sets the member, if it can be set.</summary>
    /// <exception cref="InvalidOperationException">The member is init-only.</exception>
    /// <exception cref="TreepieException">The id does not have the form of the member.</exception>
    public void Give(object entity, string id) => _property.Set?.Invoke(entity, ValueOf(id));

    /// <summary>Returns the member's value for an id.</summary>
    /// <exception cref="TreepieException">The id does not have the form of the member.</exception>
    public object? ValueOf(string id) => IsPlain ? Plain(id) : JsonSerializer.Deserialize(Value(id), _json);

    /// <summary>Returns the member's value for an id, as JSON.</summary>
    /// <exception cref="TreepieException">The id does not have the form of the member.</exception>
    public byte[] Value(string id)
    {
        if (_type == typeof(Guid))
            return Quoted(Plain(id).ToString() ?? "");
        long number = IsNumber ? Convert.ToInt64(Plain(id), CultureInfo.InvariantCulture) : 0;
        return IsNumber || (_type != typeof(string) && TryNumber(id, out number) && IsWrittenAsNumber(number))
            ? Encoding.UTF8.GetBytes(number.ToString(CultureInfo.InvariantCulture))
            : Quoted(id);
    }

    private object Plain(string id)
    {
        if (_type == typeof(string))
            return id;
        if (_type == typeof(Guid))
            return IsBehindTag(id) && Guid.TryParse(id.AsSpan(_prefix.Length), CultureInfo.InvariantCulture, out Guid guid)
                ? guid
                : throw Unfit(id, "a Guid");
        if (!TryNumber(id, out long number) || (_type == typeof(int) && number != (int)number))
            throw Unfit(id, "a number");
        return _type == typeof(long) ? number : (object)(int)number;
    }

    private bool TryNumber(string id, out long number)
    {
        number = 0;
        return IsBehindTag(id)
            && long.TryParse(
                id.AsSpan(_prefix.Length), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out number);
    }

    private bool IsBehindTag(string id) => id.StartsWith(_prefix, StringComparison.OrdinalIgnoreCase);

    private static byte[] Quoted(string text)
    {
        var json = new System.Buffers.ArrayBufferWriter<byte>();
        JsonStrings.Write(json, Encoding.UTF8.GetBytes(text));
        return json.WrittenSpan.ToArray();
    }

    /// <summary>For custom types: returns what the converter writes; null for an empty text and for 0.</summary>
    private string? Written(object value)
    {
        using JsonDocument written = JsonSerializer.SerializeToDocument(value, _json);
        return written.RootElement.ValueKind switch
        {
            JsonValueKind.Null => null,
            JsonValueKind.String => written.RootElement.GetString() is { Length: > 0 } text ? text : null,
            JsonValueKind.Number when written.RootElement.TryGetInt64(out long number) => number == 0 ? null : Of(number),
            _ => throw new TreepieException(
                $"An id of type {_type.Name} is written as {written.RootElement.ValueKind} in JSON. A document's id is a string "
                    + $"or a whole number: change its converter."),
        };
    }

    private bool IsWrittenAsNumber(long number)
    {
        try
        {
            return JsonSerializer.Deserialize(
                Encoding.UTF8.GetBytes(number.ToString(CultureInfo.InvariantCulture)), _json) is not null;
        }
        catch (Exception error) when (error is JsonException or InvalidOperationException or NotSupportedException)
        {
            return false; // the converter reads strings
        }
    }

    private TreepieException Unfit(string id, string form) => new(
        $"Document '{id}' cannot be read as {_property.DeclaringType.Name}: its member {_property.Name} is {form} behind "
            + $"'{_prefix}', and the id is none. Load it as a type whose id is a string.");
}
