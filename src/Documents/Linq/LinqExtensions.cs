namespace Treepie.Linq;

/// <summary>Extension methods for query conditions. They also work on objects in memory.</summary>
public static class LinqExtensions
{
    /// <summary>Returns whether a value is in a list: <c>orders.Where(o => o.City.In("Reims", "Lyon"))</c>.</summary>
    public static bool In<T>(this T value, params T[] values) => values.Contains(value);

    /// <summary>Returns whether a value is in a list.</summary>
    public static bool In<T>(this T value, IEnumerable<T> values) => values.Contains(value);

    /// <summary>Returns whether a list contains at least one of the values.</summary>
    public static bool ContainsAny<T>(this IEnumerable<T> list, IEnumerable<T> values)
    {
        ArgumentNullException.ThrowIfNull(list);
        HashSet<T> wanted = [.. values];
        return list.Any(wanted.Contains);
    }

    /// <summary>Returns whether a list contains all of the values.</summary>
    public static bool ContainsAll<T>(this IEnumerable<T> list, IEnumerable<T> values)
    {
        ArgumentNullException.ThrowIfNull(list);
        HashSet<T> there = [.. list];
        return values.All(there.Contains);
    }
}
