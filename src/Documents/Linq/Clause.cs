namespace Treepie.Linq;

/// <summary>A condition as RQL, with what is needed to join it with others.</summary>
/// <param name="Text">The text; of a negation what is negated, ready to stand behind <c>not</c>.</param>
/// <param name="Kind">How its outermost part joins.</param>
internal readonly record struct Clause(string Text, ClauseKind Kind = ClauseKind.Single)
{
    /// <summary>Holds always.</summary>
    public static Clause Always => new("true");

    /// <summary>Holds never.</summary>
    public static Clause Never => new("true", ClauseKind.Not);

    /// <summary>The condition as it stands after <c>where</c> or as an argument.</summary>
    public string Whole => Kind == ClauseKind.Not ? $"true and not {Text}" : Text;

    public static Clause Of(bool holds) => holds ? Always : Never;

    /// <summary>All of them hold.</summary>
    public static Clause And(params IEnumerable<Clause> clauses)
    {
        Clause[] parts = [.. clauses.Where(clause => clause != Always)];
        if (parts.Length <= 1)
            return parts is [{ } only] ? only : Always;

        // A negation cannot come first.
        IEnumerable<string> texts = parts.OrderBy(part => part.Kind == ClauseKind.Not).Select(part => part.Kind switch
        {
            ClauseKind.Or => $"({part.Text})",
            ClauseKind.Not => $"not {part.Text}",
            _ => part.Text,
        });
        string text = string.Join(" and ", texts);
        return new Clause(parts.All(part => part.Kind == ClauseKind.Not) ? $"true and {text}" : text, ClauseKind.And);
    }

    /// <summary>At least one of them holds.</summary>
    public static Clause Or(params IEnumerable<Clause> clauses)
    {
        Clause[] parts = [.. clauses.Where(clause => clause != Never)];
        if (parts.Length <= 1)
            return parts is [{ } only] ? only : Never;
        if (parts.Contains(Always))
            return Always;
        return new Clause(
            string.Join(
                " or ", parts.Select(part => part.Kind is ClauseKind.Single or ClauseKind.Or ? part.Text : $"({part.Whole})")),
            ClauseKind.Or);
    }

    /// <summary>It does not hold.</summary>
    public static Clause Not(Clause clause) => clause.Kind switch
    {
        ClauseKind.Not => clause.Text == "true"
            ? Always
            : new Clause(clause.Text.StartsWith('(') ? clause.Text[1..^1] : clause.Text, KindBehindNot(clause.Text)),
        ClauseKind.Single => new Clause(clause.Text, ClauseKind.Not),
        _ => new Clause($"({clause.Text})", ClauseKind.Not),
    };

    /// <summary>What stands in parentheses behind <c>not</c> was joined; it stays in them where it is taken out.</summary>
    private static ClauseKind KindBehindNot(string text) => text.StartsWith('(') ? ClauseKind.Or : ClauseKind.Single;
}
