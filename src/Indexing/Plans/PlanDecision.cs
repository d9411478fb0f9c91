namespace Treepie.Indexing.Plans;

/// <summary>A decision made from exact counts before or during the execution of a query.</summary>
/// <param name="Question">The question decided: "how to find the order".</param>
/// <param name="Chosen">The chosen alternative.</param>
/// <param name="Cost">Its estimated cost, in nanoseconds on the machine on which the cost model was measured; null if there was
/// nothing to compare.</param>
/// <param name="Reason">The reason.</param>
/// <param name="NotTaken">The other alternatives.</param>
public sealed record PlanDecision(
    string Question, string Chosen, double? Cost, string Reason, IReadOnlyList<PlanAlternative> NotTaken);

/// <summary>An alternative that was not chosen.</summary>
/// <param name="Name">The name of the alternative.</param>
/// <param name="Cost">Its estimated cost; null if it is not possible here.</param>
/// <param name="Reason">Why it was not chosen.</param>
public sealed record PlanAlternative(string Name, double? Cost, string Reason);
