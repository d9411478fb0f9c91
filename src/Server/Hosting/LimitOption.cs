using System.Globalization;

namespace Treepie.Server.Hosting;

/// <summary>
/// A limit that can be set on the command line: one row of the table <see cref="All"/>, which defines the parser, the help
/// with its defaults, and how the value is applied.
/// </summary>
/// <param name="Name">The name without the dashes.</param>
/// <param name="Meaning">What it limits, for the help.</param>
/// <param name="Most">The maximum value.</param>
/// <param name="Get">Reads the value from the options.</param>
/// <param name="Set">Writes the value to the options.</param>
internal sealed record LimitOption(
    string Name, string Meaning, decimal Most, Func<TreepieServerOptions, decimal> Get, Action<TreepieServerOptions, decimal> Set)
{
    private const string SecondsSuffix = "-seconds";

    /// <summary>The minimum time: timers have millisecond resolution.</summary>
    private const decimal ShortestSeconds = 0.001m;

    /// <summary>
    /// The maximum time, eleven days: longer times serve no purpose, and timers support at most seven weeks.
    /// </summary>
    private const decimal MostSeconds = 1_000_000;

    /// <summary>The maximum of sizes, one terabyte: more than any machine buffers.</summary>
    private const decimal MostBytes = 1L << 40;

    /// <summary>All limits, in the order of the help.</summary>
    public static IReadOnlyList<LimitOption> All { get; } =
    [
        Server(
            "max-request-bytes", "Largest request",
            Array.MaxLength, static l => l.MaxRequestBytes, static (l, n) => l with { MaxRequestBytes = n }),
        Server(
            "max-query-bytes", "Largest query with its parameters",
            Array.MaxLength, static l => l.MaxQueryBytes, static (l, n) => l with { MaxQueryBytes = n }),
        Server(
            "max-buffered-bytes", "Bytes of all requests together",
            MostBytes, static l => l.MaxBufferedBytes, static (l, n) => l with { MaxBufferedBytes = n }),
        Seconds(
            "max-request-seconds", "Longest request, streams apart",
            static l => l.RequestTimeout, static (l, time) => l with { RequestTimeout = time }),
        Server(
            "max-requests", "Requests at work at a time",
            int.MaxValue, static l => l.MaxConcurrentRequests, static (l, n) => l with { MaxConcurrentRequests = (int)n }),
        Server(
            "max-requests-per-client", "Requests of one client",
            int.MaxValue, static l => l.MaxRequestsPerClient, static (l, n) => l with { MaxRequestsPerClient = (int)n }),
        Server(
            "max-commands", "Commands or ids in a request",
            int.MaxValue, static l => l.MaxCommandsPerRequest, static (l, n) => l with { MaxCommandsPerRequest = (int)n }),
        Server(
            "max-queries", "Queries at work at a time, by default two a core",
            int.MaxValue, static l => l.MaxQueries, static (l, n) => l with { MaxQueries = (int)n }),
        Server(
            "max-queued-queries", "Queries that wait for their turn",
            int.MaxValue, static l => l.MaxQueuedQueries, static (l, n) => l with { MaxQueuedQueries = (int)n }),
        Seconds(
            "max-query-wait-seconds", "Wait of a query for its turn",
            static l => l.MaxQueryWait, static (l, time) => l with { MaxQueryWait = time }),
        Server(
            "max-bulk-inserts", "Bulk inserts and imports at a time",
            int.MaxValue, static l => l.MaxBulkInserts, static (l, n) => l with { MaxBulkInserts = (int)n }),
        Server(
            "max-bulk-inserts-per-client", "Bulk inserts of one client",
            int.MaxValue, static l => l.MaxBulkInsertsPerClient, static (l, n) => l with { MaxBulkInsertsPerClient = (int)n }),
        Seconds(
            "max-bulk-idle-seconds", "Silence of a bulk insert",
            static l => l.BulkInsertIdleTimeout, static (l, time) => l with { BulkInsertIdleTimeout = time }),
        Server(
            "max-streams", "Streams and exports at a time",
            int.MaxValue, static l => l.MaxStreams, static (l, n) => l with { MaxStreams = (int)n }),
        Server(
            "max-streams-per-client", "Streams of one client",
            int.MaxValue, static l => l.MaxStreamsPerClient, static (l, n) => l with { MaxStreamsPerClient = (int)n }),
        Seconds(
            "max-stream-seconds", "Longest stream",
            static l => l.MaxStreamAge, static (l, time) => l with { MaxStreamAge = time }),
        Seconds(
            "max-reader-stall-seconds", "Wait for the reader of an answer",
            static l => l.StalledReaderTimeout, static (l, time) => l with { StalledReaderTimeout = time }),
        Server(
            "min-read-rate", "Least bytes a second of a reader",
            int.MaxValue, static l => l.MinReadBytesPerSecond, static (l, n) => l with { MinReadBytesPerSecond = n }),
        Server(
            "max-connections", "Connections; 0: half of the files it may open",
            int.MaxValue, static l => l.MaxConnections, static (l, n) => l with { MaxConnections = (int)n }),
        Seconds(
            "max-connection-idle-seconds", "Connection without a request",
            static l => l.ConnectionIdleTimeout, static (l, time) => l with { ConnectionIdleTimeout = time }),
        Seconds(
            "max-database-idle-seconds", "Database that nobody uses",
            static l => l.DatabaseIdleTimeout, static (l, time) => l with { DatabaseIdleTimeout = time }),
        Seconds(
            "max-headers-seconds", "Headers of a request",
            static l => l.RequestHeadersTimeout, static (l, time) => l with { RequestHeadersTimeout = time }),
        Server(
            "max-operations", "Ended operations remembered",
            int.MaxValue, static l => l.MaxRememberedOperations, static (l, n) => l with { MaxRememberedOperations = (int)n }),
        Server(
            "min-free-disk-bytes", "Free bytes below which it is not ready",
            MostBytes, static l => l.LeastFreeDiskBytes, static (l, n) => l with { LeastFreeDiskBytes = n }),
        Database(
            "max-document-bytes", "Largest document", DatabaseOptions.MostDocumentBytes, static d => d.MaxDocumentBytes,
            static (d, n) => d with { MaxDocumentBytes = n }) with { Least = DatabaseOptions.LeastDocumentBytes },
        new(
            "max-attachment-bytes", "Largest content of an attachment",
            MostBytes, static o => o.Database.MaxAttachmentBytes,
            static (o, n) => o.Database = o.Database with { MaxAttachmentBytes = (long)n }),
        Database(
            "max-document-depth", "Deepest nesting of a document", DatabaseOptions.MostDocumentDepth,
            static d => d.MaxDocumentDepth, static (d, n) => d with { MaxDocumentDepth = n }),
        Database(
            "max-id-bytes", "Longest id", DatabaseOptions.MostIdBytes, static d => d.MaxIdBytes,
            static (d, n) => d with { MaxIdBytes = n }),
        Database(
            "max-shape-corners", "Corners of a query's shapes",
            int.MaxValue, static d => d.MaxShapeCorners, static (d, n) => d with { MaxShapeCorners = n }),
        Database(
            "max-distinct-results", "Rows that 'distinct' tells apart",
            int.MaxValue, static d => d.MaxDistinctResults, static (d, n) => d with { MaxDistinctResults = n }),
        OfDatabase(
            "max-query-seconds", "Longest search of a query",
            static d => d.MaxQueryTime, static (d, time) => d with { MaxQueryTime = time }),
        OfDatabase(
            "max-stale-wait-seconds", "Wait of a query for an index",
            static d => d.DefaultStaleWait, static (d, time) => d with { DefaultStaleWait = time }),
    ];

    /// <summary>The minimum value.</summary>
    public decimal Least { get; private init; } = 1;

    private bool IsTime => Name.EndsWith(SecondsSuffix, StringComparison.Ordinal);

    /// <summary>Returns the limit of that name; null if there is none.</summary>
    public static LimitOption? Find(string name) => All.FirstOrDefault(limit => limit.Name == name);

    /// <summary>Returns the lines for the help.</summary>
    public static string Help()
    {
        var defaults = new TreepieServerOptions();
        return string.Join(Environment.NewLine, All.Select(limit => string.Create(
            CultureInfo.InvariantCulture,
            $"  --{limit.Name + " <n>",-32}{limit.Meaning}. Default: {limit.Get(defaults):0.###}")));
    }

    /// <summary>Parses a value: a whole number, or seconds with a fraction.</summary>
    /// <exception cref="CommandLineException">The value is not valid or out of range.</exception>
    public decimal Parse(string value)
    {
        NumberStyles style = IsTime ? NumberStyles.AllowDecimalPoint : NumberStyles.None;
        if (decimal.TryParse(value, style, CultureInfo.InvariantCulture, out decimal number) && number >= Least && number <= Most)
            return number;

        string kind = IsTime ? "a number of seconds" : "a whole number";
        throw new CommandLineException(
            string.Create(
                CultureInfo.InvariantCulture, $"The option --{Name} is '{value}'; it must be {kind} from {Least} to {Most}."));
    }

    private static LimitOption Server(
        string name, string meaning, decimal most, Func<ServerLimits, long> get, Func<ServerLimits, long, ServerLimits> with) =>
        new(name, meaning, most, o => get(o.Limits), (o, n) => o.Limits = with(o.Limits, (long)n));

    private static LimitOption Database(
        string name, string meaning, int most, Func<DatabaseOptions, int> get,
        Func<DatabaseOptions, int, DatabaseOptions> with) =>
        new(name, meaning, most, o => get(o.Database), (o, n) => o.Database = with(o.Database, (int)n));

    private static LimitOption Seconds(
        string name, string meaning, Func<ServerLimits, TimeSpan> get, Func<ServerLimits, TimeSpan, ServerLimits> with) =>
        new(name, meaning, MostSeconds, o => SecondsOf(get(o.Limits)), (o, n) => o.Limits = with(o.Limits, TimeOf(n)))
        {
            Least = ShortestSeconds
        };

    private static LimitOption OfDatabase(
        string name, string meaning, Func<DatabaseOptions, TimeSpan> get,
        Func<DatabaseOptions, TimeSpan, DatabaseOptions> with) =>
        new(name, meaning, MostSeconds, o => SecondsOf(get(o.Database)), (o, n) => o.Database = with(o.Database, TimeOf(n)))
        {
            Least = ShortestSeconds
        };

    private static decimal SecondsOf(TimeSpan time) => (decimal)time.TotalSeconds;

    private static TimeSpan TimeOf(decimal seconds) => TimeSpan.FromTicks((long)(seconds * TimeSpan.TicksPerSecond));
}
