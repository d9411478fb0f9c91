using System.Text.Json;

namespace Treepie.Indexing.Analysis.Parts;

/// <summary>
/// Creates analyzers composed of existing parts, from JSON:
/// <code>
/// {
///   "CharacterFilters": [ { "Map": { "&amp;": " and " } }, { "Replace": "&lt;[^&gt;]*&gt;", "With": " " } ],
///   "Tokenizer": "Standard",
///   "Filters": [ "LowerCase", "Accents", { "StopWords": "English" }, { "Stem": "English" } ]
/// }
/// </code>
/// </summary>
/// <remarks>
/// A text passes through the character filters, the tokenizer splits it into words, and each word passes through the filters, in
/// the given order. Tokenizers: <c>Standard</c> (the default), <c>Letters</c>, <c>Whitespace</c>, <c>Keyword</c>,
/// <c>{"Pattern": ";"}</c> (a regular expression that matches separators). Filters: <c>LowerCase</c>, <c>Accents</c>,
/// <c>{"StopWords": "English"}</c> or <c>["the", "a"]</c>, <c>{"Stem": "German"}</c>, <c>{"NGrams": {"Min": 2, "Max": 6}}</c>,
/// <c>{"EdgeNGrams": …}</c>, <c>{"Length": {"Min": 2, "Max": 64}}</c>, <c>{"Replace": "-", "With": ""}</c>,
/// <c>{"Synonyms": [["tv", "television"]]}</c>.
/// </remarks>
public static class AnalyzerParts
{
    /// <summary>The maximum size of a definition in UTF-8: 64 KiB.</summary>
    public const int MaxBytes = 64 * 1024;

    /// <summary>The maximum number of character filters.</summary>
    public const int MaxCharacterFilters = 16;

    /// <summary>The maximum number of term filters.</summary>
    public const int MaxFilters = 32;

    /// <summary>The maximum number of words, or pairs, in one part.</summary>
    public const int MaxWords = 4_096;

    /// <summary>The maximum length of a text in a part, in bytes of UTF-8.</summary>
    public const int MaxTextBytes = 128;

    /// <summary>Creates an analyzer from its definition.</summary>
    /// <param name="json">The definition.</param>
    /// <exception cref="ArgumentException">The definition is too long, not JSON, or uses unknown parts; the message says where,
    /// and what is available.</exception>
    public static Analyzer Read(ReadOnlyMemory<byte> json)
    {
        if (json.Length > MaxBytes)
            throw new ArgumentException($"It has {json.Length:N0} bytes; {MaxBytes:N0} is the most.");
        try
        {
            using var document = JsonDocument.Parse(
                json, new JsonDocumentOptions { MaxDepth = 8, AllowDuplicateProperties = false });
            return PartsReader.Read(document.RootElement);
        }
        catch (JsonException error)
        {
            string place = error.LineNumber is { } line
                ? $" (line {line + 1}, column {(error.BytePositionInLine ?? 0) + 1})"
                : "";
            string reason = error.Message.Split(" LineNumber:")[0].Split(" Path:")[0].Split(" Change the reader")[0];
            throw new ArgumentException($"It is not valid JSON{place}: {reason}", error);
        }
    }
}
