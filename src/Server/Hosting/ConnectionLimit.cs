namespace Treepie.Server.Hosting;

/// <summary>Computes the maximum number of connections.</summary>
internal static class ConnectionLimit
{
    /// <summary>The default maximum, however many files the process may open.</summary>
    private const int MostByDefault = 100_000;

    /// <summary>
    /// The number of files reserved for other purposes if the limit is low: the runtime has about 180 open, and a database a
    /// few.
    /// </summary>
    private const int ReservedFiles = 384;

    /// <summary>
    /// Returns the maximum number of connections: the requested number, limited so that enough of the process's files remain
    /// for databases and for the runtime, which terminates the process if it cannot open one.
    /// </summary>
    public static int MostOf(int asked, long openFiles)
    {
        const int OfDatabases = 2, OfTiny = 8;
        long left = Math.Min(openFiles / OfDatabases, openFiles - ReservedFiles);
        return (int)Math.Min(asked == 0 ? MostByDefault : asked, Math.Max(1, Math.Max(left, openFiles / OfTiny)));
    }
}
