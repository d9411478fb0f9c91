using System.Buffers;
using System.Text.Encodings.Web;
using System.Text.Json;
using Treepie.Indexing;
using Treepie.Indexing.Suggestions;
using Treepie.Queries.Binding;

namespace Treepie.Queries.Faceting;

/// <summary>Writes suggestions as result rows: a JSON object for each, in the format of RavenDB clients.</summary>
internal static class SuggestionRows
{
    /// <summary>
    /// Finds the suggestions of a query. They are empty if there is no index because the collection has no documents.
    /// </summary>
    public static IReadOnlyList<SuggestionResult> Find(
        IReadOnlyList<BoundSuggestion> wanted, IndexSearcher? searcher, IndexTail? tail, CancellationToken cancellationToken) =>
        [.. wanted.Select(
            each => new SuggestionResult(each.Name, searcher is null ? [] : Find(each, searcher, tail, cancellationToken)))];

    /// <summary>Writes <c>{"Name":"…","Suggestions":["…",…]}</c> for each.</summary>
    public static IReadOnlyList<byte[]> Of(IReadOnlyList<SuggestionResult> results)
    {
        var rows = new byte[results.Count][];
        for (int i = 0; i < rows.Length; i++)
        {
            var output = new ArrayBufferWriter<byte>();
            using (var json = new Utf8JsonWriter(
                output, new JsonWriterOptions { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping }))
            {
                json.WriteStartObject();
                json.WriteString("Name", results[i].Name);
                json.WriteStartArray("Suggestions");
                foreach (Suggestion suggestion in results[i].Suggestions)
                    json.WriteStringValue(suggestion.Term);
                json.WriteEndArray();
                json.WriteEndObject();
            }

            rows[i] = output.WrittenSpan.ToArray();
        }

        return rows;
    }

    /// <summary>
    /// Returns suggestions in the order of the input texts, without duplicates and without the input texts.
    /// </summary>
    private static List<Suggestion> Find(
        BoundSuggestion wanted, IndexSearcher searcher, IndexTail? tail, CancellationToken cancellationToken)
    {
        var seen = new HashSet<string>(wanted.Texts, StringComparer.OrdinalIgnoreCase);
        var found = new List<Suggestion>();
        foreach (string text in wanted.Texts)
        {
            SuggestionRequest request = wanted.Request with { Text = text };
            found.AddRange(
                (tail is null
                    ? searcher.Suggest(request, cancellationToken)
                    : searcher.Suggest(request, tail, cancellationToken)).Where(suggestion => seen.Add(suggestion.Term)));
        }

        return found;
    }
}
