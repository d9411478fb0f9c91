using System.Text.Json;
using Treepie.Indexes.Fields;

namespace Treepie.Queries.Filters;

/// <summary>
/// A path of the document, or of a named element of an enclosing <c>any</c>. It has the values that an index finds at it: those
/// of all elements of arrays on the way, null for an empty array at its end, and null if there is nothing at all.
/// </summary>
/// <param name="slot">The slot of the element's name, or -1 for the document.</param>
/// <param name="path">The path; null for the element itself.</param>
/// <param name="isExact">Whether comparisons are case-sensitive.</param>
internal sealed class FilterPath(int slot, FieldPath? path, bool isExact) : FilterOperand
{
    private readonly int _members = path?.Count ?? 0;

    public override bool Any(FilterScope scope, Func<FilterValue, bool> test)
    {
        bool isThere = false;
        return Visit(scope, Root(scope), 0, 0, keepsArrays: false, value =>
        {
            isThere = true;
            return test(FilterValue.Of(value, isExact));
        }) || (!isThere && test(FilterValue.Of(default(JsonElement), isExact)));
    }

    public override bool Exists(FilterScope scope) => Visit(scope, Root(scope), 0, 0, keepsArrays: false, static _ => true);

    /// <summary>Whether an element of the arrays at this path passes the test.</summary>
    public bool AnyElement(FilterScope scope, Func<JsonElement, bool> test) =>
        Visit(scope, Root(scope), 0, 0, keepsArrays: true, value =>
        {
            if (value.ValueKind != JsonValueKind.Array)
                return value.ValueKind is not (JsonValueKind.Undefined or JsonValueKind.Null) && test(value);
            foreach (JsonElement element in value.EnumerateArray())
            {
                scope.Count();
                if (test(element))
                    return true;
            }

            return false;
        });

    private JsonElement Root(FilterScope scope) => slot < 0 ? scope.Document : scope.Elements[slot];

    /// <summary>Calls the test with each value at the path until one passes; an empty array is passed as undefined.</summary>
    /// <param name="scope">The evaluation.</param>
    /// <param name="value">The value so far.</param>
    /// <param name="members">The number of members that led to it.</param>
    /// <param name="level">The number of arrays that it is in, counted from the last member.</param>
    /// <param name="keepsArrays">Whether arrays at the end of the path are passed as they are.</param>
    /// <param name="test">The test.</param>
    private bool Visit(
        FilterScope scope, JsonElement value, int members, int level, bool keepsArrays, Func<JsonElement, bool> test)
    {
        int wanted = members == 0 || path is null ? -1 : path.ElementOf(members - 1, level);
        if (value.ValueKind == JsonValueKind.Array && !(keepsArrays && IsWhole(members, level)))
            return VisitArray(scope, value, wanted, members, level, keepsArrays, test);
        if (wanted >= 0)
            return false; // only arrays have elements
        if (members == _members || path is null)
            return test(value);
        return value.ValueKind == JsonValueKind.Object
            && value.TryGetProperty(path.NameOf(members), out JsonElement inner)
            && Visit(scope, inner, members + 1, 0, keepsArrays, test);
    }

    private bool VisitArray(
        FilterScope scope, JsonElement array, int wanted, int members, int level, bool keepsArrays,
        Func<JsonElement, bool> test)
    {
        int index = 0;
        foreach (JsonElement element in array.EnumerateArray())
        {
            scope.Count();
            if ((index++ == wanted || wanted < 0) && Visit(scope, element, members, level + 1, keepsArrays, test))
                return true;
        }

        return index == 0 && wanted < 0 && members == _members && test(default);
    }

    /// <summary>Whether a value is at the end of the path, with all of its brackets.</summary>
    private bool IsWhole(int members, int level) =>
        members == _members && (members == 0 || path is null || level >= path.LevelsOf(members - 1));
}
