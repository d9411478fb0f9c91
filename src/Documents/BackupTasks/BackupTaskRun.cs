using System.Diagnostics;
using Treepie.Backups;
using Treepie.Destinations;
using Treepie.Encryption;
using Treepie.Storage;

namespace Treepie.BackupTasks;

/// <summary>
/// One run of a task: looks at the places, writes to all of them, reads back what it wrote and compares it, deletes what has
/// become too old. Not a byte of a direct upload touches the disk. A place that fails is named in the result and does not spoil
/// the others.
/// </summary>
internal sealed class BackupTaskRun(
    IBackupLease lease, BackupTask task, DestinationProviders providers, IBackupKeySources keys, TimeProvider clock,
    IProgress<BackupProgress>? progress)
{
    /// <summary>Room asked for beside what the last backup took.</summary>
    private const double RoomFactor = 1.2;

    private readonly int _percentWhileWriting = task.PercentWhileWriting
        ?? (task.Id == 0 ? BackupPace.Full : BackupTask.DefaultPercentWhileWriting);
    private readonly List<(BackupDestination Destination, string Address)> _places = [];
    private readonly Dictionary<string, string> _failures = new(StringComparer.Ordinal);
    private readonly HashSet<string> _proven = new(StringComparer.Ordinal);
    private readonly HashSet<string> _unproven = new(StringComparer.Ordinal);

    /// <summary>Runs it.</summary>
    /// <param name="state">What has become of the task so far.</param>
    /// <param name="wanted">What is wanted: where nothing can go on from the last backup all of it is taken, and where the log
    /// cannot an increment.</param>
    /// <param name="cancellationToken">Ends it; nothing of this backup stays anywhere.</param>
    /// <exception cref="DestinationException">Not one place took it.</exception>
    public async Task<BackupRunReport> RunAsync(BackupTaskState state, BackupRunKind wanted, CancellationToken cancellationToken)
    {
        long began = clock.GetTimestamp();
        using EncryptionKey? key = Key();
        try
        {
            foreach (DestinationSettings settings in task.Destinations)
                _places.Add((providers.Open(settings), settings.Address));
            DateTime now = clock.GetUtcNow().UtcDateTime;
            // first: what changes while it is written may be in it, and is saved again
            string mark = DumpPoint.Of(lease.Database).ToString();
            string? keyMark = key is not null ? KeyMark.Of(key) : lease.KeyMark;
            KeptBackup[] before = wanted == BackupRunKind.Full || state.KeyMark != keyMark ? [] : ChainBefore(state);
            string? gap = null;
            if (wanted == BackupRunKind.Log && before.Length > 0)
            {
                gap = LogMissing(state);
                try
                {
                    if (gap is null)
                        return await ArchiveLogAsync(state, key, now, mark, keyMark, began, cancellationToken)
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
            string name = BackupName.Of(lease.Database.Name, now, task.Kind, isIncremental, IsSealed(key));
            var options = new BackupOptions
            {
                Kind = task.Kind,
                HashesContent = task.Proves,
                Compression = task.Compression,
                EncryptionKey = key,
                AllowPlain = task.AllowPlain,
                PercentWhileWriting = _percentWhileWriting
            };
            if (isIncremental)
                options = options with { Since = BackupLink.Parse(state.Link!) }; // there is no chain without one
            BackupReport report = await WriteAsync(name, options, cancellationToken).ConfigureAwait(false);
            await WriteCardsAsync(name, report, options.Since, cancellationToken).ConfigureAwait(false);
            string[] chain = [.. before.Select(static backup => backup.Object), name];
            ProvenPoint? proven = task.Proves
                ? await ProveAsync(chain, report, key, cancellationToken).ConfigureAwait(false)
                : null;
            string[] written = Written();
            var kept = new KeptBackup(
                name, report.TakenAt ?? now, report.LastEtag, HashOf(report), report.StoredBytes, written, proven is not null,
                isIncremental);
            (IReadOnlyList<KeptBackup> all, IReadOnlyList<string> deleted) = await RetainAsync(
                [.. state.Kept, kept], cancellationToken).ConfigureAwait(false);
            return new BackupRunReport
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
                Kept = all,
                Deleted = deleted,
                Link = GoOn(report.Link, state)?.ToString(),
                Mark = mark,
                KeyMark = keyMark,
                Duration = clock.GetElapsedTime(began),
            };
        }
        finally
        {
            foreach ((BackupDestination destination, _) in _places)
                destination.Dispose();
        }
    }

    /// <summary>
    /// What the next increment goes on from: the full backup and its increments, if each of them is at each of the places and the
    /// database has gone on from there; else nothing, and the next is a full one.
    /// </summary>
    private KeptBackup[] ChainBefore(BackupTaskState state)
    {
        if (state.Link is null || !DumpIncrement.CanGoOn(lease.Database, task.Kind, BackupLink.Parse(state.Link)))
            return [];
        int full = state.Kept.ToList().FindLastIndex(static backup => !backup.IsIncremental);
        KeptBackup[] chain = full < 0 ? [] : [.. state.Kept.Skip(full)];
        return Array.TrueForAll(chain, backup => task.Destinations.All(place => backup.Addresses.Contains(place.Address)))
            ? chain
            : [];
    }

    /// <summary>Archives what was committed since the last run.</summary>
    private async Task<BackupRunReport> ArchiveLogAsync(
        BackupTaskState state, EncryptionKey? key, DateTime now, string mark, string? keyMark, long began,
        CancellationToken cancellationToken)
    {
        string name = BackupName.Of(lease.Database.Name, now, BackupKind.Log, isIncremental: true, IsSealed(key));
        BackupLink since = BackupLink.Parse(state.Link!); // there is no chain without one
        var options = new BackupOptions
        {
            Kind = BackupKind.Log,
            Since = since,
            IsOfTask = true,
            Compression = task.Compression,
            EncryptionKey = key,
            AllowPlain = task.AllowPlain,
            PercentWhileWriting = _percentWhileWriting
        };
        BackupReport report = await WriteAsync(name, options, cancellationToken).ConfigureAwait(false);
        await WriteCardsAsync(name, report, since, cancellationToken).ConfigureAwait(false);
        if (task.Proves)
            await ProveLogAsync(name, report, key, cancellationToken).ConfigureAwait(false);
        string[] written = Written();
        return new BackupRunReport
        {
            Kind = BackupRunKind.Log,
            LogAddresses = [.. written.Intersect(state.LogAddresses)],
            Log = new KeptLog(name, written),
            Newest = new RestorableMoment(now, report.LastCommit, report.LastEtag, name, _proven.Count > 0),
            Report = report,
            Object = name,
            Places = Results(name, report),
            Kept = state.Kept,
            Link = report.Link?.ToString(),
            Mark = mark,
            KeyMark = keyMark,
            Duration = clock.GetElapsedTime(began),
        };
    }

    /// <summary>
    /// The log goes on where it was also over a full backup, so that what was committed between its last stretch and that is in
    /// it too.
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

    /// <summary>Why the log cannot go on at each of the places; null where it can.</summary>
    private string? LogMissing(BackupTaskState state) =>
        task.Destinations.FirstOrDefault(place => !state.LogAddresses.Contains(place.Address)) is { } place
            ? $"'{place.Address}' has not all of the log that follows the last backup: an increment closes the gap there."
            : null;

    private bool IsSealed(EncryptionKey? key) => key is not null || (lease.Database.IsEncrypted && !task.AllowPlain);

    private string[] Written() =>
        [.. _places.Where(place => !_failures.ContainsKey(place.Address) || _proven.Contains(place.Address))
            .Select(static place => place.Address)];

    private BackupPlaceResult[] Results(string name, BackupReport report) =>
        [.. _places.Select(
            place => new BackupPlaceResult(
                place.Address, name, report.StoredBytes, _failures.GetValueOrDefault(place.Address),
                _proven.Contains(place.Address)))];

    /// <summary>Beside what was written; a card that cannot be is not missed: the part says the same, only not as fast.</summary>
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
                // see above
            }
        }
    }

    /// <summary>
    /// What the report of the one who wrote it and of the one who read it must have in common. The content hash is that of JSON;
    /// pages have theirs in the backup itself, compared by who reads it, and here the commit says which state of the database
    /// they are.
    /// </summary>
    private static (Guid? Database, long Etag, long Commit, BackupCounts Counts, string? ContentHash) Identity(
        BackupReport report) =>
        (report.DatabaseId, report.LastEtag, report.LastCommit, report.LastPart ?? report.Counts, report.ContentHash);

    /// <summary>The hash of what is in it, or of its pages.</summary>
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

    /// <summary>Says before the long work what is known to fail. With several places it goes on as long as one is left.</summary>
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
            (stream, stop) => lease.BackupAsync(stream, options, progress, stop),
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
            // each place has its reason in the list, and the backup is on the disk
        }
    }

    /// <summary>Writes one stream to several places.</summary>
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
            }
            catch (DestinationException error)
            {
                first ??= error;
                _failures[address] = error.Message;
            }
        }

        if (uploads.Count == 0)
            throw first ?? throw new UnreachableException(); // a task has a place
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
                    _failures[address] = error.Message;
            }
        }
    }

    /// <summary>Reads the backup back from each place and compares it with what the database was when it was taken.</summary>
    private async Task<ProvenPoint?> ProveAsync(
        string[] chain, BackupReport report, EncryptionKey? key, CancellationToken cancellationToken)
    {
        ProvenPoint? proven = null;
        string name = chain[^1];
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
                BackupReport found = await lease.VerifyAsync(
                    parts, new RestoreOptions { BackupKey = key, Pace = BackupPace.Of(lease.Database, _percentWhileWriting) },
                    progress, cancellationToken).ConfigureAwait(false);
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
    /// Reads a stretch of the log back from each place: that it is whole, and that its commits follow each other up to the one
    /// that was the last. What is before it was proven before.
    /// </summary>
    private async Task ProveLogAsync(string name, BackupReport report, EncryptionKey? key, CancellationToken cancellationToken)
    {
        foreach ((
            BackupDestination destination,
            string address) in _places.Where(place => !_failures.ContainsKey(place.Address)).ToArray())
        {
            try
            {
                var part = new BackupPart(name, async stop => await destination.OpenAsync(name, stop).ConfigureAwait(false));
                BackupReport found = await lease.VerifyAsync(
                    [part],
                    new RestoreOptions
                    {
                        BackupKey = key,
                        IsLogAlone = true,
                        Pace = BackupPace.Of(lease.Database, _percentWhileWriting)
                    },
                    progress, cancellationToken).ConfigureAwait(false);
                if ((found.LastCommit, found.LogCommits) != (report.LastCommit, report.LogCommits))
                    throw new BackupException(
                        BackupFault.RestoredOtherwise,
                        $"'{name}' has {found.LogCommits} commits up to {found.LastCommit}, and should have {report.LogCommits} "
                            + $"up to {report.LastCommit}.");
                _proven.Add(address);
            }
            catch (Exception error) when (error is DestinationException || BackupException.From(error) is not null)
            {
                _failures[address] = $"It was written, and reading it back failed: {error.Message}";
                _unproven.Add(address);
            }
        }
    }

    /// <summary>
    /// Deletes what may go, where it is; what cannot be deleted stays in the list and is tried again the next time.
    /// </summary>
    private async Task<(IReadOnlyList<KeptBackup> Kept, IReadOnlyList<string> Deleted)> RetainAsync(
        IReadOnlyList<KeptBackup> all, CancellationToken cancellationToken)
    {
        var kept = all.ToList();
        var deleted = new List<string>();
        IReadOnlyList<KeptBackup> deletable = Retention.Deletable(
            all, task.KeepFor, task.KeepAtLeast, clock.GetUtcNow().UtcDateTime);
        if (deletable.Count == 0)
            return (kept, deleted);

        var cards = new BackupCards();
        await DeleteLogsAsync(all.Except(deletable).First().Object, cards, deleted, cancellationToken).ConfigureAwait(false);
        foreach (KeptBackup old in deletable)
        {
            string[] left = await DeleteAsync(old.Object, old.Addresses, cards, cancellationToken).ConfigureAwait(false);
            int at = kept.IndexOf(old);
            if (left.Length > 0)
            {
                kept[at] = old with { Addresses = left };
                continue;
            }

            kept.RemoveAt(at);
            deleted.Add(old.Object);
        }

        return (kept, deleted);
    }

    /// <summary>
    /// Deletes the log that is older than a backup from which on all is kept: whatever it leads to, that backup and what follows
    /// it lead there too, or it is older than what is kept.
    /// </summary>
    private async Task DeleteLogsAsync(
        string before, BackupCards cards, List<string> deleted, CancellationToken cancellationToken)
    {
        if (task.Id == 0)
            return;
        var changed = new List<KeptLog>();
        foreach (KeptLog old in BackupTaskStore.Of(lease.Database).ListLogs(task.Id, before).Reverse())
        {
            string[] left = await DeleteAsync(old.Object, old.Addresses, cards, cancellationToken).ConfigureAwait(false);
            changed.Add(old with { Addresses = left });
            if (left.Length == 0)
                deleted.Add(old.Object);
        }

        if (changed.Count > 0)
            await BackupTaskStore.Of(lease.Database).PutLogsAsync(task.Id, changed).ConfigureAwait(false);
    }

    /// <summary>Deletes an object with its cards where it is; gives the places at which it could not.</summary>
    private async Task<string[]> DeleteAsync(
        string name, IReadOnlyList<string> addresses, BackupCards cards, CancellationToken cancellationToken)
    {
        var left = new List<string>();
        foreach (string address in addresses)
        {
            if (_places.Find(place => place.Address == address).Destination is not { } destination)
                continue; // no place of this task any more: what is there is not ours to delete
            try
            {
                foreach (string card in await cards.OfAsync(destination, name, cancellationToken).ConfigureAwait(false))
                    await destination.DeleteAsync(card, cancellationToken).ConfigureAwait(false);
                await destination.DeleteAsync(name, cancellationToken).ConfigureAwait(false);
            }
            catch (DestinationException)
            {
                left.Add(address);
            }
        }

        return [.. left];
    }
}
