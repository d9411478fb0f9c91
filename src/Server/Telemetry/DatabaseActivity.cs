namespace Treepie.Server.Telemetry;

/// <summary>The activity of one database during a watch. Thread-safe.</summary>
internal sealed class DatabaseActivity
{
    /// <summary>The durations of writes, until they were durable.</summary>
    public DurationCounts Writes { get; } = new();

    /// <summary>The durations of queries, from their turn until the first results were found.</summary>
    public DurationCounts Queries { get; } = new();

    /// <summary>The number of writes and queries.</summary>
    public long Count => Writes.Count + Queries.Count;
}
