using System.Buffers;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text.Encodings.Web;
using System.Text.Json;
using Jint;
using Jint.Native;
using Jint.Native.Object;
using Jint.Runtime;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// Converts JSON to values of a script and back. A number that is not computed keeps its text form: 1.0 stays 1.0, and a long
/// beyond 2^53 stays exact.
/// </summary>
internal static class ScriptJson
{
    /// <summary>The maximum depth of a value; a circular reference exceeds it.</summary>
    public const int MaxDepth = 128;

    /// <summary>From this value on, scripts also write integers with an exponent.</summary>
    private const double MostWritten = 1e21;

    private static readonly JsonWriterOptions _options = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        SkipValidation = true
    };

    /// <summary>The options for reading documents.</summary>
    public static JsonDocumentOptions Reading { get; } = new() { MaxDepth = 1_024 };

    /// <summary>Converts JSON to a value of a script.</summary>
    public static JsValue Parse(Engine engine, ReadOnlyMemory<byte> json, NumberTexts? texts = null)
    {
        using var document = JsonDocument.Parse(json, Reading);
        return Read(engine, document.RootElement, texts);
    }

    /// <summary>Converts JSON to a value of a script; members of objects are parsed when they are accessed.</summary>
    public static JsValue Lazy(Engine engine, ReadOnlyMemory<byte> json, ObjectInstance? prototype)
    {
        if (json.Span[0] == (byte)'{')
            return new LazyObject(engine, json, prototype);
        if (json.Span[0] != (byte)'[')
            return Plain(json.Span);
        var items = new List<JsValue>();
        var reader = new Utf8JsonReader(json.Span, new JsonReaderOptions { MaxDepth = Reading.MaxDepth });
        reader.Read();
        while (reader.Read() && reader.TokenType != JsonTokenType.EndArray)
        {
            int start = (int)reader.TokenStartIndex;
            reader.Skip();
            items.Add(Lazy(engine, json[start..(int)reader.BytesConsumed], prototype));
        }

        return new JsArray(engine, [.. items]);
    }

    /// <summary>Converts a string, number, boolean or null.</summary>
    private static JsValue Plain(ReadOnlySpan<byte> json)
    {
        var reader = new Utf8JsonReader(json);
        reader.Read();
        return reader.TokenType switch
        {
            JsonTokenType.String => new JsString(reader.GetString() ?? ""),
            JsonTokenType.Number => new JsNumber(reader.GetDouble()),
            JsonTokenType.True => JsBoolean.True,
            JsonTokenType.False => JsBoolean.False,
            _ => JsValue.Null,
        };
    }

    /// <summary>Converts a JSON element to a value of a script.</summary>
    /// <param name="engine">The engine.</param>
    /// <param name="json">The element.</param>
    /// <param name="texts">Notes the texts of numbers; null if they are not needed.</param>
    public static JsValue Read(Engine engine, JsonElement json, NumberTexts? texts = null) => Read(
        engine, json,
        scalar => scalar.ValueKind switch
        {
            JsonValueKind.Number => texts?.Read(scalar) ?? new JsNumber(scalar.GetDouble()),
            JsonValueKind.True => JsBoolean.True,
            _ => JsBoolean.False,
        });

    /// <summary>Converts a JSON element to a value whose numbers and booleans are strings, as they are written.</summary>
    public static JsValue ReadAsTexts(Engine engine, JsonElement json) =>
        Read(engine, json, static scalar => new JsString(scalar.GetRawText()));

    /// <param name="engine">The engine.</param>
    /// <param name="json">The element.</param>
    /// <param name="scalar">Converts a number or a boolean.</param>
    private static JsValue Read(Engine engine, JsonElement json, Func<JsonElement, JsValue> scalar)
    {
        switch (json.ValueKind)
        {
            case JsonValueKind.Object:
                var made = new JsObject(engine);
                foreach (JsonProperty member in json.EnumerateObject())
                    made.FastSetDataProperty(member.Name, Read(engine, member.Value, scalar));
                return made;
            case JsonValueKind.Array:
                var items = new JsValue[json.GetArrayLength()];
                int place = 0;
                foreach (JsonElement item in json.EnumerateArray())
                    items[place++] = Read(engine, item, scalar);
                return new JsArray(engine, items);
            case JsonValueKind.String:
                return new JsString(json.GetString() ?? "");
            case JsonValueKind.Number or JsonValueKind.True or JsonValueKind.False:
                return scalar(json);
            default:
                return JsValue.Null;
        }
    }

    /// <summary>Writes a value; nothing for <c>undefined</c> and functions.</summary>
    /// <param name="value">The value.</param>
    /// <param name="original">The value at this position before the script ran; undefined if there was none.</param>
    /// <param name="output">Receives the JSON.</param>
    /// <param name="budget">What writing this value may take.</param>
    /// <param name="texts">The texts of numbers that were read; null if they are not kept.</param>
    /// <exception cref="ScriptException">The value is too large or too deep, or takes too much memory.</exception>
    /// <exception cref="TimeoutException">The script and writing its value took too long.</exception>
    /// <exception cref="OperationCanceledException">The call was canceled.</exception>
    public static void Write(JsValue value, JsonElement original, IBufferWriter<byte> output, WriteBudget budget,
        NumberTexts? texts = null)
    {
        if (IsNothing(value))
            return;
        using var json = new Utf8JsonWriter(output, _options);
        Write(json, value, original, depth: 0, budget, texts);
    }

    private static void Write(
        Utf8JsonWriter json, JsValue value, JsonElement original, int depth, WriteBudget budget, NumberTexts? texts)
    {
        if (depth > MaxDepth)
            throw new ScriptException($"What the script gives has more than {MaxDepth} levels, or refers to itself.");
        budget.Count(json.BytesPending + json.BytesCommitted);

        switch (value)
        {
            case JsString text when original.ValueKind == JsonValueKind.String && original.ValueEquals(text.ToString()):
                json.WriteRawValue(JsonMarshal.GetRawUtf8Value(original), skipInputValidation: true);
                break;
            case JsString text:
                json.WriteStringValue(text.ToString());
                break;
            case JsNumber:
                WriteNumber(json, value, original, texts);
                break;
            case JsBoolean:
                json.WriteBooleanValue(value.AsBoolean());
                break;
            case JsDate date:
                json.WriteStringValue(double.IsFinite(date.DateValue) ? ScriptDates.Format(date.ToDateTime()) : null);
                break;
            case JsArray array:
                WriteArray(json, array, original, depth, budget, texts);
                break;
            case LazyObject { IsText: true } text:
                WriteText(json, text, depth, budget, texts);
                break;
            case ObjectInstance made when !IsNothing(made):
                WriteObject(json, made, original, depth, budget, texts);
                break;
            default:
                json.WriteNullValue();
                break;
        }
    }

    private static void WriteNumber(Utf8JsonWriter json, JsValue value, JsonElement original, NumberTexts? texts)
    {
        double number = value.AsNumber();
        if (texts?.Of(value) is { } text)
            json.WriteRawValue(text, skipInputValidation: true);
        else if (original.ValueKind == JsonValueKind.Number && original.GetDouble().Equals(number))
            json.WriteRawValue(JsonMarshal.GetRawUtf8Value(original), skipInputValidation: true);
        else if (!double.IsFinite(number))
            json.WriteNullValue();
        else if (Math.Abs(number) < long.MaxValue && !IsMinusZero(number) && Math.Floor(number).Equals(number))
            json.WriteNumberValue((long)number);
        else if (Math.Abs(number) < MostWritten && Math.Floor(number).Equals(number))
            json.WriteRawValue(number.ToString("F0", CultureInfo.InvariantCulture), skipInputValidation: true);
        else
            json.WriteNumberValue(number);
    }

    private static void WriteArray(
        Utf8JsonWriter json, JsArray array, JsonElement original, int depth, WriteBudget budget, NumberTexts? texts)
    {
        int before = original.ValueKind == JsonValueKind.Array ? original.GetArrayLength() : 0;
        json.WriteStartArray();
        for (uint i = 0; i < array.Length; i++)
            Write(json, array[i], i < before ? original[(int)i] : default, depth + 1, budget, texts);
        json.WriteEndArray();
    }

    /// <summary>Writes the parts that the script has not changed as they are.</summary>
    private static void WriteText(Utf8JsonWriter json, LazyObject made, int depth, WriteBudget budget, NumberTexts? texts)
    {
        if (made.IsUntouched)
        {
            json.WriteRawValue(made.Text, skipInputValidation: true);
            return;
        }

        json.WriteStartObject();
        foreach ((string name, ReadOnlyMemory<byte> text, JsValue? value) in made.Written())
        {
            json.WritePropertyName(name);
            if (value is null)
                json.WriteRawValue(text.Span, skipInputValidation: true);
            else
                Write(json, value, default, depth + 1, budget, texts);
        }

        json.WriteEndObject();
    }

    private static void WriteObject(
        Utf8JsonWriter json, ObjectInstance made, JsonElement original, int depth, WriteBudget budget, NumberTexts? texts)
    {
        bool hadMembers = original.ValueKind == JsonValueKind.Object;
        json.WriteStartObject();
        foreach (JsValue key in made.GetOwnPropertyKeys(Types.String))
        {
            budget.Count(json.BytesPending + json.BytesCommitted); // members that are not written take time, too
            if (made.GetOwnProperty(key) is not { Enumerable: true })
                continue;
            JsValue member = made.Get(key);
            if (IsNothing(member))
                continue;
            string name = key.ToString();
            json.WritePropertyName(name);
            Write(
                json, member, hadMembers && original.TryGetProperty(name, out JsonElement at) ? at : default, depth + 1,
                budget, texts);
        }

        json.WriteEndObject();
    }

    private static bool IsNothing(JsValue value) => value.IsUndefined() || value is Jint.Native.Function.Function or JsSymbol;

    private static bool IsMinusZero(double number) => number.Equals(0d) && double.IsNegative(number);
}
