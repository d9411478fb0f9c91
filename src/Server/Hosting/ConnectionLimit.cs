namespace Treepie.Server.Hosting;

/// <summary>How many connections the server has at a time.</summary>
internal static class ConnectionLimit
{
    /// <summary>Most connections by default, whatever the process may open.</summary>
    private const int MostByDefault = 100_000;

    /// <summary>
    /// Files that remain for others where the limit is low: the runtime has some 180 open, and a database a few.
    /// </summary>
    private const int ReservedFiles = 384;

    /// <summary>
    /// The most connections of a process: what was asked for, but never so many that too few of the files it may open remain
    /// for its databases and for the runtime, which ends the process where it cannot open one.
    /// </summary>
    public static int MostOf(int asked, long openFiles)
    {
        const int OfDatabases = 2, OfTiny = 8;
        long left = Math.Min(openFiles / OfDatabases, openFiles - ReservedFiles);
        return (int)Math.Min(asked == 0 ? MostByDefault : asked, Math.Max(1, Math.Max(left, openFiles / OfTiny)));
    }
}
