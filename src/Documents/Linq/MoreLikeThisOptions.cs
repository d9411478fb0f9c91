using System.Text.Json.Nodes;

namespace Treepie.Linq;

/// <summary>How <c>MoreLikeThis</c> selects the words to search for. Null: the default of the engine.</summary>
public sealed record MoreLikeThisOptions
{
    /// <summary>The members whose words are used; required unless the query names an index.</summary>
    public IReadOnlyList<string>? Fields { get; init; }

    /// <summary>The minimum number of occurrences of a word in the document.</summary>
    public int? MinimumTermFrequency { get; init; }

    /// <summary>The minimum number of documents that contain a word.</summary>
    public int? MinimumDocumentFrequency { get; init; }

    /// <summary>The maximum number of words to search for.</summary>
    public int? MaximumQueryTerms { get; init; }

    /// <summary>The minimum length of a word.</summary>
    public int? MinimumWordLength { get; init; }

    internal JsonObject ToJson()
    {
        var json = new JsonObject();
        if (Fields is { } fields)
            json[nameof(Fields)] = new JsonArray([.. fields.Select(field => (JsonNode?)field)]);
        Add(json, nameof(MinimumTermFrequency), MinimumTermFrequency);
        Add(json, nameof(MinimumDocumentFrequency), MinimumDocumentFrequency);
        Add(json, nameof(MaximumQueryTerms), MaximumQueryTerms);
        Add(json, nameof(MinimumWordLength), MinimumWordLength);
        return json;
    }

    private static void Add(JsonObject json, string name, int? value)
    {
        if (value is { } number)
            json[name] = number;
    }
}
