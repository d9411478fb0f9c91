using System.Diagnostics;
using System.Globalization;
using System.Text;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Bench.Measuring;
using Treepie.Writes;

namespace Treepie.Bench.Suites.Backups;

/// <summary>
/// What those who write lose while the database is backed up, and how fast it is backed up meanwhile: the same writers without a
/// backup, with backups that let them go first as scheduled ones do, and with backups that do not, by turns.
/// </summary>
internal static class WritersMeanwhile
{
    /// <summary>
    /// First argument of the process that prints each turn: <c>backup-writers megabytes seconds rounds percent…</c>.
    /// </summary>
    public const string Verb = "backup-writers";

    private const int Writers = 4;
    private const int DocumentsPerBatch = 10;
    private const int FullSpeed = 100;

    private static readonly byte[] _document = Encoding.UTF8.GetBytes(
        $"{{\"text\":\"{new string('x', 300)}\",\"@metadata\":{{\"@collection\":\"written\"}}}}");

    /// <summary>Rows for each kind of backup: the writers, and the backup.</summary>
    public static async Task<IReadOnlyList<BenchRow>> RowsAsync(
        Database database, int rounds, TimeSpan time, CancellationToken cancellationToken)
    {
        (BackupKind Kind, int Percent)[] forms =
        [
            (BackupKind.Logical, BackupTask.DefaultPercentWhileWriting), (BackupKind.Logical, FullSpeed),
            (BackupKind.Snapshot, BackupTask.DefaultPercentWhileWriting), (BackupKind.Snapshot, FullSpeed),
        ];
        var alone = new List<double>();
        Turns[] turns = [.. forms.Select(static _ => new Turns())];
        for (int round = 0; round < rounds; round++)
        {
            for (int form = 0; form < forms.Length; form++)
            {
                if (form % 2 == 0)
                    alone.Add(await WriteAsync(database, time, cancellationToken));
                (double written, double backedUp) = await TurnAsync(
                    database, new BackupOptions { Kind = forms[form].Kind, PercentWhileWriting = forms[form].Percent }, time,
                    cancellationToken);
                turns[form].Written.Add(written);
                turns[form].BackedUp.Add(backedUp);
            }
        }

        double nobody = Statistics.Median(alone);
        var rows = new List<BenchRow>();
        for (int form = 0; form < forms.Length; form++)
        {
            (BackupKind kind, int percent) = forms[form];
            bool isScheduled = percent < FullSpeed;
            string how = isScheduled ? "as scheduled" : "at full speed";
            rows.Add(BenchRow.Of(
                $"4 writers while backups of kind {kind} run, {how}", "documents/s", true, turns[form].Written) with
            {
                Peers = new Dictionary<string, double> { ["no backup"] = nobody },
                Goals = isScheduled ? [new Goal(0.9, "no backup")] : [],
                Reason = string.Create(
                    CultureInfo.InvariantCulture,
                    $"{Environment.ProcessorCount} cores, which writers and backup share; {percent} % of its time the backup "
                        + $"works"),
            });
            rows.Add(BenchRow.Of($"{kind}, ZstdFastest, while 4 write, {how}", "MB/s", true, turns[form].BackedUp));
        }

        return rows;
    }

    /// <summary>Prints the turns as they are taken, each beside the writers alone right before it.</summary>
    public static async Task PrintAsync(int megabytes, double seconds, int rounds, int[] percents)
    {
        using var folder = new Scratch();
        await using Database database = Database.Open(folder.Path);
        await BackupData.FillAsync(database, BackupData.OrdersSet, megabytes * 1_000_000L, CancellationToken.None);
        var time = TimeSpan.FromSeconds(seconds);
        await WriteAsync(database, time, CancellationToken.None);
        for (int round = 0; round < rounds; round++)
        {
            foreach (BackupKind kind in (BackupKind[])[BackupKind.Logical, BackupKind.Snapshot])
            {
                foreach (int percent in percents)
                {
                    double alone = await WriteAsync(database, time, CancellationToken.None);
                    (double written, double backedUp) = await TurnAsync(
                        database, new BackupOptions { Kind = kind, PercentWhileWriting = percent }, time, CancellationToken.None);
                    Console.WriteLine(
                        string.Create(
                            CultureInfo.InvariantCulture,
                            $"{kind} {percent} %: writers {written:N0} of {alone:N0}, {written / alone:N2}; backup {backedUp:N0} "
                                + $"MB/s"));
                }
            }
        }
    }

    private static async Task<(double Written, double BackedUp)> TurnAsync(
        Database database, BackupOptions options, TimeSpan time, CancellationToken cancellationToken)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var content = new Content();
        Task backups = BackUpAgainAndAgainAsync(database, options, content, stop.Token);
        double written = await WriteAsync(database, time, cancellationToken);
        double megabytes = content.Megabytes;
        await stop.CancelAsync();
        await backups;
        return (written, megabytes / time.TotalSeconds);
    }

    private static async Task<double> WriteAsync(Database database, TimeSpan time, CancellationToken cancellationToken)
    {
        long began = Stopwatch.GetTimestamp();
        long[] written = new long[Writers];
        await Task.WhenAll(Enumerable.Range(0, Writers).Select(writer => Task.Run(
            async () =>
            {
                while (Stopwatch.GetElapsedTime(began) < time)
                {
                    var batch = new WriteBatch(database.Options);
                    for (int i = 0; i < DocumentsPerBatch; i++)
                        batch.Put(string.Create(CultureInfo.InvariantCulture, $"written/{writer}/{i}"), _document);
                    await database.WriteAsync(batch, cancellationToken);
                    written[writer] += DocumentsPerBatch;
                }
            },
            cancellationToken)));
        return written.Sum() / Stopwatch.GetElapsedTime(began).TotalSeconds;
    }

    private static async Task BackUpAgainAndAgainAsync(
        Database database, BackupOptions options, Content content, CancellationToken cancellationToken)
    {
        try
        {
            while (!cancellationToken.IsCancellationRequested)
            {
                content.Begin();
                await database.BackupAsync(Stream.Null, options, content, cancellationToken);
            }
        }
        catch (OperationCanceledException)
        {
            // the writers are done
        }
    }

    private sealed class Turns
    {
        public List<double> Written { get; } = [];

        public List<double> BackedUp { get; } = [];
    }

    /// <summary>Adds up the content of one backup after the other.</summary>
    private sealed class Content : IProgress<BackupProgress>
    {
        private const long PageBytes = 8_192;

        private long _before;
        private long _store;
        private long _now;

        public double Megabytes => (Volatile.Read(ref _before) + Volatile.Read(ref _now)) / 1e6;

        public void Begin()
        {
            _before += _now + _store;
            (_now, _store) = (0, 0);
        }

        public void Report(BackupProgress value)
        {
            long now = value.Pages > 0 ? value.Pages * PageBytes : value.JsonBytes;
            if (now < _now)
                _store += _now; // the pages of the next store
            Volatile.Write(ref _now, now);
        }
    }
}
