using System.Diagnostics;
using System.Diagnostics.Metrics;
using Treepie.Storage;
using Treepie.Storage.Transactions;

namespace Treepie;

/// <summary>
/// Telemetry of databases: durations of writes and queries in the meter <c>Treepie</c>, and their steps as spans of the
/// activity source <c>Treepie</c>. Without listeners it costs one check of a flag. Both are static, as is usual in .NET:
/// listeners find them by name, and they hold no data of a database.
/// </summary>
internal static class DatabaseTelemetry
{
    /// <summary>Name of the meter and of the activity source.</summary>
    public const string Name = "Treepie";

    private const string DatabaseTag = "db.namespace";

    private static readonly ActivitySource _source = new(Name);
    private static readonly Meter _meter = new(Name);

    private static readonly Histogram<double> _writes =
        _meter.CreateHistogram<double>("treepie.write.duration", "s", "From the call of a write to its being durable.",
            advice: Advice());

    private static readonly Histogram<double> _queries =
        _meter.CreateHistogram<double>("treepie.query.duration", "s", "From a query's turn to the first results being found.",
            advice: Advice());

    /// <summary>Whether query durations are being recorded.</summary>
    public static bool CountsQueries => _queries.Enabled;

    /// <summary>Whether write durations are being recorded.</summary>
    public static bool CountsWrites => _writes.Enabled;

    /// <summary>Whether the current operation is traced: there is a listener, and the parent span is sampled.</summary>
    public static bool IsTraced => _source.HasListeners() && Activity.Current is not { Recorded: false };

    /// <summary>Starts a span below the current one. Returns null if it is not traced.</summary>
    public static Activity? Start(string name, string database)
    {
        Activity? span = IsTraced ? _source.StartActivity(name) : null;
        span?.SetTag(DatabaseTag, database);
        return span;
    }

    /// <summary>
    /// Starts a span below another one, which may belong to another thread. The current span does not change.
    /// </summary>
    public static Activity? StartBelow(Activity? parent, string name, DateTime startUtc = default)
    {
        if (parent is null)
            return null;

        Activity? before = Activity.Current;
        Activity? span = _source.StartActivity(name, ActivityKind.Internal, parent.Context, startTime: startUtc);
        Activity.Current = before;
        return span;
    }

    /// <summary>
    /// Executes a write with a span for the whole call, and within it one span for its part of the transaction, on whatever
    /// thread, and one for the commit, from there until it is durable.
    /// </summary>
    public static async Task<TResult> TraceWriteAsync<TResult>(
        StorageEnvironment environment, string database, Func<WriteTransaction, TResult> run, CancellationToken cancellationToken)
    {
        using Activity? write = Start("treepie.write", database);
        DateTime applied = default;
        TResult written = await environment.WriteAsync(
            transaction =>
            {
                using Activity? apply = StartBelow(write, "treepie.apply");
                TResult result = run(transaction);
                apply?.Stop();
                applied = apply is null ? default : apply.StartTimeUtc + apply.Duration;
                return result;
            },
            cancellationToken).ConfigureAwait(false);
        StartBelow(write, "treepie.commit", applied)?.Dispose();
        return written;
    }

    /// <summary>Records the duration of a write until it was durable.</summary>
    public static void Written(string database, TimeSpan elapsed) =>
        _writes.Record(elapsed.TotalSeconds, new KeyValuePair<string, object?>(DatabaseTag, database));

    /// <summary>Records the duration of a query until its first results.</summary>
    public static void Queried(string database, TimeSpan elapsed) =>
        _queries.Record(elapsed.TotalSeconds, new KeyValuePair<string, object?>(DatabaseTag, database));

    // Bucket boundaries from 0.1 milliseconds to ten seconds.
    private static InstrumentAdvice<double> Advice() =>
        new()
        {
            HistogramBucketBoundaries = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
            2.5, 5, 10]
        };
}
