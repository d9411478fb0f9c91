namespace Treepie.Torture.Runs;

/// <summary>The engine broke a promise.</summary>
internal sealed class TortureFailure(string message, IEnumerable<string>? story = null, Exception? inner = null) : Exception(message, inner)
{
    /// <summary>What happened, in lines.</summary>
    public IReadOnlyList<string> Story { get; } = [.. story ?? []];
}
