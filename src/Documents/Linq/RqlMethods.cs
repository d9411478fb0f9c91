namespace Treepie.Linq;

/// <summary>
/// What only a query can answer, for use inside <c>Where</c>: <c>orders.Where(o => RqlMethods.Search(o.Notes, "fragile") ||
/// o.Freight > 100)</c>; and <see cref="Load"/> inside <c>Select</c>. Called outside a query, they throw.
/// </summary>
public static class RqlMethods
{
    /// <summary>
    /// In <c>Select</c>: another document, by its id, from the same state of the database; null where there is none, and so are
    /// the members that are read of it then. The session does not follow it.
    /// </summary>
    public static T? Load<T>(string? id)
        where T : class => throw new InvalidOperationException(
        "RqlMethods.Load is a part of what a query selects and has no value outside of one. Use session.Load.");

    /// <summary>
    /// At least one word is in the member (all, with <paramref name="allWords"/>); <c>*</c> is a wildcard, double quotes make a
    /// phrase.
    /// </summary>
    public static bool Search(object? member, string words, bool allWords = false) => throw Outside(nameof(Search));

    /// <summary>
    /// A text of the member is nearly the given one; see <c>fuzzy()</c> for what <paramref name="similarity"/> means.
    /// </summary>
    public static bool Fuzzy(object? member, string text, double similarity) => throw Outside(nameof(Fuzzy));

    /// <summary>
    /// All words stand together, each at most <paramref name="distance"/> places from where it would stand in the phrase.
    /// </summary>
    public static bool Proximity(object? member, string words, int distance) => throw Outside(nameof(Proximity));

    /// <summary>What the classic syntax of Lucene says about the member.</summary>
    public static bool Lucene(object? member, string query) => throw Outside(nameof(Lucene));

    /// <summary>The member is in the document, be it null.</summary>
    public static bool Exists(object? member) => throw Outside(nameof(Exists));

    /// <summary>As the condition, but texts are compared with case.</summary>
    public static bool Exact(bool condition) => throw Outside(nameof(Exact));

    /// <summary>As the condition, with so many times its score.</summary>
    public static bool Boost(bool condition, double factor) => throw Outside(nameof(Boost));

    /// <summary>A place, by the members of its latitude and longitude, lies so to a shape.</summary>
    public static bool Spatial(double latitude, double longitude, SpatialCriteria criteria) => throw Outside(nameof(Spatial));

    /// <summary>A place or shape, a member with WKT, lies so to a shape.</summary>
    public static bool Spatial(string? wkt, SpatialCriteria criteria) => throw Outside(nameof(Spatial));

    private static InvalidOperationException Outside(string name) =>
        new($"RqlMethods.{name} is a condition of a query and has no value outside of one. Use it in Where of session.Query.");
}
