namespace Treepie.Linq;

/// <summary>Throws the same exceptions as LINQ, with the text of the query.</summary>
internal static class ResultRows
{
    public static T First<T>(List<T> rows) =>
        rows.Count > 0
            ? rows[0]
            : throw new InvalidOperationException("The query has no results. Use FirstOrDefault where there may be none.");

    /// <summary>Returns how many results precede that of a place.</summary>
    public static int Place(int place, string name) =>
        place >= 0 ? place : throw new ArgumentOutOfRangeException(nameof(place), place, $"{name} counts results from 0.");

    public static T Single<T>(List<T> rows) => rows.Count == 1 ? rows[0] : throw Wrong(rows.Count);

    public static T? SingleOrDefault<T>(List<T> rows) => rows.Count == 0 ? default : Single(rows);

    private static InvalidOperationException Wrong(int count) =>
        new(
            count == 0
                ? "The query has no results. Use SingleOrDefault where there may be none."
                : "The query has more than one result. Use First, or a condition that only one meets.");
}
