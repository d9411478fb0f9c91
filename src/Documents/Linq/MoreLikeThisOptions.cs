using System.Text.Json.Nodes;

namespace Treepie.Linq;

/// <summary>How <c>MoreLikeThis</c> chooses words. What is null is as the engine has it.</summary>
public sealed record MoreLikeThisOptions
{
    /// <summary>The members whose words count; needed unless the query names an index.</summary>
    public IReadOnlyList<string>? Fields { get; init; }

    /// <summary>How often a word must stand in the document.</summary>
    public int? MinimumTermFrequency { get; init; }

    /// <summary>In how many documents a word must stand.</summary>
    public int? MinimumDocumentFrequency { get; init; }

    /// <summary>Most words that are looked for.</summary>
    public int? MaximumQueryTerms { get; init; }

    /// <summary>Least length of a word.</summary>
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
