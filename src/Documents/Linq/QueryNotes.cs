using System.Text.Json;

namespace Treepie.Linq;

/// <summary>
/// A part of an answer beside its results, as JSON: timings with the plan, highlights, explanations. Filled when the query is
/// run.
/// </summary>
public sealed class QueryNotes
{
    /// <summary>The JSON; undefined until the query was run.</summary>
    public JsonElement Json { get; internal set; }

    /// <summary>
    /// The texts that stand under a field and a document's id: the fragments of a highlight. Empty where there are none.
    /// </summary>
    public IReadOnlyList<string> Of(string field, string documentId)
    {
        bool isThere = Json.ValueKind == JsonValueKind.Object
            && Json.TryGetProperty(field, out JsonElement documents)
            && documents.TryGetProperty(documentId, out JsonElement texts);
        return isThere
            ? [.. Json.GetProperty(field).GetProperty(documentId).EnumerateArray().Select(text => text.GetString() ?? "")]
            : [];
    }
}
