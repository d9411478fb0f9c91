using System.Diagnostics;

namespace Treepie.Queries;

/// <summary>How long each part of a query took, one after the other; as spans too, if the query has one.</summary>
internal sealed class QueryPhases(TimeProvider clock, long started, Activity? query = null)
{
    private readonly List<(string Name, TimeSpan Elapsed)> _phases = [];
    private readonly long _started = started;
    private long _last = started;

    /// <summary>Parts that have ended.</summary>
    public IReadOnlyList<(string Name, TimeSpan Elapsed)> Ended => _phases;

    /// <summary>Adds what a part of other parts took.</summary>
    public void Add(string name, TimeSpan elapsed) => _phases.Add((name, elapsed));

    /// <summary>Ends a part; the next begins.</summary>
    public void End(string name)
    {
        long now = clock.GetTimestamp();
        _phases.Add((name, clock.GetElapsedTime(_last, now)));
        if (query is not null)
        {
            using Activity? phase = DatabaseTelemetry.StartBelow(query, "treepie.query." + name, query.StartTimeUtc
                + clock.GetElapsedTime(_started, _last));
            phase?.SetEndTime(query.StartTimeUtc + clock.GetElapsedTime(_started, now));
        }

        _last = now;
    }
}
