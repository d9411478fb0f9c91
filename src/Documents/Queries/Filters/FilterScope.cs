using System.Text.Json;

namespace Treepie.Queries.Filters;

/// <summary>
/// The state of a filter evaluation: a document, and the current array elements of the enclosing <c>any</c> calls.
/// </summary>
/// <param name="document">The document with its metadata.</param>
/// <param name="id">Its id.</param>
/// <param name="elements">The number of element slots.</param>
/// <param name="time">The time of the query, which ends the evaluation.</param>
internal sealed class FilterScope(JsonElement document, string id, int elements, ExaminationTime time)
{
    /// <summary>The number of array elements visited between checks of the time.</summary>
    private const int ElementsAtOnce = 1_024;

    private int _elementsToGo = ElementsAtOnce;

    public JsonElement Document => document;

    public string Id => id;

    /// <summary>The current elements, by slot.</summary>
    public JsonElement[] Elements { get; } = elements == 0 ? [] : new JsonElement[elements];

    /// <summary>Counts a visited array element, and checks the time once in a while.</summary>
    /// <exception cref="OperationCanceledException">The query was cancelled.</exception>
    /// <exception cref="TimeoutException">The time of the query is spent.</exception>
    public void Count()
    {
        if (--_elementsToGo > 0)
            return;
        _elementsToGo = ElementsAtOnce;
        time.Check();
    }
}
