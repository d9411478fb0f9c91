using System.Globalization;

namespace Treepie.Server.Hosting;

/// <summary>
/// A limit that can be given on the command line: one line of the table <see cref="All"/>, from which the parser, the help with its defaults
/// and the settings of the server are made.
/// </summary>
/// <param name="Name">Name without the dashes.</param>
/// <param name="Meaning">What it limits, for the help.</param>
/// <param name="Most">Highest value that has a meaning.</param>
/// <param name="Get">Reads it from the settings.</param>
/// <param name="Set">Writes it into the settings.</param>
internal sealed record LimitOption(
    string Name, string Meaning, decimal Most, Func<TreepieServerOptions, decimal> Get, Action<TreepieServerOptions, decimal> Set)
{
    private const string SecondsSuffix = "-seconds";

    /// <summary>Shortest time: timers count milliseconds.</summary>
    private const decimal ShortestSeconds = 0.001m;

    /// <summary>Eleven days; what waits longer than that waits for ever, and timers end at seven weeks.</summary>
    private const decimal MostSeconds = 1_000_000;

    /// <summary>Every limit there is, in the order of the help.</summary>
    public static IReadOnlyList<LimitOption> All { get; } =
    [
        Server("max-request-bytes", "Largest request", Array.MaxLength, static o => o.MaxRequestBytes, static (o, n) => o.MaxRequestBytes = (long)n),
        Seconds("max-request-seconds", "Longest request, streams apart", static o => o.RequestTimeout, static (o, time) => o.RequestTimeout = time),
        Server("max-requests", "Requests at work at a time", int.MaxValue, static o => o.MaxConcurrentRequests, static (o, n) => o.MaxConcurrentRequests = (int)n),
        Server("max-commands", "Commands or ids in a request", int.MaxValue, static o => o.MaxCommandsPerRequest, static (o, n) => o.MaxCommandsPerRequest = (int)n),
        Seconds("max-bulk-idle-seconds", "Silence of a bulk insert", static o => o.BulkInsertIdleTimeout, static (o, time) => o.BulkInsertIdleTimeout = time),
        Server("max-operations", "Ended operations remembered", int.MaxValue, static o => o.MaxRememberedOperations, static (o, n) => o.MaxRememberedOperations = (int)n),
        Database("max-document-bytes", "Largest document", DatabaseOptions.MostDocumentBytes, static d => d.MaxDocumentBytes, static (d, n) => d with { MaxDocumentBytes = n }) with { Least = DatabaseOptions.LeastDocumentBytes },
        Database("max-document-depth", "Deepest nesting of a document", DatabaseOptions.MostDocumentDepth, static d => d.MaxDocumentDepth, static (d, n) => d with { MaxDocumentDepth = n }),
        Database("max-id-bytes", "Longest id", DatabaseOptions.MostIdBytes, static d => d.MaxIdBytes, static (d, n) => d with { MaxIdBytes = n }),
        Seconds("max-query-seconds", "Longest search of a query", static o => o.Database.MaxQueryTime, static (o, time) => o.Database = o.Database with { MaxQueryTime = time }),
        Seconds(
            "max-stale-wait-seconds", "Wait of a query for an index", static o => o.Database.DefaultStaleWait,
            static (o, time) => o.Database = o.Database with { DefaultStaleWait = time }),
    ];

    /// <summary>Lowest value that has a meaning.</summary>
    public decimal Least { get; private init; } = 1;

    private bool IsTime => Name.EndsWith(SecondsSuffix, StringComparison.Ordinal);

    /// <summary>The limit of that name; null if there is none.</summary>
    public static LimitOption? Find(string name) => All.FirstOrDefault(limit => limit.Name == name);

    /// <summary>Its lines of the help.</summary>
    public static string Help()
    {
        var defaults = new TreepieServerOptions();
        return string.Join(Environment.NewLine, All.Select(limit => string.Create(
            CultureInfo.InvariantCulture, $"  --{limit.Name + " <n>",-32}{limit.Meaning}. Default: {limit.Get(defaults):0.###}")));
    }

    /// <summary>Reads a value: a whole number, or seconds with a fraction.</summary>
    /// <exception cref="CommandLineException">It is none, or outside what has a meaning.</exception>
    public decimal Parse(string value)
    {
        NumberStyles style = IsTime ? NumberStyles.AllowDecimalPoint : NumberStyles.None;
        if (decimal.TryParse(value, style, CultureInfo.InvariantCulture, out decimal number) && number >= Least && number <= Most)
            return number;

        string kind = IsTime ? "a number of seconds" : "a whole number";
        throw new CommandLineException(string.Create(CultureInfo.InvariantCulture, $"The option --{Name} is '{value}'; it must be {kind} from {Least} to {Most}."));
    }

    private static LimitOption Server(
        string name, string meaning, int most, Func<TreepieServerOptions, decimal> get, Action<TreepieServerOptions, decimal> set) =>
        new(name, meaning, most, get, set);

    private static LimitOption Database(
        string name, string meaning, int most, Func<DatabaseOptions, int> get, Func<DatabaseOptions, int, DatabaseOptions> with) =>
        new(name, meaning, most, o => get(o.Database), (o, n) => o.Database = with(o.Database, (int)n));

    private static LimitOption Seconds(string name, string meaning, Func<TreepieServerOptions, TimeSpan> get, Action<TreepieServerOptions, TimeSpan> set) =>
        new(name, meaning, MostSeconds, o => (decimal)get(o).TotalSeconds, (o, n) => set(o, TimeSpan.FromTicks((long)(n * TimeSpan.TicksPerSecond)))) { Least = ShortestSeconds };
}
