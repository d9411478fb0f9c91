using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Treepie.Computing.Values;

/// <summary>Converts values from and to JSON.</summary>
internal static class JsonValues
{
    /// <summary>The maximum depth of values that are written.</summary>
    public const int MaxDepth = 128;

    /// <summary>The maximum size of a value that is written, in bytes.</summary>
    private const int MaxBytes = 16 * 1024 * 1024;

    private static readonly JsonWriterOptions _writing = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        SkipValidation = true
    };

    public static JsonReaderOptions Options => new() { MaxDepth = 1024 };

    /// <summary>Reads JSON, which must be valid and have no surrounding white space.</summary>
    public static Value Read(ReadOnlyMemory<byte> json)
    {
        switch (json.Span[0])
        {
            case (byte)'{':
                return Value.Of(new JsonMembers(json));
            case (byte)'[':
                return Value.Of(new JsonItems(json));
            case (byte)'t':
                return Value.True;
            case (byte)'f':
                return Value.False;
            case (byte)'n':
                return Value.Null;
            case (byte)'"':
                return Value.Of(ReadText(json.Span));
            default:
                return ReadNumber(json.Span);
        }
    }

    /// <summary>Writes a result. Missing members are omitted; numbers that JSON cannot represent become null.</summary>
    public static void Write(Value value, IBufferWriter<byte> output)
    {
        using var json = new Utf8JsonWriter(output, _writing);
        Write(json, value, 0);
    }

    private static void Write(Utf8JsonWriter json, Value value, int depth)
    {
        if (depth > MaxDepth)
            throw new ComputingException($"a result is nested more than {MaxDepth} deep.");
        if (json.BytesCommitted + json.BytesPending > MaxBytes)
            throw new ComputingException($"a result has more than {MaxBytes >> 20} MiB.");
        switch (value.Kind)
        {
            case ValueKind.Boolean:
                json.WriteBooleanValue(value.IsTrue);
                break;
            case ValueKind.Long:
                json.WriteNumberValue(value.Long);
                break;
            case ValueKind.Double when value.Spelling is { } spelling:
                json.WriteRawValue(spelling, skipInputValidation: true);
                break;
            case ValueKind.Double when double.IsFinite(value.AsDouble()):
                WriteDouble(json, value.AsDouble());
                break;
            case ValueKind.Decimal:
                json.WriteNumberValue(value.AsDecimal());
                break;
            case ValueKind.String:
                json.WriteStringValue(value.Text);
                break;
            case ValueKind.Time:
                json.WriteStringValue(TimeTexts.Write(value.Time));
                break;
            case ValueKind.Span:
                json.WriteStringValue(TimeTexts.Write(value.Span));
                break;
            case ValueKind.Array when value.Items is JsonItems items:
                json.WriteRawValue(items.Json.Span, skipInputValidation: true);
                break;
            case ValueKind.Array:
                json.WriteStartArray();
                foreach (Value item in value.Items)
                    Write(json, item, depth + 1);
                json.WriteEndArray();
                break;
            case ValueKind.Object when value.Members is JsonMembers members:
                json.WriteRawValue(members.Json.Span, skipInputValidation: true);
                break;
            case ValueKind.Object:
                json.WriteStartObject();
                foreach ((string name, Value member) in value.Members.All())
                {
                    if (member.Kind == ValueKind.Missing)
                        continue;
                    json.WritePropertyName(name);
                    Write(json, member, depth + 1);
                }

                json.WriteEndObject();
                break;
            default:
                json.WriteNullValue();
                break;
        }
    }

    /// <summary>Writes the shortest form: a computed <c>2.0</c> becomes <c>2</c>.</summary>
    private static void WriteDouble(Utf8JsonWriter json, double value)
    {
        if (value == Math.Truncate(value) && Math.Abs(value) < 1L << 53)
            json.WriteNumberValue((long)value);
        else
            json.WriteNumberValue(value);
    }

    /// <summary>Returns the content of a JSON string, given with its quotes.</summary>
    public static string ReadText(ReadOnlySpan<byte> json)
    {
        ReadOnlySpan<byte> inside = json[1..^1];
        if (!inside.Contains((byte)'\\'))
            return Encoding.UTF8.GetString(inside);
        var reader = new Utf8JsonReader(json);
        reader.Read();
        return reader.GetString() ?? "";
    }

    private static Value ReadNumber(ReadOnlySpan<byte> json)
    {
        if (long.TryParse(json, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long whole)
            && !(whole == 0 && json[0] == '-'))
            return Value.Of(whole);
        return Value.Of(double.Parse(json, NumberStyles.Float, CultureInfo.InvariantCulture), Encoding.ASCII.GetString(json));
    }
}
