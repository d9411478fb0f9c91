using System.Text.Json;

namespace Treepie.Queries.Filters;

/// <summary>What a filter looks at: a document, and the elements of its arrays that stand under names at the moment.</summary>
/// <param name="document">The document with its metadata.</param>
/// <param name="id">Its id.</param>
/// <param name="elements">How many names there are.</param>
internal sealed class FilterScope(JsonElement document, string id, int elements)
{
    public JsonElement Document => document;

    public string Id => id;

    /// <summary>The elements, by the place of their name.</summary>
    public JsonElement[] Elements { get; } = elements == 0 ? [] : new JsonElement[elements];
}
