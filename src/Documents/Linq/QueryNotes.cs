using System.Text.Json;

namespace Treepie.Linq;

/// <summary>
/// Additional output of a query as JSON: timings with the plan, highlights or explanations. Filled in when the query is executed.
/// </summary>
public sealed class QueryNotes
{
    /// <summary>The JSON; undefined until the query has been executed.</summary>
    public JsonElement Json { get; internal set; }

    /// <summary>
    /// Returns the highlighted fragments of a field in the specified document; empty if there are none.
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
