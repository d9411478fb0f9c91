namespace Treepie.Queries;

/// <summary>How long each part of a query took, one after the other.</summary>
internal sealed class QueryPhases(TimeProvider clock, long started)
{
    private readonly List<(string Name, TimeSpan Elapsed)> _phases = [];
    private long _last = started;

    /// <summary>Parts that have ended.</summary>
    public IReadOnlyList<(string Name, TimeSpan Elapsed)> Ended => _phases;

    /// <summary>Ends a part; the next begins.</summary>
    public void End(string name)
    {
        long now = clock.GetTimestamp();
        _phases.Add((name, clock.GetElapsedTime(_last, now)));
        _last = now;
    }
}
