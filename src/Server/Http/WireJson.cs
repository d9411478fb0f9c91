using System.Text.Json;

namespace Treepie.Server.Http;

/// <summary>The small JSON objects of the protocol itself. Documents never come through here.</summary>
internal static class WireJson
{
    /// <summary>Deeper than any command of the protocol; parameters of queries included.</summary>
    private const int MaxDepth = 64;

    /// <summary>The body as one JSON object; ends with the returned document, over the body's buffer.</summary>
    /// <exception cref="WireException">It is empty or something else, or has a text that is none.</exception>
    public static JsonDocument ParseObject(RequestBody body, string expected)
    {
        if (body.Length == 0)
            throw WireException.BadRequest($"The request has no body; expected is {expected}.");

        CheckEscapes(body.Memory.Span);
        body.Hold(MostParsedBytes(body.Memory.Span));
        var document = JsonDocument.Parse(body.Memory, new JsonDocumentOptions { MaxDepth = MaxDepth });
        if (document.RootElement.ValueKind == JsonValueKind.Object)
            return document;

        JsonValueKind found = document.RootElement.ValueKind;
        document.Dispose();
        throw WireException.BadRequest($"The request body is a JSON {found}; expected is {expected}.");
    }

    /// <summary>
    /// The most that a parsed body takes: 12 bytes for each value and name, and half as much again because the table of them
    /// doubles as it grows. Each of them
    /// stands before or after one of these signs, which texts may hold too.
    /// </summary>
    private static long MostParsedBytes(ReadOnlySpan<byte> json)
    {
        const int BytesEach = 12 + 6, Each = 1, OfContainer = 2;
        long separators = (long)json.Count((byte)',') + json.Count((byte)':');
        long containers = (long)json.Count((byte)'[') + json.Count((byte)'{');
        return BytesEach * ((Each * separators) + (OfContainer * containers) + 1);
    }

    // The parser lets half a surrogate pair pass, and whoever reads that text, or looks for a name beside it, fails over it.
    private static void CheckEscapes(ReadOnlySpan<byte> json)
    {
        if (json.IndexOf("\\ud"u8) < 0 && json.IndexOf("\\uD"u8) < 0)
            return;

        var reader = new Utf8JsonReader(json, new JsonReaderOptions { MaxDepth = MaxDepth });
        while (reader.Read())
        {
            if (!reader.ValueIsEscaped)
                continue;
            try
            {
                _ = reader.GetString();
            }
            catch (InvalidOperationException exception)
            {
                throw WireException.BadRequest(
                    $"The text at byte {reader.TokenStartIndex + 1} of the request body escapes half of a surrogate pair, which "
                        + $"is no character. Write both halves, or the character itself in UTF-8.",
                    exception);
            }
        }
    }

    /// <summary>Writes an array of strings.</summary>
    public static void WriteTexts(this Utf8JsonWriter json, string name, IReadOnlyList<string> texts)
    {
        json.WriteStartArray(name);
        foreach (string text in texts)
            json.WriteStringValue(text);
        json.WriteEndArray();
    }

    /// <summary>The text of a string element; null for null.</summary>
    public static string? Text(JsonElement element, string name) => element.ValueKind switch
    {
        JsonValueKind.String => Transcode(element, name),
        JsonValueKind.Null => null,
        _ => throw WireException.BadRequest($"'{name}' holds a JSON {element.ValueKind}; expected is a string."),
    };

    /// <summary>The text of a string property; null where it is null or absent.</summary>
    public static string? Text(JsonElement parent, string name, bool required)
    {
        string? text = parent.TryGetProperty(name, out JsonElement element) ? Text(element, name) : null;
        return text is null && required ? throw WireException.BadRequest($"The request body lacks '{name}'.") : text;
    }

    private static string? Transcode(JsonElement element, string name)
    {
        try
        {
            return element.GetString();
        }
        catch (InvalidOperationException exception)
        {
            throw WireException.BadRequest($"'{name}' is not valid UTF-8, or escapes half a surrogate pair.", exception);
        }
    }

    /// <summary>A property that is true or false; false where it is null or absent.</summary>
    public static bool Flag(JsonElement parent, string name) =>
        parent.TryGetProperty(name, out JsonElement element) && element.ValueKind switch
        {
            JsonValueKind.True => true,
            JsonValueKind.False or JsonValueKind.Null => false,
            _ => throw WireException.BadRequest($"'{name}' holds a JSON {element.ValueKind}; expected is true or false."),
        };

    /// <summary>A whole number from 0 on.</summary>
    public static long Count(JsonElement parent, string name, long otherwise)
    {
        if (!parent.TryGetProperty(name, out JsonElement element) || element.ValueKind == JsonValueKind.Null)
            return otherwise;

        return element.ValueKind == JsonValueKind.Number && element.TryGetInt64(out long count) && count >= 0
            ? count
            : throw WireException.BadRequest($"'{name}' must be a whole number from 0 on.");
    }

    /// <summary>A span of time, as text or as a number of milliseconds; null where it is null or absent.</summary>
    public static TimeSpan? Time(JsonElement parent, string name)
    {
        if (!parent.TryGetProperty(name, out JsonElement element) || element.ValueKind == JsonValueKind.Null)
            return null;

        TimeSpan span = default;
        bool valid = element.ValueKind switch
        {
            JsonValueKind.Number => WireTime.TryFromMilliseconds(element.GetDouble(), out span),
            JsonValueKind.String => WireTime.TryParseSpan(element.GetString()!, out span), // a String element has text
            _ => false,
        };
        return valid
            ? span
            : throw WireException.BadRequest($"'{name}' must be a time such as \"00:00:15\", or a number of milliseconds.");
    }

    /// <summary>What is wrong with some JSON, and where.</summary>
    public static string Explain(JsonException json)
    {
        // The reader appends the place to its message in words of its own.
        int place = json.Message.IndexOf(" LineNumber:", StringComparison.Ordinal);
        string message = place < 0 ? json.Message : json.Message[..place];
        return json.LineNumber is { } line && json.BytePositionInLine is { } position
            ? $"line {line + 1}, byte {position + 1}: {message}"
            : message;
    }
}
