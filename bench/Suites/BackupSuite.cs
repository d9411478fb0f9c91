using System.Globalization;
using Treepie.Backups;
using Treepie.Bench.Measuring;
using Treepie.Bench.Suites.Backups;

namespace Treepie.Bench.Suites;

/// <summary>
/// How fast a database is backed up and restored, by kind and compression, to disk and to S3, and what that costs those who write
/// meanwhile.
/// </summary>
internal sealed class BackupSuite : ISuite
{
    private static readonly BackupOptions _snapshot = new() { Kind = BackupKind.Snapshot };

    public string Name => "backup";

    public string Question =>
        """
        How fast is a backup of 1 GB of generated orders (--quick: 4 MB) to a destination that discards it, in MB of content
        (JSON, or pages) per second? Peers: gzip-optimal of the same kind, and the same backup encrypted. Limit: the programs
        `zstd` and `gzip` with the same level and threads, or `cat`, over the same bytes. *Sizes*: stored bytes as a share of the
        content, by data set (48 MB each). *Direct*: straight to an S3 server behind a link, compared with writing to disk,
        syncing, and uploading that. The server accepts data at the rate of the link and discards it. It stands for a remote
        machine, but uses the same cores in both cases. Limit: the longest of backing up to nowhere, uploading alone, and the
        processor time of both divided by the cores. *Restore*: to a new database on disk, verified. *Increment*: after one
        document in a hundred has changed, in documents of the whole database per second. *Memory*: what the process uses, without
        mapped files, beyond what it used before. *Writers*: documents per second of 4 durable writers, with backups running
        continuously and without, in turns, and the speed of those backups: scheduled ones, which let writers go first
        (`PercentWhileWriting`), and at full speed.
        """.ReplaceLineEndings("\n");

    public async Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        int rounds = quick ? 1 : 2;
        using var folder = new Scratch();
        await using Database database = Database.Open(Path.Combine(folder.Path, "source"));
        await progress.WriteLineAsync("backup: fill");
        int documents = await BackupData.FillOrdersAsync(database, BackupData.WantedBytes(quick), cancellationToken);
        var rows = new List<BenchRow>();
        rows.AddRange(
            await new BackupForms(database, BackupKind.Logical, folder.Path).RowsAsync(rounds, progress, cancellationToken));
        rows.AddRange(
            await new BackupForms(database, BackupKind.Snapshot, folder.Path).RowsAsync(rounds, progress, cancellationToken));
        rows.AddRange(await BackupSizes.RowsAsync(quick, progress, cancellationToken));
        await progress.WriteLineAsync("backup: direct to S3");
        rows.AddRange(await DirectUpload.RowsAsync(database, folder.Path, rounds, cancellationToken));
        await progress.WriteLineAsync("backup: restore");
        rows.Add(await RestoreAsync(database, new BackupOptions(), folder.Path, cancellationToken));
        rows.Add(await RestoreAsync(database, _snapshot, folder.Path, cancellationToken));
        await progress.WriteLineAsync("backup: increments");
        rows.AddRange(await IncrementsAsync(database, documents, cancellationToken));
        await progress.WriteLineAsync("backup: memory and writers");
        foreach (BackupOptions options in (BackupOptions[])
        [
            new BackupOptions(), new BackupOptions { Compression = BackupCompression.ZstdOptimal }, _snapshot
        ])
            rows.Add(await BackupMemory.RowAsync(database, options, cancellationToken));
        rows.AddRange(
            await WritersMeanwhile.RowsAsync(database, quick ? 1 : 3, TimeSpan.FromSeconds(quick ? 0.3 : 4), cancellationToken));
        return rows;
    }

    private static async Task<BenchRow> RestoreAsync(
        Database database, BackupOptions options, string folder, CancellationToken cancellationToken)
    {
        string path = Path.Combine(folder, "backup"), target = Path.Combine(folder, "restored");
        BackupReport report = await database.BackupAsync(path, options, null, cancellationToken);
        double seconds;
        await using (FileStream backup = File.OpenRead(path))
            seconds = await Timing.SecondsAsync(() => Database.RestoreAsync(backup, target, null, null, cancellationToken));
        File.Delete(path);
        Directory.Delete(target, recursive: true);
        return new BenchRow($"{options.Kind}, ZstdFastest, restore", "MB/s", true, report.JsonBytes / 1e6 / seconds);
    }

    /// <summary>An increment costs what has changed, whatever the database holds.</summary>
    private static async Task<IReadOnlyList<BenchRow>> IncrementsAsync(
        Database database, int documents, CancellationToken cancellationToken)
    {
        const int Share = 100;
        BackupOptions[] kinds = [new(), _snapshot];
        var rows = new List<BenchRow>();
        foreach (BackupOptions full in kinds)
        {
            BackupReport before = await database.BackupAsync(Stream.Null, full, null, cancellationToken);
            using var orders = new Orders();
            await using (Writes.BulkInsert bulk = database.BulkInsert())
            {
                for (int number = Share; number <= documents; number += Share)
                    await bulk.StoreAsync(
                        string.Create(CultureInfo.InvariantCulture, $"orders/{number}-A"), orders.Make(number + 1),
                        cancellationToken);
                await bulk.CompleteAsync(cancellationToken);
            }

            BackupReport? report = null;
            double seconds = await Timing.SecondsAsync(
                async () => report = await database.BackupAsync(
                    Stream.Null, full with { Since = before.Link }, null, cancellationToken));
            rows.Add(new BenchRow($"{full.Kind}, ZstdFastest, increment", "documents/s", true, documents / seconds)
            {
                // it was set by the work that was timed
                Note = string.Create(
                    CultureInfo.InvariantCulture,
                    $"{100.0 * report!.StoredBytes / before.StoredBytes:0.0} % of the bytes of the full backup"),
            });
        }

        return rows;
    }
}
