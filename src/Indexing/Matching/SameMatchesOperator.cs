namespace Treepie.Indexing.Matching;

/// <summary>Base of operators that match the same entries as their clause and change its scores.</summary>
internal abstract class SameMatchesOperator(QueryContext context, Operator clause)
    : Operator(context, clause.Expected, clause.Cost)
{
    /// <summary>The clause that decides the matches.</summary>
    public Operator Clause { get; } = clause;

    public override long Next(long from) => Clause.Next(from);

    public override int Count(long window) => Clause.Count(window);

    public override void Fill(long window, WindowSet set) => Clause.Fill(window, set);

    public override void Combine(long window, WindowSet set, SetOperation operation) =>
        Clause.Combine(window, set, operation);

    public override int Keep(long window, Span<ushort> offsets, bool wanted) => Clause.Keep(window, offsets, wanted);

    public override bool Contains(long id) => Clause.Contains(id);
}
