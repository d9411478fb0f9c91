using System.Text.Json;

namespace Treepie.Indexing.Analysis.Parts;

/// <summary>
/// Analyzers from parts that are there, as JSON:
/// <code>
/// {
///   "CharacterFilters": [ { "Map": { "&amp;": " and " } }, { "Replace": "&lt;[^&gt;]*&gt;", "With": " " } ],
///   "Tokenizer": "Standard",
///   "Filters": [ "LowerCase", "Accents", { "StopWords": "English" }, { "Stem": "English" } ]
/// }
/// </code>
/// </summary>
/// <remarks>
/// A text goes through the character filters, the tokenizer cuts it into words, and each word goes through the filters, in the
/// order in which they stand. Tokenizers: <c>Standard</c> (where none is said), <c>Letters</c>, <c>Whitespace</c>,
/// <c>Keyword</c>, <c>{"Pattern": ";"}</c> (an expression of what stands between words). Filters: <c>LowerCase</c>,
/// <c>Accents</c>, <c>{"StopWords": "English"}</c> or <c>["the", "a"]</c>, <c>{"Stem": "German"}</c>,
/// <c>{"NGrams": {"Min": 2, "Max": 6}}</c>, <c>{"EdgeNGrams": …}</c>, <c>{"Length": {"Min": 2, "Max": 64}}</c>,
/// <c>{"Replace": "-", "With": ""}</c>, <c>{"Synonyms": [["tv", "television"]]}</c>.
/// </remarks>
public static class AnalyzerParts
{
    /// <summary>Longest definition in UTF-8: 64 KiB.</summary>
    public const int MaxBytes = 64 * 1024;

    /// <summary>Most filters of characters.</summary>
    public const int MaxCharacterFilters = 16;

    /// <summary>Most filters of terms.</summary>
    public const int MaxFilters = 32;

    /// <summary>Most words, or pairs, of one part.</summary>
    public const int MaxWords = 4_096;

    /// <summary>Longest text in one part, in bytes of UTF-8.</summary>
    public const int MaxTextBytes = 128;

    /// <summary>Puts an analyzer together.</summary>
    /// <param name="json">The parts.</param>
    /// <exception cref="ArgumentException">It is too long, no JSON, or asks for what there is not; the message says where and
    /// what there is.</exception>
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
