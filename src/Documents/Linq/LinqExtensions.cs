namespace Treepie.Linq;

/// <summary>Methods for conditions of queries, which work on objects in memory too.</summary>
public static class LinqExtensions
{
    /// <summary>Whether a value is one of a list: <c>orders.Where(o => o.City.In("Reims", "Lyon"))</c>.</summary>
    public static bool In<T>(this T value, params T[] values) => values.Contains(value);

    /// <summary>Whether a value is one of a list.</summary>
    public static bool In<T>(this T value, IEnumerable<T> values) => values.Contains(value);

    /// <summary>Whether a list has at least one of the values.</summary>
    public static bool ContainsAny<T>(this IEnumerable<T> list, IEnumerable<T> values)
    {
        ArgumentNullException.ThrowIfNull(list);
        HashSet<T> wanted = [.. values];
        return list.Any(wanted.Contains);
    }

    /// <summary>Whether a list has all of the values.</summary>
    public static bool ContainsAll<T>(this IEnumerable<T> list, IEnumerable<T> values)
    {
        ArgumentNullException.ThrowIfNull(list);
        HashSet<T> there = [.. list];
        return values.All(there.Contains);
    }
}
