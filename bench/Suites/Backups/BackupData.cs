using System.Globalization;
using System.Text;
using Treepie.Bench.Measuring;
using Treepie.Writes;

namespace Treepie.Bench.Suites.Backups;

/// <summary>
/// The documents that are backed up: generated orders for what is timed, every data set for what is only weighed.
/// </summary>
internal static class BackupData
{
    /// <summary>Name of the generated set.</summary>
    public const string OrdersSet = "orders";

    private const long QuickBytes = 4_000_000, FullBytes = 1_000_000_000;

    /// <summary>Bytes of JSON that are timed; <c>TREEPIE_BACKUP_MB</c> sets others.</summary>
    public static long WantedBytes(bool quick) =>
        int.TryParse(Environment.GetEnvironmentVariable("TREEPIE_BACKUP_MB"), CultureInfo.InvariantCulture, out int megabytes)
            ? megabytes * 1_000_000L
            : quick ? QuickBytes : FullBytes;

    /// <summary>Names of the sets that are weighed, those that are here whole.</summary>
    public static IReadOnlyList<string> Sets(bool quick) =>
        quick ? [OrdersSet] : [OrdersSet, .. DataSet.All.Where(Corpus.IsWhole).Select(set => set.File)];

    /// <summary>Stores so many bytes of orders; gives how many they are.</summary>
    public static async Task<int> FillOrdersAsync(Database database, long wantedBytes, CancellationToken cancellationToken)
    {
        using var orders = new Orders();
        long bytes = 0;
        int number = 0;
        await using BulkInsert bulk = database.BulkInsert();
        while (bytes < wantedBytes)
        {
            ReadOnlyMemory<byte> order = orders.Make(++number);
            bytes += order.Length;
            await bulk.StoreAsync(string.Create(CultureInfo.InvariantCulture, $"orders/{number}-A"), order, cancellationToken);
        }

        await bulk.CompleteAsync(cancellationToken);
        return number;
    }

    /// <summary>Stores a set, up to so many bytes, each document in a collection named after it.</summary>
    public static async Task FillAsync(Database database, string set, long mostBytes, CancellationToken cancellationToken)
    {
        if (set == OrdersSet)
        {
            await FillOrdersAsync(database, mostBytes, cancellationToken);
            return;
        }

        string name = set.Split('.')[0];
        byte[] metadata = Encoding.UTF8.GetBytes($",\"@metadata\":{{\"@collection\":\"{name}\"}}}}");
        long bytes = 0;
        int number = 0;
        await using BulkInsert bulk = database.BulkInsert();
        foreach (byte[] line in Corpus.Load(DataSet.All.Single(known => known.File == set), int.MaxValue))
        {
            int end = line.AsSpan().LastIndexOf((byte)'}');
            if (line.AsSpan().IndexOf("\"@metadata\""u8) >= 0 || end < 2)
                continue;
            byte[] document = [.. line.AsSpan(0, end), .. metadata];
            bytes += document.Length;
            if (bytes > mostBytes)
                break;
            await bulk.StoreAsync(string.Create(CultureInfo.InvariantCulture, $"{name}/{++number}"), document, cancellationToken);
        }

        await bulk.CompleteAsync(cancellationToken);
    }
}
