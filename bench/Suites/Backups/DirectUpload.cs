using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Treepie.Backups;
using Treepie.Bench.Measuring;
using Treepie.Destinations;
using Treepie.S3;

namespace Treepie.Bench.Suites.Backups;

/// <summary>
/// Backups straight to a server of the S3 protocol, against writing them to the disk, forcing them there, and uploading that. One
/// server is a sink behind the rate of a network, one the npm package of the tests, where that is installed.
/// </summary>
internal static class DirectUpload
{
    /// <summary>First argument of the process that prints the rows: <c>backup-upload megabytes rounds</c>.</summary>
    public const string Verb = "backup-upload";

    private const string Keys = "S3RVER";

    private static readonly TimeSpan _patience = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Links that are measured: as companies have one to the outside, where the seed of the figures was taken (22 MB/s), and as
    /// clouds have one inside.
    /// </summary>
    private static readonly (string Name, double BitsPerSecond)[] _links = [("200 Mbit/s", 200e6), ("1 Gbit/s", 1e9)];

    /// <summary>Two parts and a bit: what is compiled by the first upload does not count.</summary>
    private const long WarmBytes = 20_000_000;

    /// <summary>Prints the rows.</summary>
    public static async Task PrintAsync(int megabytes, int rounds)
    {
        using var folder = new Scratch();
        await using Database database = Database.Open(Path.Combine(folder.Path, "source"));
        await BackupData.FillAsync(database, BackupData.OrdersSet, megabytes * 1_000_000L, CancellationToken.None);
        foreach (BenchRow row in await RowsAsync(database, folder.Path, rounds, CancellationToken.None))
        {
            Console.WriteLine(string.Create(
                CultureInfo.InvariantCulture,
                $"{row.Row}: {row.Ours:N0} MB/s, disk first {row.Peers.Values.First():N0}, "
                    + $"{row.Ours / row.Peers.Values.First():N2}; limit {row.Limit:N0}, {row.Ours / row.Limit:N2}; {row.Note}"));
        }
    }

    /// <summary>The rows: to a sink behind links of several rates, and to the server where it is installed.</summary>
    public static async Task<IReadOnlyList<BenchRow>> RowsAsync(
        Database database, string folder, int rounds, CancellationToken cancellationToken)
    {
        var rows = new List<BenchRow>();
        foreach ((string link, double bitsPerSecond) in _links)
        {
            await using S3Sink sink = await S3Sink.StartAsync(bitsPerSecond);
            using BackupDestination place = Open(sink.Url);
            rows.Add(await RowAsync(database, place, $"straight to S3 behind {link}", folder, rounds, null, cancellationToken));
        }

        string program = Path.Combine(
            Corpus.RepositoryRoot, "tests", "Clients", "Node", "node_modules", "s3rver", "bin", "s3rver.js");
        if (!File.Exists(program))
            return rows;

        int port = FreePort();
        using Process server = Process.Start(new ProcessStartInfo(
            "node",
            [program, "-d", Path.Combine(folder, "s3"), "-a", "127.0.0.1", "-p", port.ToString(
                CultureInfo.InvariantCulture), "--configure-bucket", "backups", "--no-vhost-buckets", "--silent"])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!; // a new process, so never null
        _ = server.StandardOutput.BaseStream.CopyToAsync(Stream.Null, cancellationToken);
        _ = server.StandardError.BaseStream.CopyToAsync(Stream.Null, cancellationToken);
        try
        {
            using BackupDestination place = Open($"http://127.0.0.1:{port}");
            await WaitAsync(place, cancellationToken);
            rows.Add(await RowAsync(database, place, "straight to s3rver", folder, rounds, server, cancellationToken));
            return rows;
        }
        finally
        {
            server.Kill(entireProcessTree: true);
            await server.WaitForExitAsync(CancellationToken.None);
        }
    }

    private static BackupDestination Open(string url) =>
        new S3DestinationProvider().Open(
            new DestinationSettings { Address = $"s3://backups/bench?endpoint={url}", AccessKey = Keys, SecretKey = Keys });

    private static async Task<BenchRow> RowAsync(
        Database database, BackupDestination place, string what, string folder, int rounds, Process? server,
        CancellationToken cancellationToken)
    {
        List<double> direct = [], first = [];
        BackupReport? report = null;
        await UploadNothingButBytesAsync(place, WarmBytes, cancellationToken);
        for (int round = 0; round < rounds; round++)
        {
            direct.Add(
                await MeasureAsync(
                    async () => report = await DirectAsync(database, place, $"direct-{round}", cancellationToken)));
            first.Add(
                await MeasureAsync(
                    () => DiskFirstAsync(database, place, Path.Combine(folder, "first"), $"first-{round}", cancellationToken)));
        }

        (double write, double writeCpu) = await UsedAsync(
            null, () => database.BackupAsync(Stream.Null, null, null, cancellationToken));
        // it was set by the work that was timed
        (double upload, double uploadCpu) = await UsedAsync(
            server, () => UploadNothingButBytesAsync(place, report!.StoredBytes, cancellationToken));
        double cores = (writeCpu + uploadCpu) / Environment.ProcessorCount, best = Math.Max(cores, Math.Max(write, upload));
        return BenchRow.Of($"Logical, ZstdFastest, {what}", "MB/s", true, direct) with
        {
            Peers = new Dictionary<string, double> { ["disk, then upload"] = Statistics.Median(first) },
            Limit = report!.JsonBytes / 1e6 / best,
            Goals = [server is null ? new Goal(1.3, "disk, then upload") : new Goal(0.8, IsLimit: true)],
            Note = string.Create(
                CultureInfo.InvariantCulture,
                $"limit: the longest of backing up to nowhere ({write:0.00} s), uploading as many bytes that are there already "
                    + $"({upload:0.00} s), and the processor time of both shared by {Environment.ProcessorCount} cores "
                    + $"({cores:0.00} s)"),
        };
    }

    /// <summary>Seconds that something takes, and of processors, those of a server beside this process included.</summary>
    private static async Task<(double Seconds, double Cpu)> UsedAsync(Process? server, Func<Task> work)
    {
        double Served()
        {
            server?.Refresh();
            return server?.TotalProcessorTime.TotalSeconds ?? 0;
        }

        double served = Served();
        ProcessCounters before = ProcessCounters.Now;
        double seconds = await Timing.SecondsAsync(work);
        return (seconds, ProcessCounters.Now.Since(before).CpuSeconds + Served() - served);
    }

    private static async Task UploadNothingButBytesAsync(BackupDestination place, long bytes, CancellationToken cancellationToken)
    {
        byte[] block = new byte[1 << 20];
        await using (BackupUpload upload = await place.CreateAsync("limit", cancellationToken))
        {
            for (long left = bytes; left > 0; left -= block.Length)
                await upload.WriteAsync(block.AsMemory(0, (int)Math.Min(left, block.Length)), cancellationToken);
            await upload.CommitAsync(cancellationToken);
        }

        await place.DeleteAsync("limit", cancellationToken);
    }

    private static async Task<double> MeasureAsync(Func<Task<BackupReport>> work)
    {
        BackupReport? report = null;
        double seconds = await Timing.SecondsAsync(async () => report = await work());
        return report!.JsonBytes / 1e6 / seconds; // it was set by the work that was timed
    }

    private static async Task<BackupReport> DirectAsync(
        Database database, BackupDestination place, string name, CancellationToken cancellationToken)
    {
        await using var all = new UploadStream(
            [("s3", await place.CreateAsync(name, cancellationToken))], TimeProvider.System, cancellationToken);
        BackupReport report = await database.BackupAsync(all, null, null, cancellationToken);
        await all.CommitAsync(cancellationToken);
        await place.DeleteAsync(name, cancellationToken);
        return report;
    }

    private static async Task<BackupReport> DiskFirstAsync(
        Database database, BackupDestination place, string path, string name, CancellationToken cancellationToken)
    {
        BackupReport report = await database.BackupAsync(path, null, null, cancellationToken);
        await using (FileStream file = File.OpenRead(path))
        await using (BackupUpload upload = await place.CreateAsync(name, cancellationToken))
        {
            byte[] buffer = new byte[1 << 20];
            for (int read = await file.ReadAsync(buffer, cancellationToken);
                 read > 0;
                 read = await file.ReadAsync(buffer, cancellationToken))
                await upload.WriteAsync(buffer.AsMemory(0, read), cancellationToken);
            await upload.CommitAsync(cancellationToken);
        }

        await place.DeleteAsync(name, cancellationToken);
        File.Delete(path);
        return report;
    }

    private static async Task WaitAsync(BackupDestination place, CancellationToken cancellationToken)
    {
        long began = Stopwatch.GetTimestamp();
        while (true)
        {
            try
            {
                await place.ListAsync("", cancellationToken);
                await using (BackupUpload warm = await place.CreateAsync("warm", cancellationToken))
                    await warm.CommitAsync(cancellationToken);
                return;
            }
            catch (DestinationException) when (Stopwatch.GetElapsedTime(began) < _patience)
            {
                await Task.Delay(100, cancellationToken);
            }
        }
    }

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }
}
