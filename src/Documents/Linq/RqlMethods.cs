namespace Treepie.Linq;

/// <summary>
/// RQL methods for use in <c>Where</c>: <c>orders.Where(o => RqlMethods.Search(o.Notes, "fragile") || o.Freight > 100)</c>; and
/// <see cref="Load"/> for use in <c>Select</c>. They throw when called outside of a query.
/// </summary>
public static class RqlMethods
{
    /// <summary>
    /// In <c>Select</c>: another document by id, from the same snapshot. Null if it does not exist, as are its members then. The
    /// session does not track it.
    /// </summary>
    public static T? Load<T>(string? id)
        where T : class => throw new InvalidOperationException(
        "RqlMethods.Load is a part of what a query selects and has no value outside of one. Use session.Load.");

    /// <summary>
    /// Matches if the member contains at least one of the words (all of them with <paramref name="allWords"/>). <c>*</c> is a
    /// wildcard; double quotes enclose a phrase.
    /// </summary>
    public static bool Search(object? member, string words, bool allWords = false) => throw Outside(nameof(Search));

    /// <summary>
    /// Matches if the member is similar to the text; see <c>fuzzy()</c> of RQL for the meaning of <paramref name="similarity"/>.
    /// </summary>
    public static bool Fuzzy(object? member, string text, double similarity) => throw Outside(nameof(Fuzzy));

    /// <summary>
    /// Matches if the member contains all words, each at most <paramref name="distance"/> positions from its place in the phrase.
    /// </summary>
    public static bool Proximity(object? member, string words, int distance) => throw Outside(nameof(Proximity));

    /// <summary>Matches the member with a query in Lucene's classic query syntax.</summary>
    public static bool Lucene(object? member, string query) => throw Outside(nameof(Lucene));

    /// <summary>Matches if the document has the member, even if its value is null.</summary>
    public static bool Exists(object? member) => throw Outside(nameof(Exists));

    /// <summary>Evaluates the condition with case-sensitive string comparisons.</summary>
    public static bool Exact(bool condition) => throw Outside(nameof(Exact));

    /// <summary>Multiplies the score of the condition by a factor.</summary>
    public static bool Boost(bool condition, double factor) => throw Outside(nameof(Boost));

    /// <summary>Matches by the spatial relation of a point, given by two members, to a shape.</summary>
    public static bool Spatial(double latitude, double longitude, SpatialCriteria criteria) => throw Outside(nameof(Spatial));

    /// <summary>Matches by the spatial relation of a point or shape, given by a member with WKT, to a shape.</summary>
    public static bool Spatial(string? wkt, SpatialCriteria criteria) => throw Outside(nameof(Spatial));

    private static InvalidOperationException Outside(string name) =>
        new($"RqlMethods.{name} is a condition of a query and has no value outside of one. Use it in Where of session.Query.");
}
