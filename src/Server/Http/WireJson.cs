using System.Text.Json;

namespace Treepie.Server.Http;

/// <summary>Helpers for the small JSON objects of the protocol; documents are not read with them.</summary>
internal static class WireJson
{
    /// <summary>Deeper than any command of the protocol, including query parameters.</summary>
    private const int MaxDepth = 64;

    /// <summary>Parses the body as a JSON object; the returned document refers to the body's buffer.</summary>
    /// <exception cref="WireException">The body is empty, not an object, or contains an invalid string.</exception>
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
    /// Returns an upper bound for the memory of the parsed body: 12 bytes for each value and name, and half as much again
    /// because the parser's table doubles as it grows. Each value or name is next to one of the counted characters, which may
    /// also occur in strings.
    /// </summary>
    private static long MostParsedBytes(ReadOnlySpan<byte> json)
    {
        const int BytesEach = 12 + 6, Each = 1, OfContainer = 2;
        long separators = (long)json.Count((byte)',') + json.Count((byte)':');
        long containers = (long)json.Count((byte)'[') + json.Count((byte)'{');
        return BytesEach * ((Each * separators) + (OfContainer * containers) + 1);
    }

    // The parser accepts half a surrogate pair, but reading that string, or searching for a property name next to it, throws.
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

    /// <summary>Returns the text of a string element; null for null.</summary>
    public static string? Text(JsonElement element, string name) => element.ValueKind switch
    {
        JsonValueKind.String => Transcode(element, name),
        JsonValueKind.Null => null,
        _ => throw WireException.BadRequest($"'{name}' holds a JSON {element.ValueKind}; expected is a string."),
    };

    /// <summary>Returns the text of a string property; null if it is null or absent.</summary>
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

    /// <summary>Returns a Boolean property; false if it is null or absent.</summary>
    public static bool Flag(JsonElement parent, string name) =>
        parent.TryGetProperty(name, out JsonElement element) && FlagIn(element, name);

    /// <summary>Returns the Boolean in an element; false if it is null.</summary>
    public static bool FlagIn(JsonElement element, string name) => element.ValueKind switch
    {
        JsonValueKind.True => true,
        JsonValueKind.False or JsonValueKind.Null => false,
        _ => throw WireException.BadRequest($"'{name}' holds a JSON {element.ValueKind}; expected is true or false."),
    };

    /// <summary>Returns a whole number property that is not negative.</summary>
    public static long Count(JsonElement parent, string name, long otherwise) =>
        parent.TryGetProperty(name, out JsonElement element) ? CountIn(element, name, otherwise) : otherwise;

    /// <summary>Returns the whole number in an element, which is not negative.</summary>
    public static long CountIn(JsonElement element, string name, long otherwise)
    {
        if (element.ValueKind == JsonValueKind.Null)
            return otherwise;

        return element.ValueKind == JsonValueKind.Number && element.TryGetInt64(out long count) && count >= 0
            ? count
            : throw WireException.BadRequest($"'{name}' must be a whole number from 0 on.");
    }

    /// <summary>
    /// Returns a time span property, given as text or as a number of milliseconds; null if it is null or absent.
    /// </summary>
    public static TimeSpan? Time(JsonElement parent, string name) =>
        parent.TryGetProperty(name, out JsonElement element) ? TimeIn(element, name) : null;

    /// <summary>Returns the time span in an element; null if it is null.</summary>
    public static TimeSpan? TimeIn(JsonElement element, string name)
    {
        if (element.ValueKind == JsonValueKind.Null)
            return null;

        TimeSpan span = default;
        bool valid = element.ValueKind switch
        {
            JsonValueKind.Number => WireTime.TryFromMilliseconds(element.GetDouble(), out span),
            JsonValueKind.String => WireTime.TryParseSpan(element.GetString()!, out span), // a string element is not null
            _ => false,
        };
        return valid
            ? span
            : throw WireException.BadRequest($"'{name}' must be a time such as \"00:00:15\", or a number of milliseconds.");
    }

    /// <summary>Describes a JSON error and its location.</summary>
    public static string Explain(JsonException json)
    {
        // The reader appends the location to its message in its own format.
        int place = json.Message.IndexOf(" LineNumber:", StringComparison.Ordinal);
        string message = place < 0 ? json.Message : json.Message[..place];
        return json.LineNumber is { } line && json.BytePositionInLine is { } position
            ? $"line {line + 1}, byte {position + 1}: {message}"
            : message;
    }
}
