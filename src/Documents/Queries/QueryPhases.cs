using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Treepie.Queries;

/// <summary>Measures the consecutive phases of a query, and records them as child spans if the query is traced.</summary>
internal sealed class QueryPhases(TimeProvider clock, long started, Activity? query = null)
{
    private const int Most = 8;

    private Room _phases;
    private int _count;
    private readonly long _started = started;
    private long _last = started;

    /// <summary>The completed phases.</summary>
    public ReadOnlySpan<(string Name, TimeSpan Elapsed)> Ended => ((ReadOnlySpan<(string, TimeSpan)>)_phases)[.._count];

    /// <summary>Adds a phase with a given duration.</summary>
    public void Add(string name, TimeSpan elapsed)
    {
        if (_count < Most) // times that are written repeatedly keep the first values
            _phases[_count++] = (name, elapsed);
    }

    /// <summary>Ends the current phase and begins the next.</summary>
    public void End(string name) => End(name, clock.GetTimestamp());

    /// <summary>Same as above, for a phase that ended at a timestamp of the clock.</summary>
    public void End(string name, long now)
    {
        Add(name, clock.GetElapsedTime(_last, now));
        if (query is not null)
        {
            using Activity? phase = DatabaseTelemetry.StartBelow(query, "treepie.query." + name, query.StartTimeUtc
                + clock.GetElapsedTime(_started, _last));
            phase?.SetEndTime(query.StartTimeUtc + clock.GetElapsedTime(_started, now));
        }

        _last = now;
    }

    /// <summary>Inline storage for the phases, which avoids an allocation per query.</summary>
    [InlineArray(Most)]
    private struct Room
    {
        private (string Name, TimeSpan Elapsed) _first;
    }
}
