using System.Buffers;
using System.Collections;
using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.Json.Serialization.Metadata;

namespace Treepie.Linq;

/// <summary>
/// Collects the parameters of a query during translation: <c>$p0</c>, <c>$p1</c>, … Values are serialized as in the session's
/// documents.
/// </summary>
internal sealed class ParameterBag : IDisposable
{
    private readonly JsonSerializerOptions _options;
    private readonly ArrayBufferWriter<byte> _buffer = new();
    private readonly Utf8JsonWriter _writer;
    private int _count;

    public ParameterBag(JsonSerializerOptions options)
    {
        _options = options;
        _writer = new Utf8JsonWriter(_buffer);
        _writer.WriteStartObject();
    }

    /// <summary>Adds a value and returns its name in the text.</summary>
    public string Add(object? value) => Add(string.Create(CultureInfo.InvariantCulture, $"p{_count++}"), value);

    /// <summary>Adds JSON and returns its name in the text.</summary>
    public string AddJson(JsonNode value)
    {
        string name = string.Create(CultureInfo.InvariantCulture, $"p{_count++}");
        _writer.WritePropertyName(name);
        value.WriteTo(_writer);
        return "$" + name;
    }

    /// <summary>Adds a value with a name, without <c>$</c>.</summary>
    public string Add(string name, object? value)
    {
        _writer.WritePropertyName(name);
        Write(value);
        return "$" + name;
    }

    /// <summary>Returns all parameters as one object. Nothing can be added after that.</summary>
    public JsonElement ToJson()
    {
        _writer.WriteEndObject();
        _writer.Flush();
        var reader = new Utf8JsonReader(_buffer.WrittenSpan);
        return JsonElement.ParseValue(ref reader);
    }

    public void Dispose() => _writer.Dispose();

    private void Write(object? value)
    {
        if (value is null)
        {
            _writer.WriteNullValue();
        }
        else if (value is JsonElement element)
        {
            element.WriteTo(_writer);
        }
        else if (value is JsonNode node)
        {
            node.WriteTo(_writer);
        }
        else if (value is IEnumerable values and not (string or byte[] or IDictionary))
        {
            _writer.WriteStartArray();
            foreach (object? item in values)
                Write(item);
            _writer.WriteEndArray();
        }
        else if (_options.TryGetTypeInfo(value.GetType(), out JsonTypeInfo? type))
        {
            JsonSerializer.Serialize(_writer, value, type);
        }
        else
        {
            WritePlain(value);
        }
    }

    /// <summary>A source-generated context contains only the types of documents.</summary>
    private void WritePlain(object value)
    {
        switch (value)
        {
            case string text:
                _writer.WriteStringValue(text);
                break;
            case bool truth:
                _writer.WriteBooleanValue(truth);
                break;
            case double or float:
                _writer.WriteNumberValue(Convert.ToDouble(value, CultureInfo.InvariantCulture));
                break;
            case decimal number:
                _writer.WriteNumberValue(number);
                break;
            case sbyte or byte or short or ushort or int or uint or long:
                _writer.WriteNumberValue(Convert.ToInt64(value, CultureInfo.InvariantCulture));
                break;
            case DateTime time:
                _writer.WriteStringValue(time);
                break;
            case DateTimeOffset time:
                _writer.WriteStringValue(time);
                break;
            case Guid guid:
                _writer.WriteStringValue(guid);
                break;
            default:
                throw new NotSupportedException(
                    $"A value of type {value.GetType()} cannot be written as a parameter: the JSON options do not know "
                        + "the type. Add it to the JsonSerializerContext with [JsonSerializable].");
        }
    }
}
