using Treepie.Indexes.Definitions;

namespace Treepie.Queries.Filters;

/// <summary>Functions that <c>filter</c> and <c>select</c> compute, those that indexes compute too.</summary>
internal static class FilterFunctions
{
    /// <summary>The function that counts elements.</summary>
    public const string Count = "count";

    /// <summary>The names of all functions.</summary>
    public static IEnumerable<string> Names => ComputedKinds.Names;

    /// <summary>Returns whether <c>filter</c> computes a function.</summary>
    public static bool Knows(string name) => ComputedKinds.Find(name) is not null;

    /// <summary>Returns a function of one value; null if there is none of that name.</summary>
    public static Func<FilterValue, FilterValue>? Of(string name) =>
        ComputedKinds.Find(name) is { } kind && ComputedKinds.FunctionOf(kind) is { } function
            ? value => value.Map(
                text => function(text) is { } made
                    ? made.Text is { } other ? FilterValue.Of(other, isExact: true) : FilterValue.Of(made.Number)
                    : null)
            : null;
}
