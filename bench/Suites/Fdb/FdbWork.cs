namespace Treepie.Bench.Suites.Fdb;

/// <summary>What every client does over and over.</summary>
/// <param name="Name">Its name in the table.</param>
/// <param name="Clients">Clients at once, a thread each.</param>
/// <param name="Reads">Random rows read in a transaction.</param>
/// <param name="Writes">Random rows written in a durable transaction, after the reads.</param>
/// <param name="Range">Rows read in order in a transaction; 0: none.</param>
internal sealed record FdbWork(string Name, int Clients, int Reads, int Writes, int Range)
{
    private const int ManyClients = 100;

    public static FdbWork OneWrite { get; } = new("1 client × 1 write", 1, 0, 1, 0);

    public static FdbWork TenWrites { get; } = new("1 client × 10 writes", 1, 0, 10, 0);

    public static FdbWork ManyWrites { get; } = new("100 clients × 10 writes", ManyClients, 0, 10, 0);

    public static FdbWork ManyReads { get; } = new("100 clients × 10 reads", ManyClients, 10, 0, 0);

    public static FdbWork Mixed { get; } = new("100 clients × 9 reads and 1 write", ManyClients, 9, 1, 0);

    public static FdbWork Ranges { get; } = new("100 clients × 1,000-key ranges", ManyClients, 0, 0, 1_000);

    /// <summary>All of a round, in order.</summary>
    public static IReadOnlyList<FdbWork> All { get; } = [OneWrite, TenWrites, ManyWrites, ManyReads, Mixed, Ranges];

    /// <summary>Rows touched by a transaction.</summary>
    public int Keys => Reads + Writes + Range;

    /// <summary>One transaction.</summary>
    public void Run(FdbClient client)
    {
        if (Reads > 0)
            client.Read(Reads);
        if (Range > 0)
            client.ReadRange(Range);
        if (Writes > 0)
            client.Write(Writes);
    }
}

/// <summary>What one engine did in one round.</summary>
/// <param name="PerSecond">Transactions per second.</param>
/// <param name="P50">Microseconds of the middle transaction.</param>
/// <param name="P99">Microseconds that 99 of 100 transactions do not need.</param>
/// <param name="CpuPerKey">Microseconds of processor time for each row, all threads, the clients' own work included.</param>
/// <param name="DiskPerPayload">Bytes written to the disk for each byte of key and value.</param>
/// <param name="JournalPerPayload">Bytes of journal written for each byte of key and value; ours only.</param>
/// <param name="AllocatedPerTransaction">Managed bytes for each transaction.</param>
internal sealed record FdbFigures(
    double PerSecond, double P50, double P99, double CpuPerKey, double DiskPerPayload, double JournalPerPayload,
    double AllocatedPerTransaction);
