using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>
/// Comparisons of members of type <c>float</c>, which documents spell with as many digits as tell them from other floats, with
/// values of type <c>double</c>: <c>0.1f</c> is stored as 0.1, and is greater than 0.1 in C#.
/// </summary>
internal static class SingleNumber
{
    /// <summary>Whether a member is of the type.</summary>
    public static bool IsOf(Type type) => (Nullable.GetUnderlyingType(type) ?? type) == typeof(float);

    /// <summary>Whether a float has the value.</summary>
    public static bool IsExact(double value) => (float)value == value;

    /// <summary>Returns the same condition as a comparison with a float.</summary>
    public static (ExpressionType Comparison, object Value) Bound(ExpressionType comparison, double value)
    {
        float nearest = (float)value;
        if (!float.IsFinite(nearest))
            return (comparison, value);
        if (nearest == value)
            return (comparison, nearest);
        bool isUpper = comparison is ExpressionType.LessThan or ExpressionType.LessThanOrEqual;
        return nearest > value
            ? (isUpper ? ExpressionType.LessThan : ExpressionType.GreaterThanOrEqual, nearest)
            : (isUpper ? ExpressionType.LessThanOrEqual : ExpressionType.GreaterThan, nearest);
    }
}
