using System.Buffers;
using System.Collections;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.Json.Serialization.Metadata;
using Treepie.Linq;

namespace Treepie.Sessions;

/// <summary>Converts query parameters given as C# values to a JSON object.</summary>
internal static class QueryParameterJson
{
    /// <summary>Converts the members of a dictionary, or the properties of any other object.</summary>
    public static JsonElement From(object parameters, JsonSerializerOptions options) => parameters switch
    {
        JsonElement element => element,
        IEnumerable<KeyValuePair<string, object?>> members => FromMembers(members, options),
        _ => JsonSerializer.SerializeToElement(parameters, options.GetTypeInfo(parameters.GetType())),
    };

    /// <summary>Converts the holes of interpolated RQL and further parameters.</summary>
    /// <exception cref="ArgumentException">A parameter has the name of a hole.</exception>
    public static JsonElement With(InterpolatedRql rql, object? parameters, JsonSerializerOptions options)
    {
        Dictionary<string, object?> all = rql.NamedValues();
        if (parameters is not null)
            foreach (JsonProperty own in From(parameters, options).EnumerateObject())
                if (!all.TryAdd(own.Name, own.Value))
                    throw new ArgumentException(
                        $"The parameter '{own.Name}' has the name of a hole: those of the text are p0, p1, … Give it another.");
        using var bag = new ParameterBag(options);
        foreach ((string name, object? value) in all)
            bag.Add(name, value);
        return bag.ToJson();
    }

    /// <summary>
    /// Converts the members of a dictionary. Values must be of basic types, or of types that the options, if given, support.
    /// </summary>
    /// <exception cref="NotSupportedException">A value is of another type.</exception>
    public static JsonElement WithoutReflection(
        IReadOnlyDictionary<string, object?>? parameters, JsonSerializerOptions? options)
    {
        if (parameters is null)
            return default;
        using var bag = new ParameterBag(
            options ?? new JsonSerializerOptions { TypeInfoResolver = JsonTypeInfoResolver.Combine() });
        foreach ((string name, object? value) in parameters)
            bag.Add(name.StartsWith('$') ? name[1..] : name, value);
        return bag.ToJson();
    }

    private static JsonElement FromMembers(IEnumerable<KeyValuePair<string, object?>> parameters, JsonSerializerOptions options)
    {
        var buffer = new ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(buffer))
        {
            writer.WriteStartObject();
            foreach ((string name, object? value) in parameters)
            {
                writer.WritePropertyName(name.StartsWith('$') ? name[1..] : name);
                Write(writer, value, options);
            }

            writer.WriteEndObject();
        }

        var reader = new Utf8JsonReader(buffer.WrittenSpan);
        return JsonElement.ParseValue(ref reader);
    }

    private static void Write(Utf8JsonWriter writer, object? value, JsonSerializerOptions options)
    {
        switch (value)
        {
            case null:
                writer.WriteNullValue();
                break;
            case string text:
                writer.WriteStringValue(text);
                break;
            case bool truth:
                writer.WriteBooleanValue(truth);
                break;
            case int number:
                writer.WriteNumberValue(number);
                break;
            case long number:
                writer.WriteNumberValue(number);
                break;
            case double number:
                writer.WriteNumberValue(number);
                break;
            case decimal number:
                writer.WriteNumberValue(number);
                break;
            case DateTime time when !options.TryGetTypeInfo(typeof(DateTime), out _):
                writer.WriteStringValue(time);
                break;
            case DateTimeOffset time:
                writer.WriteStringValue(time);
                break;
            case Guid guid:
                writer.WriteStringValue(guid);
                break;
            case JsonElement element:
                element.WriteTo(writer);
                break;
            case JsonNode node:
                node.WriteTo(writer);
                break;
            case IEnumerable values and not IDictionary:
                writer.WriteStartArray();
                foreach (object? item in values)
                    Write(writer, item, options);
                writer.WriteEndArray();
                break;
            default:
                JsonSerializer.Serialize(writer, value, options.GetTypeInfo(value.GetType()));
                break;
        }
    }
}
