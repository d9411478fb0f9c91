namespace Treepie.Linq;

/// <summary>A condition in RQL, with the information needed to combine it with others.</summary>
/// <param name="Text">The text; for a negation, the negated condition, ready to follow <c>not</c>.</param>
/// <param name="Kind">The outermost operator.</param>
internal readonly record struct Clause(string Text, ClauseKind Kind = ClauseKind.Single)
{
    /// <summary>Always true.</summary>
    public static Clause Always => new("true");

    /// <summary>Always false.</summary>
    public static Clause Never => new("true", ClauseKind.Not);

    /// <summary>The part that the text does not express; null if it expresses everything.</summary>
    public ElementCheck? Check { get; init; }

    /// <summary>Whether only an index can evaluate it.</summary>
    public bool IsOfIndex { get; init; }

    /// <summary>The condition in the form used after <c>where</c> or as an argument.</summary>
    public string Whole => Kind == ClauseKind.Not ? $"true and not {Text}" : Text;

    private Clause Least => Check?.Least ?? this;

    private Clause Filter => Check?.Whole ?? this;

    private Clause Most => this with { Check = null };

    public static Clause Of(bool holds) => holds ? Always : Never;

    /// <summary>Combines conditions with <c>and</c>.</summary>
    public static Clause And(params IEnumerable<Clause> clauses)
    {
        Clause[] parts = [.. clauses.Where(clause => clause != Always)];
        if (parts.Length <= 1)
            return parts is [{ } only] ? only : Always;
        if (Array.Find(parts, part => part.Check is not null).Check is { } first)
            return And(parts.Select(part => part.Most)) with
            {
                Check = new ElementCheck(
                    And(parts.Select(part => part.Least)),
                    And(parts.Select(part => part.Filter)),
                    And(parts.Where(part => part.Check is not null).Select(part => part.Check!.Rest)), // filtered by Where
                    first.Quoted)
            };

        // RQL does not allow a condition to begin with a negation.
        IEnumerable<string> texts = parts.OrderBy(part => part.Kind == ClauseKind.Not).Select(part => part.Kind switch
        {
            ClauseKind.Or => $"({part.Text})",
            ClauseKind.Not => $"not {part.Text}",
            _ => part.Text,
        });
        string text = string.Join(" and ", texts);
        return new Clause(parts.All(part => part.Kind == ClauseKind.Not) ? $"true and {text}" : text, ClauseKind.And)
        {
            IsOfIndex = Array.Exists(parts, part => part.IsOfIndex)
        };
    }

    /// <summary>Combines conditions with <c>or</c>.</summary>
    public static Clause Or(params IEnumerable<Clause> clauses)
    {
        Clause[] parts = [.. clauses.Where(clause => clause != Never)];
        if (parts.Length <= 1)
            return parts is [{ } only] ? only : Never;
        if (parts.Contains(Always))
            return Always;
        if (Array.Find(parts, part => part.Check is not null).Check is { } first)
            return Or(parts.Select(part => part.Most))
                .Checked(Or(parts.Select(part => part.Least)), Or(parts.Select(part => part.Filter)), first);
        return new Clause(
            string.Join(
                " or ", parts.Select(part => part.Kind is ClauseKind.Single or ClauseKind.Or ? part.Text : $"({part.Whole})")),
            ClauseKind.Or)
        {
            IsOfIndex = Array.Exists(parts, part => part.IsOfIndex)
        };
    }

    /// <summary>Negates a condition.</summary>
    public static Clause Not(Clause clause)
    {
        if (clause.Check is { } check)
            return Not(check.Least).Checked(Not(clause.Most), Not(check.Whole), check);
        return clause.Kind switch
        {
            ClauseKind.Not => clause.Text == "true"
                ? Always
                : new Clause(clause.Text.StartsWith('(') ? clause.Text[1..^1] : clause.Text, KindBehindNot(clause.Text)),
            ClauseKind.Single => new Clause(clause.Text, ClauseKind.Not),
            _ => new Clause($"({clause.Text})", ClauseKind.Not),
        } with
        { IsOfIndex = clause.IsOfIndex };
    }

    /// <summary>Wraps the condition in a method call.</summary>
    /// <param name="wrap">Returns the text of the call.</param>
    /// <param name="filters">Whether <c>filter</c> supports the method; otherwise it evaluates the condition alone.</param>
    public Clause Within(Func<string, string> wrap, bool filters)
    {
        Clause Wrapped(Clause clause) => new(wrap(clause.Whole)) { IsOfIndex = clause.IsOfIndex };
        Clause Looked(Clause clause) => filters ? Wrapped(clause) : clause;
        return Wrapped(Most) with
        {
            IsOfIndex = IsOfIndex || !filters,
            Check = Check is null
                ? null
                : Check with { Least = Wrapped(Check.Least), Whole = Looked(Check.Whole), Rest = Looked(Check.Rest) }
        };
    }

    private Clause Checked(Clause least, Clause whole, ElementCheck origin) =>
        this with { Check = new ElementCheck(least, whole, whole, origin.Quoted) };

    /// <summary>
    /// Parentheses after <c>not</c> contain a combination, which must keep them when the negation is removed.
    /// </summary>
    private static ClauseKind KindBehindNot(string text) => text.StartsWith('(') ? ClauseKind.Or : ClauseKind.Single;
}
