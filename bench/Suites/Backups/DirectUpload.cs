using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Treepie.Backups;
using Treepie.Bench.Measuring;
using Treepie.Destinations;
using Treepie.S3;

namespace Treepie.Bench.Suites.Backups;

/// <summary>Backups straight to a server of the S3 protocol, against writing them to the disk and uploading that. The server is the npm package of the tests, where that is installed.</summary>
internal static class DirectUpload
{
    private const string Keys = "S3RVER";

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    /// <summary>The row, or none where the server is not there.</summary>
    public static async Task<IReadOnlyList<BenchRow>> RowsAsync(Database database, string folder, int rounds, CancellationToken cancellationToken)
    {
        string program = Path.Combine(Corpus.RepositoryRoot, "tests", "Clients", "Node", "node_modules", "s3rver", "bin", "s3rver.js");
        if (!File.Exists(program))
            return [];

        string files = Path.Combine(folder, "s3");
        int port = FreePort();
        using Process server = Process.Start(new ProcessStartInfo("node", [program, "-d", files, "-a", "127.0.0.1", "-p", port.ToString(CultureInfo.InvariantCulture), "--configure-bucket", "backups", "--no-vhost-buckets", "--silent"])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!; // a new process, so never null
        _ = server.StandardOutput.BaseStream.CopyToAsync(Stream.Null, cancellationToken);
        _ = server.StandardError.BaseStream.CopyToAsync(Stream.Null, cancellationToken);
        try
        {
            using BackupDestination place = new S3DestinationProvider().Open(
                new DestinationSettings { Address = $"s3://backups/bench?endpoint=http://127.0.0.1:{port}", AccessKey = Keys, SecretKey = Keys });
            await WaitAsync(place, cancellationToken);
            List<double> direct = [], first = [];
            for (int round = 0; round < rounds; round++)
            {
                direct.Add(await MeasureAsync(() => DirectAsync(database, place, $"direct-{round}", cancellationToken)));
                first.Add(await MeasureAsync(() => DiskFirstAsync(database, place, Path.Combine(folder, "first"), $"first-{round}", cancellationToken)));
            }

            return
            [
                BenchRow.Of("ZstdFastest, straight to S3", "MB/s", true, direct) with
                {
                    Peers = new Dictionary<string, double> { ["disk, then upload"] = Statistics.Median(first) },
                    Goals = [new Goal(1.3, "disk, then upload")],
                },
            ];
        }
        finally
        {
            server.Kill(entireProcessTree: true);
            await server.WaitForExitAsync(CancellationToken.None);
        }
    }

    private static async Task<double> MeasureAsync(Func<Task<BackupReport>> work)
    {
        BackupReport? report = null;
        double seconds = await Timing.SecondsAsync(async () => report = await work());
        return report!.JsonBytes / 1e6 / seconds; // it was set by the work that was timed
    }

    private static async Task<BackupReport> DirectAsync(Database database, BackupDestination place, string name, CancellationToken cancellationToken)
    {
        await using var all = new UploadStream([("s3", await place.CreateAsync(name, cancellationToken))], TimeProvider.System, cancellationToken);
        BackupReport report = await database.BackupAsync(all, null, null, cancellationToken);
        await all.CommitAsync(cancellationToken);
        await place.DeleteAsync(name, cancellationToken);
        return report;
    }

    private static async Task<BackupReport> DiskFirstAsync(Database database, BackupDestination place, string path, string name, CancellationToken cancellationToken)
    {
        BackupReport report = await database.BackupAsync(path, null, null, cancellationToken);
        await using (FileStream file = File.OpenRead(path))
        await using (BackupUpload upload = await place.CreateAsync(name, cancellationToken))
        {
            byte[] buffer = new byte[1 << 20];
            for (int read = await file.ReadAsync(buffer, cancellationToken); read > 0; read = await file.ReadAsync(buffer, cancellationToken))
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
            catch (DestinationException) when (Stopwatch.GetElapsedTime(began) < Patience)
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
