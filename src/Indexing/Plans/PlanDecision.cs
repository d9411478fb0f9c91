namespace Treepie.Indexing.Plans;

/// <summary>One thing that was decided from exact counts before or while a query ran.</summary>
/// <param name="Question">What was to be decided: "how to find the order".</param>
/// <param name="Chosen">The way taken.</param>
/// <param name="Cost">What it was reckoned to cost, in nanoseconds on the machine the model was measured on; null where there was
/// nothing to compare.</param>
/// <param name="Reason">Why.</param>
/// <param name="NotTaken">The other ways.</param>
public sealed record PlanDecision(
    string Question, string Chosen, double? Cost, string Reason, IReadOnlyList<PlanAlternative> NotTaken);

/// <summary>A way that was not taken.</summary>
/// <param name="Name">The way.</param>
/// <param name="Cost">What it would have cost; null where it is not possible here.</param>
/// <param name="Reason">Why not.</param>
public sealed record PlanAlternative(string Name, double? Cost, string Reason);
