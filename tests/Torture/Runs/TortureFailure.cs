namespace Treepie.Torture.Runs;

/// <summary>The engine broke a promise.</summary>
internal sealed class TortureFailure(string message, IEnumerable<string>? story = null, Exception? inner = null)
    : Exception(message, inner)
{
    /// <summary>What happened, in lines.</summary>
    public IReadOnlyList<string> Story { get; } = [.. story ?? []];

    /// <summary>What it happened in, if that can be run again.</summary>
    public Scenario? Scenario { get; private init; }

    /// <summary>How closely crash states were looked at.</summary>
    public ExplorerShape? Shape { get; private init; }

    /// <summary>The same, with what it happened in.</summary>
    public TortureFailure In(Scenario scenario, ExplorerShape shape) =>
        new(Message, Story, InnerException) { Scenario = scenario, Shape = shape };
}
