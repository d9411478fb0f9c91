using System.Text.Json;

namespace Treepie.Queries.Filters;

/// <summary>
/// The state of a filter evaluation: a document, and the current array elements of the enclosing <c>any</c> calls.
/// </summary>
/// <param name="document">The document with its metadata.</param>
/// <param name="id">Its id.</param>
/// <param name="elements">The number of element slots.</param>
internal sealed class FilterScope(JsonElement document, string id, int elements)
{
    public JsonElement Document => document;

    public string Id => id;

    /// <summary>The current elements, by slot.</summary>
    public JsonElement[] Elements { get; } = elements == 0 ? [] : new JsonElement[elements];
}
