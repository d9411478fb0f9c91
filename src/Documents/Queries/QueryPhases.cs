using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Treepie.Queries;

/// <summary>How long each part of a query took, one after the other; as spans too, if the query has one.</summary>
internal sealed class QueryPhases(TimeProvider clock, long started, Activity? query = null)
{
    private const int Most = 8;

    private Room _phases;
    private int _count;
    private readonly long _started = started;
    private long _last = started;

    /// <summary>Parts that have ended.</summary>
    public ReadOnlySpan<(string Name, TimeSpan Elapsed)> Ended => ((ReadOnlySpan<(string, TimeSpan)>)_phases)[.._count];

    /// <summary>Adds what a part of other parts took.</summary>
    public void Add(string name, TimeSpan elapsed)
    {
        if (_count < Most) // whoever writes the times again and again gets the first
            _phases[_count++] = (name, elapsed);
    }

    /// <summary>Ends a part; the next begins.</summary>
    public void End(string name)
    {
        long now = clock.GetTimestamp();
        Add(name, clock.GetElapsedTime(_last, now));
        if (query is not null)
        {
            using Activity? phase = DatabaseTelemetry.StartBelow(query, "treepie.query." + name, query.StartTimeUtc
                + clock.GetElapsedTime(_started, _last));
            phase?.SetEndTime(query.StartTimeUtc + clock.GetElapsedTime(_started, now));
        }

        _last = now;
    }

    /// <summary>Places for the parts, in the object itself: every query has them.</summary>
    [InlineArray(Most)]
    private struct Room
    {
        private (string Name, TimeSpan Elapsed) _first;
    }
}
