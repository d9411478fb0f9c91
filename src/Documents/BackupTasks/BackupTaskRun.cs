using System.Diagnostics;
using Treepie.Backups;
using Treepie.Destinations;
using Treepie.Encryption;
using Treepie.Storage;

namespace Treepie.BackupTasks;

/// <summary>
/// One run of a backup task: checks the destinations, writes to all of them, reads the backup back and compares it, and
/// deletes expired backups. Direct uploads use no temporary files. A failing destination is reported in the result and does
/// not affect the others.
/// </summary>
internal sealed class BackupTaskRun(
    IBackupLease lease, BackupTask task, DestinationProviders providers, IBackupKeySources keys, TimeProvider clock,
    IProgress<BackupProgress>? progress)
{
    /// <summary>The free space required, relative to the size of the last backup.</summary>
    private const double RoomFactor = 1.2;

    /// <summary>The maximum time to delete what an interrupted run has written.</summary>
    private static readonly TimeSpan _longestCleaning = TimeSpan.FromSeconds(10);

    private readonly int _percentWhileWriting = task.PercentWhileWriting
        ?? (task.Id == 0 ? BackupPace.Full : BackupTask.DefaultPercentWhileWriting);
    private readonly List<(BackupDestination Destination, string Address)> _places = [];
    private readonly Dictionary<string, string> _failures = new(StringComparer.Ordinal);
    private readonly HashSet<string> _proven = new(StringComparer.Ordinal);
    private readonly HashSet<string> _unproven = new(StringComparer.Ordinal);
    private readonly HashSet<string> _begun = new(StringComparer.Ordinal);

    /// <summary>Executes the run.</summary>
    /// <param name="state">The state of the task.</param>
    /// <param name="wanted">
    /// The requested kind of backup. If nothing can continue the last backup, a full one is taken; if the log cannot be
    /// continued, an increment.
    /// </param>
    /// <param name="keep">Stores the report of a complete backup, before expired ones are deleted.</param>
    /// <param name="cancellationToken">Cancels the run; nothing of this backup is kept, unless expired ones are being
    /// deleted already.</param>
    /// <exception cref="DestinationException">The backup could not be written to any destination.</exception>
    public async Task<BackupRunReport> RunAsync(
        BackupTaskState state, BackupRunKind wanted, Func<BackupRunReport, Task> keep, CancellationToken cancellationToken)
    {
        long began = clock.GetTimestamp();
        using EncryptionKey? given = Key();
        using BackupKey? own = lease.TakeKey();
        var sealing = new SealingKeys(given, own?.Key, task.AllowPlain);
        try
        {
            DateTime now = clock.GetUtcNow().UtcDateTime;
            // Determined first: changes made during the backup may be in it, and are then backed up again.
            string mark = DumpPoint.Of(lease.Database).ToString();
            KeptBackup[] before = wanted == BackupRunKind.Full || state.KeyMark != sealing.Mark ? [] : ChainBefore(state, now);
            if (before.Length > 0 && state.Error is null && state.Mark == mark)
                return Unchanged(state, wanted, now);

            foreach (DestinationSettings settings in task.Destinations)
                _places.Add((providers.Open(settings), settings.Address));
            string? gap = null;
            if (wanted == BackupRunKind.Log && before.Length > 0)
            {
                gap = LogMissing(state);
                try
                {
                    if (gap is null)
                        return await ArchiveLogAsync(state, sealing, now, mark, began, cancellationToken)
                            .ConfigureAwait(false);
                }
                catch (BackupException error) when (error.Fault == BackupFault.LogGap)
                {
                    gap = error.Message;
                }
            }

            await ProbeAsync((long)((state.Kept.Count > 0 ? state.Kept[^1].StoredBytes : 0) * RoomFactor), cancellationToken)
                .ConfigureAwait(false);
            bool isIncremental = before.Length > 0;
            string name = BackupName.Of(lease.Database.Name, now, task.Kind, isIncremental, sealing.Key is not null);
            BackupOptions options = Options(task.Kind, sealing) with
            {
                HashesContent = task.Proves,
                Since = isIncremental ? BackupLink.Parse(state.Link!) : null, // a chain has a link
            };
            (BackupReport report, ProvenPoint? proven) = await TakeAsync(
                [.. before.Select(static backup => backup.Object), name], options, sealing, cancellationToken)
                .ConfigureAwait(false);
            string[] written = Written();
            var kept = new KeptBackup(
                name, report.TakenAt ?? now, report.LastEtag, HashOf(report), report.StoredBytes, written, proven is not null,
                isIncremental)
            {
                Unproven = [.. _unproven]
            };
            var whole = new BackupRunReport
            {
                Kind = isIncremental ? BackupRunKind.Incremental : BackupRunKind.Full,
                LogGap = gap,
                LogAddresses = written,
                Newest = new RestorableMoment(now, report.LastCommit, report.LastEtag, name, proven is not null),
                Report = report,
                Object = name,
                Places = Results(name, report),
                Proven = proven,
                Unproven = [.. _unproven],
                Kept = [.. state.Kept, kept],
                Link = GoOn(report.Link, state)?.ToString(),
                Mark = mark,
                KeyMark = sealing.Mark,
                Duration = clock.GetElapsedTime(began),
            };
            await keep(whole).ConfigureAwait(false);
            (IReadOnlyList<KeptBackup> all, IReadOnlyList<string> deleted) =
                await new ExpiredBackups(lease.Database, task, _places, clock)
                    .DeleteAsync(whole.Kept, cancellationToken).ConfigureAwait(false);
            return whole with { Kept = all, Deleted = deleted, Duration = clock.GetElapsedTime(began) };
        }
        finally
        {
            foreach ((BackupDestination destination, _) in _places)
                destination.Dispose();
        }
    }

    /// <summary>Returns the report of a run that has nothing to back up: all destinations have the present state.</summary>
    private static BackupRunReport Unchanged(BackupTaskState state, BackupRunKind wanted, DateTime now) => new()
    {
        Kind = wanted,
        Kept = state.Kept,
        Places = state.Places,
        Link = state.Link,
        LogAddresses = state.LogAddresses,
        Newest = state.Newest is { } newest ? newest with { At = now } : null,
    };

    /// <summary>
    /// Returns the chain that the next increment continues: the full backup and its increments, if all of them are at every
    /// destination, their names precede that of the increment, and the database can continue from there; otherwise none, and a
    /// full backup is taken.
    /// </summary>
    private KeptBackup[] ChainBefore(BackupTaskState state, DateTime now)
    {
        if (state.Link is null || !DumpIncrement.CanGoOn(lease.Database, task.Kind, BackupLink.Parse(state.Link)))
            return [];
        int full = state.Kept.ToList().FindLastIndex(static backup => !backup.IsIncremental);
        KeptBackup[] chain = full < 0 ? [] : [.. state.Kept.Skip(full)];
        return Array.TrueForAll(
            chain,
            backup => backup.TakenAt <= now // otherwise the clock was ahead, and names say what continues what
                && task.Destinations.All(place => backup.Addresses.Contains(place.Address)))
            ? chain
            : [];
    }

    /// <summary>Backs up the log since the last run.</summary>
    private async Task<BackupRunReport> ArchiveLogAsync(
        BackupTaskState state, SealingKeys sealing, DateTime now, string mark, long began,
        CancellationToken cancellationToken)
    {
        string name = BackupName.Of(lease.Database.Name, now, BackupKind.Log, isIncremental: true, sealing.Key is not null);
        BackupOptions options = Options(BackupKind.Log, sealing) with
        {
            Since = BackupLink.Parse(state.Link!), // a chain has a link
            IsOfTask = true,
        };
        (BackupReport report, _) = await TakeAsync([name], options, sealing, cancellationToken).ConfigureAwait(false);
        string[] written = Written();
        return new BackupRunReport
        {
            Kind = BackupRunKind.Log,
            LogAddresses = [.. written.Intersect(state.LogAddresses)],
            Log = new KeptLog(name, [.. written.Union(_unproven)]),
            Newest = new RestorableMoment(now, report.LastCommit, report.LastEtag, name, _proven.Count > 0),
            Report = report,
            Object = name,
            Places = Results(name, report),
            Kept = state.Kept,
            Link = report.Link?.ToString(),
            Mark = mark,
            KeyMark = sealing.Mark,
            Duration = clock.GetElapsedTime(began),
        };
    }

    /// <summary>
    /// Returns the link of the next part. The log continues from its previous position even after a full backup, so that it
    /// also contains the commits between the last log backup and the full one.
    /// </summary>
    private BackupLink? GoOn(BackupLink? link, BackupTaskState state)
    {
        if (link is not { Stores.Count: > 0 } || task.LogInterval is null || state.Link is null || LogMissing(state) is not null)
            return link;

        BackupLink before = BackupLink.Parse(state.Link);
        return before.Stores.Count > 0
            && before.Stores[0].StoreId == link.Stores[0].StoreId
            && lease.Database.Log.HoldsAfter(before.LogCommit) ? new BackupLink(link.Hash, before.LogCommit, link.Stores) : link;
    }

    /// <summary>Returns why the log cannot be continued at every destination; null if it can.</summary>
    private string? LogMissing(BackupTaskState state) =>
        task.Destinations.FirstOrDefault(place => !state.LogAddresses.Contains(place.Address)) is { } place
            ? $"'{place.Address}' has not all of the log that follows the last backup: an increment closes the gap there."
            : null;

    private string[] Written() =>
        [.. _places.Where(place => !_failures.ContainsKey(place.Address) || _proven.Contains(place.Address))
            .Select(static place => place.Address)];

    private BackupPlaceResult[] Results(string name, BackupReport report) =>
        [.. _places.Select(
            place => new BackupPlaceResult(
                place.Address, name, report.StoredBytes, _failures.GetValueOrDefault(place.Address),
                _proven.Contains(place.Address)))];

    /// <summary>
    /// Writes the card of the backup to each destination. Failures are ignored: the part contains the same information, which
    /// is only slower to read.
    /// </summary>
    private async Task WriteCardsAsync(string name, BackupReport report, BackupLink? since, CancellationToken cancellationToken)
    {
        if (BackupCard.Of(name, report, since) is not { } card)
            return;
        foreach ((BackupDestination destination, string address) in _places.Where(place => !_failures.ContainsKey(place.Address)))
        {
            try
            {
                await card.WriteAsync(destination, cancellationToken).ConfigureAwait(false);
            }
            catch (DestinationException)
            {
                // see the summary
            }
        }
    }

    /// <summary>
    /// Returns what the report of a backup and that of its verification must have in common. The content hash is that of the
    /// JSON; pages have hashes in the backup itself, which are compared when it is read, and the commit identifies the state
    /// of the database.
    /// </summary>
    private static string Identity(BackupReport report) => report.Kind == BackupKind.Log
        ? FormattableString.Invariant($"{report.LogCommits} commits up to commit {report.LastCommit}")
        : FormattableString.Invariant(
            $"database {report.DatabaseId} up to etag {report.LastEtag} and commit {report.LastCommit}, with ")
            + $"{report.LastPart ?? report.Counts} and content hash {report.ContentHash ?? "unknown"}";

    /// <summary>Returns the hash of the contents or, for a snapshot without one, of its pages.</summary>
    private static string? HashOf(BackupReport report) => report.ContentHash ?? report.Link?.Hash;

    private EncryptionKey? Key()
    {
        if (task.KeySource is { } source)
            return Read(source);
        return task.Key is null
            ? null
            : KeyText.ReadKey(System.Text.Encoding.UTF8.GetBytes(task.Key), "The key of the backup task");
    }

    private EncryptionKey Read(string source)
    {
        KeySource found = keys.Find(source);
        try
        {
            return found.Read();
        }
        catch (KeySourceException error)
        {
            throw keys.Explain(source, error);
        }
    }

    /// <summary>Detects expected failures before the long work. Throws only if no destination is left.</summary>
    private async Task ProbeAsync(long expectedBytes, CancellationToken cancellationToken)
    {
        DestinationException? first = null;
        foreach ((BackupDestination destination, string address) in _places)
        {
            try
            {
                await destination.ProbeAsync(expectedBytes, cancellationToken).ConfigureAwait(false);
                await destination.CleanAsync(BackupName.FolderOf(lease.Database.Name), cancellationToken).ConfigureAwait(false);
            }
            catch (DestinationException error)
            {
                first ??= error;
                _failures[address] = error.Message;
            }
        }

        if (first is not null && _failures.Count == _places.Count)
            throw first;
    }

    private async Task<BackupReport> WriteAsync(string name, BackupOptions options, CancellationToken cancellationToken)
    {
        (BackupDestination Destination, string Address)[] usable =
            [.. _places.Where(place => !_failures.ContainsKey(place.Address))];
        (BackupDestination Destination, string Address)[] now = task.UploadsAfterDisk
            && Array.Exists(usable, static place => place.Destination.IsLocal)
            ? [.. usable.Where(static place => place.Destination.IsLocal)]
            : usable;
        BackupReport report = await CopyAsync(
            now,
            name,
            (stream, stop) => lease.Database.BackupAsync(stream, options, progress, stop),
            cancellationToken).ConfigureAwait(false);
        (BackupDestination Destination, string Address)[] later = [.. usable.Except(now)];
        if (later.Length > 0)
        {
            BackupDestination disk = now.First(place => !_failures.ContainsKey(place.Address)).Destination;
            Stream file = await disk.OpenAsync(name, cancellationToken).ConfigureAwait(false);
            await using (file.ConfigureAwait(false))
                await UploadFileAsync(later, name, file, cancellationToken).ConfigureAwait(false);
        }

        return report;
    }

    private BackupOptions Options(BackupKind kind, SealingKeys sealing) => new()
    {
        Kind = kind,
        Compression = task.Compression,
        EncryptionKey = sealing.Key,
        AllowPlain = task.AllowPlain,
        PercentWhileWriting = _percentWhileWriting,
    };

    /// <summary>
    /// Writes the last part of a chain, with its cards, and reads it back. If that is cancelled or fails altogether, what was
    /// written of it is deleted as far as possible, because the task would not know of it.
    /// </summary>
    private async Task<(BackupReport Report, ProvenPoint? Proven)> TakeAsync(
        string[] chain, BackupOptions options, SealingKeys sealing, CancellationToken cancellationToken)
    {
        string name = chain[^1];
        try
        {
            BackupReport report = await WriteAsync(name, options, cancellationToken).ConfigureAwait(false);
            await WriteCardsAsync(name, report, options.Since, cancellationToken).ConfigureAwait(false);
            return (report, task.Proves
                ? await ProveAsync(chain, report, sealing, cancellationToken).ConfigureAwait(false)
                : null);
        }
        catch
        {
            using var stop = new CancellationTokenSource(_longestCleaning, clock);
            var cards = new BackupCards();
            foreach ((BackupDestination destination, _) in _places.Where(place => _begun.Contains(place.Address)))
                await ExpiredBackups.TryDeleteAsync(name, destination, cards, stop.Token).ConfigureAwait(false);
            throw;
        }
    }

    private async Task UploadFileAsync(
        (BackupDestination, string)[] places, string name, Stream file, CancellationToken cancellationToken)
    {
        try
        {
            await CopyAsync(
                places,
                name,
                async (stream, stop) =>
                {
                    await file.CopyToAsync(stream, stop).ConfigureAwait(false);
                    return true;
                },
                cancellationToken).ConfigureAwait(false);
        }
        catch (DestinationException)
        {
            // the failures of the destinations are recorded, and the backup is on disk
        }
    }

    /// <summary>Writes one stream to several destinations.</summary>
    private async Task<T> CopyAsync<T>(
        (BackupDestination Destination, string Address)[] places, string name, Func<Stream, CancellationToken, Task<T>> write,
        CancellationToken cancellationToken)
    {
        var uploads = new List<(string, BackupUpload)>();
        DestinationException? first = null;
        foreach ((BackupDestination destination, string address) in places)
        {
            try
            {
                uploads.Add((address, await destination.CreateAsync(name, cancellationToken).ConfigureAwait(false)));
                _begun.Add(address);
            }
            catch (DestinationException error)
            {
                first ??= error;
                _failures[address] = error.Message;
            }
        }

        if (uploads.Count == 0)
            throw first ?? throw new UnreachableException(); // a task has a destination
        var all = new UploadStream(uploads, clock, cancellationToken);
        await using (all.ConfigureAwait(false))
        {
            try
            {
                T result = await write(all, cancellationToken).ConfigureAwait(false);
                await all.CommitAsync(cancellationToken).ConfigureAwait(false);
                return result;
            }
            finally
            {
                foreach ((string address, Exception error) in all.Failures)
                {
                    _failures[address] = error.Message;
                    _begun.Remove(address); // what is there under this name may be another task's
                }
            }
        }
    }

    /// <summary>
    /// Reads the chain back from each destination and compares it with the state of the database when its last part was taken.
    /// A log is read alone, and must have all commits up to the expected last one: earlier parts were verified when they were
    /// taken.
    /// </summary>
    private async Task<ProvenPoint?> ProveAsync(
        string[] chain, BackupReport report, SealingKeys sealing, CancellationToken cancellationToken)
    {
        ProvenPoint? proven = null;
        string name = chain[^1];
        var options = new RestoreOptions
        {
            BackupKey = sealing.Given,
            OwnKey = sealing.Own,
            Database = lease.Database.Options,
            IsLogAlone = report.Kind == BackupKind.Log,
            Pace = BackupPace.Of(lease.Database, _percentWhileWriting),
        };
        foreach ((
            BackupDestination destination,
            string address) in _places.Where(place => !_failures.ContainsKey(place.Address)).ToArray())
        {
            try
            {
                BackupPart[] parts = [
                    .. chain.Select(
                        link => new BackupPart(
                            link, async stop => await destination.OpenAsync(link, stop).ConfigureAwait(false)))];
                BackupReport found = await Database.VerifyBackupAsync(parts, options, progress, cancellationToken)
                    .ConfigureAwait(false);
                if (Identity(found) != Identity(report))
                {
                    throw new BackupException(
                        BackupFault.RestoredOtherwise,
                        $"What is stored as '{name}' is not what the database was: it is {Identity(found)}, and should be "
                            + $"{Identity(report)}.");
                }

                _proven.Add(address);
                proven ??= new ProvenPoint(
                    report.TakenAt ?? clock.GetUtcNow().UtcDateTime, clock.GetUtcNow().UtcDateTime, report.LastEtag,
                    report.TotalDocuments, HashOf(report) ?? "", address, name);
            }
            catch (Exception error) when (error is DestinationException || BackupException.From(error) is not null)
            {
                _failures[address] = $"It was written, and reading it back failed: {error.Message}";
                _unproven.Add(address);
            }
        }

        return proven;
    }

    /// <summary>
    /// The key that the task gives and that of the database itself; each may be null. Parts are read with either, because earlier
    /// ones may be encrypted where newer ones need not be.
    /// </summary>
    private readonly record struct SealingKeys(EncryptionKey? Given, EncryptionKey? Own, bool AllowPlain)
    {
        /// <summary>The key that encrypts backups; null: they are not encrypted.</summary>
        public EncryptionKey? Key => Given ?? (AllowPlain ? null : Own);

        /// <summary>A fingerprint of the keys; if it changes, a chain cannot be continued.</summary>
        public string? Mark { get; } = (Given ?? Own) is { } key ? KeyMark.Of(key) : null;
    }
}
