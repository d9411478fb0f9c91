using System.Text.Json;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Filters;

/// <summary>A path of the document, or of a named element of an enclosing <c>any</c>.</summary>
/// <param name="slot">The slot of the element's name, or -1 for the document.</param>
/// <param name="segments">The path; segments before <paramref name="first"/> are the alias or the element's name.</param>
/// <param name="first">The index of the first member.</param>
/// <param name="isExact">Whether comparisons are case-sensitive.</param>
internal sealed class FilterPath(int slot, IReadOnlyList<PathSegment> segments, int first, bool isExact) : FilterOperand
{
    public override bool Any(FilterScope scope, Func<FilterValue, bool> test) =>
        Visit(Root(scope), first, value => AnyIn(value, test));

    public override bool Exists(FilterScope scope) =>
        Visit(Root(scope), first, static value => value.ValueKind != JsonValueKind.Undefined);

    /// <summary>Whether an element of the arrays at this path passes the test.</summary>
    public bool AnyElement(FilterScope scope, Func<JsonElement, bool> test) => Visit(Root(scope), first, value =>
    {
        if (value.ValueKind != JsonValueKind.Array)
            return value.ValueKind is not (JsonValueKind.Undefined or JsonValueKind.Null) && test(value);
        foreach (JsonElement element in value.EnumerateArray())
            if (test(element))
                return true;
        return false;
    });

    private JsonElement Root(FilterScope scope) => slot < 0 ? scope.Document : scope.Elements[slot];

    /// <summary>
    /// Calls the test with each value at the path until one passes; a missing value is passed as undefined.
    /// </summary>
    private bool Visit(JsonElement from, int member, Func<JsonElement, bool> test)
    {
        JsonElement value = from;
        for (int i = member; i < segments.Count; i++)
        {
            PathSegment segment = segments[i];
            value = value.ValueKind == JsonValueKind.Object && value.TryGetProperty(segment.Name, out JsonElement inner)
                ? inner
                : default;
            for (int bracket = 0; bracket < segment.Elements.Count; bracket++)
            {
                int place = segment.Elements[bracket];
                if (place == PathSegment.AllElements)
                    return VisitAll(value, i, bracket, test);
                value = ElementAt(value, place);
            }
        }

        return test(value);
    }

    /// <summary>Continues with each element of an array, and of arrays nested in it.</summary>
    private bool VisitAll(JsonElement array, int segment, int bracket, Func<JsonElement, bool> test)
    {
        if (array.ValueKind is JsonValueKind.Undefined or JsonValueKind.Null)
            return false;
        if (array.ValueKind != JsonValueKind.Array)
            return GoOn(array, segment, bracket, test);
        foreach (JsonElement element in array.EnumerateArray())
            if (VisitAll(element, segment, bracket, test))
                return true;
        return false;
    }

    private bool GoOn(JsonElement element, int segment, int bracket, Func<JsonElement, bool> test)
    {
        for (int next = bracket + 1; next < segments[segment].Elements.Count; next++)
        {
            int place = segments[segment].Elements[next];
            if (place == PathSegment.AllElements)
                return VisitAll(element, segment, next, test);
            element = ElementAt(element, place);
        }

        return Visit(element, segment + 1, test);
    }

    private static JsonElement ElementAt(JsonElement array, int place) =>
        array.ValueKind == JsonValueKind.Array && place < array.GetArrayLength() ? array[place] : default;

    private bool AnyIn(JsonElement value, Func<FilterValue, bool> test)
    {
        if (value.ValueKind != JsonValueKind.Array)
            return test(FilterValue.Of(value, isExact));
        foreach (JsonElement element in value.EnumerateArray())
            if (AnyIn(element, test))
                return true;
        return false;
    }
}
