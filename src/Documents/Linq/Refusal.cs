using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>Creates exceptions for expressions without an equivalent in RQL.</summary>
internal static class Refusal
{
    /// <summary>The maximum number of quoted characters of an expression.</summary>
    private const int MaxQuoted = 200;

    /// <summary>Creates an exception that quotes the expression and says what to write instead.</summary>
    public static NotSupportedException Of(Expression expression, string advice)
    {
        string quoted = expression.ToString();
        if (quoted.Length > MaxQuoted)
            quoted = quoted[..MaxQuoted] + "…";
        return new NotSupportedException($"The query cannot translate '{quoted}'. {advice}");
    }
}
