namespace Treepie.Server.Telemetry;

/// <summary>What one database did while somebody watched. Thread-safe.</summary>
internal sealed class DatabaseActivity
{
    /// <summary>From the call of each write to its being durable.</summary>
    public DurationCounts Writes { get; } = new();

    /// <summary>From the turn of each query to its first results being found.</summary>
    public DurationCounts Queries { get; } = new();

    /// <summary>Writes and queries.</summary>
    public long Count => Writes.Count + Queries.Count;
}
