using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>What is said about an expression that has no RQL.</summary>
internal static class Refusal
{
    /// <summary>Most characters of an expression that are quoted.</summary>
    private const int MaxQuoted = 200;

    /// <summary>An error that quotes the expression and says what to write instead.</summary>
    public static NotSupportedException Of(Expression expression, string advice)
    {
        string quoted = expression.ToString();
        if (quoted.Length > MaxQuoted)
            quoted = quoted[..MaxQuoted] + "…";
        return new NotSupportedException($"The query cannot translate '{quoted}'. {advice}");
    }
}
