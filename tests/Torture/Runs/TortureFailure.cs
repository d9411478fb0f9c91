namespace Treepie.Torture.Runs;

/// <summary>The engine violated a guarantee.</summary>
internal sealed class TortureFailure(string message, IEnumerable<string>? story = null, Exception? inner = null)
    : Exception(message, inner)
{
    /// <summary>Log of events.</summary>
    public IReadOnlyList<string> Story { get; } = [.. story ?? []];

    /// <summary>The scenario in which it failed, if that can be repeated.</summary>
    public Scenario? Scenario { get; private init; }

    /// <summary>How thoroughly crash states were explored.</summary>
    public ExplorerShape? Shape { get; private init; }

    /// <summary>Returns a copy with the scenario.</summary>
    public TortureFailure In(Scenario scenario, ExplorerShape shape) =>
        new(Message, Story, InnerException) { Scenario = scenario, Shape = shape };
}
