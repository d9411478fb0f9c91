using Treepie.Indexes;
using Treepie.Indexing;
using Treepie.Lifecycle;
using Treepie.Storage.Transactions;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie;

/// <summary>
/// Deletes tombstones that no index and no enabled backup task needs any more, in the background. Thread-safe.
/// </summary>
/// <remarks>
/// Invariants: (1) no tombstone is deleted whose etag is greater than what an index has stored and than the state in which it
/// began, so an index that is behind, off or failing finds it; (2) an index for which both are less than what the documents have
/// deleted, as after a loss of power or when it comes from an older backup, is built anew when it is opened; (3) no tombstone is
/// deleted that the next increment of a logical backup must contain; (4) if the database has backup tasks, none is deleted before
/// <see cref="BackedUp"/> is set.
/// </remarks>
internal sealed class TombstoneCleaning : IDisposable
{
    private const int MostWaits = 250;

    private static readonly TimeSpan _frequency = TimeSpan.FromMinutes(10), _wait = TimeSpan.FromMilliseconds(20);

    private readonly Database _database;
    private readonly PeriodicRun _runs;

    public TombstoneCleaning(Database database)
    {
        _database = database;
        _runs = new PeriodicRun(
            database.Options.TimeProvider, stop => RunAsync(database.Options.TombstoneRetention, stop));
        _runs.Schedule(_frequency);
    }

    /// <summary>
    /// Returns the etag up to which backup tasks have all changes, at most the given one. Set by who reads the tasks, on any
    /// thread.
    /// </summary>
    public Func<long, long>? BackedUp { get; set; }

    /// <summary>Deletes tombstones of at least an age; returns their number.</summary>
    public Task<long> RunAsync(TimeSpan olderThan, CancellationToken cancellationToken) => _runs.NowAsync(
        async stop =>
        {
            long last;
            using (DatabaseSnapshot snapshot = _database.BeginRead())
            {
                if (LastOld(snapshot, olderThan, long.MaxValue, isAnyEnough: true) == 0)
                    return 0;
                // Read before the indexes are listed: what one that is added later reads is not older than this.
                last = snapshot.LastEtag;
            }

            bool isUnknown = BackedUp is null && HasBackupTasks();
            if (isUnknown)
                return 0;
            long upToEtag = Math.Min(
                await IndexedAsync(last, stop).ConfigureAwait(false), BackedUp?.Invoke(last) ?? last);
            using (DatabaseSnapshot snapshot = _database.BeginRead())
                upToEtag = LastOld(snapshot, olderThan, upToEtag);
            return upToEtag == 0
                ? 0
                : await TombstoneWriter.PurgeAsync(_database.Environment, upToEtag, stop).ConfigureAwait(false);
        },
        cancellationToken);

    public void Dispose() => _runs.Dispose();

    /// <summary>
    /// Returns the etag of the last tombstone, at most the given one, that certainly has an age, as have all before it; 0 if
    /// there is none. See <see cref="RecordedTimes"/> for wrong times.
    /// </summary>
    private long LastOld(DatabaseSnapshot snapshot, TimeSpan age, long upToEtag, bool isAnyEnough = false)
    {
        long now = _database.Options.TimeProvider.GetUtcNow().Ticks, old = 0;
        var times = new RecordedTimes(snapshot.ForgottenTicks, now);
        using LogReader documents = snapshot.Tombstones(), others = snapshot.Kinds.Deletions();
        bool isDocument = documents.MoveNext(), isOther = others.MoveNext();
        while ((isDocument || isOther) && !(isAnyEnough && old > 0))
        {
            long etag, ticks;
            if (isDocument && (!isOther || documents.Etag < others.Etag))
            {
                (etag, ticks) = (documents.Etag, new TombstoneRecord(documents.Value).DeletedAtTicks);
                isDocument = documents.MoveNext();
            }
            else
            {
                (etag, ticks) = (others.Etag, snapshot.Kinds.RecordOf(others.Value).Ticks);
                isOther = others.MoveNext();
            }

            bool isRight = times.IsRight(ticks);
            if (etag > upToEtag || (isRight && now - ticks < age.Ticks))
                break;
            if (isRight || age <= TimeSpan.Zero)
                old = etag;
        }

        return old;
    }

    /// <summary>
    /// Returns the etag that all indexes have stored, at most <paramref name="etag"/>. Those that have caught up without a
    /// change of their own store it only now.
    /// </summary>
    private async Task<long> IndexedAsync(long etag, CancellationToken stop)
    {
        IReadOnlyList<HeldIndex> held = _database.Indexes.Hold();
        try
        {
            foreach (HeldIndex one in held)
                one.Index.WantEtag(etag);
            for (int i = 0; ; i++)
            {
                HeldIndex[] behind = [.. held.Where(one => StoredEtag(one.Index) < etag)];
                if (i == MostWaits || !Array.Exists(behind, MayCatchUp))
                    return behind.Select(static one => StoredEtag(one.Index)).Append(etag).Min();
                await Task.Delay(_wait, stop).ConfigureAwait(false);
            }
        }
        finally
        {
            foreach (HeldIndex one in held)
                one.Index.Release();
        }
    }

    private bool HasBackupTasks()
    {
        using ReadTransaction read = _database.Environment.BeginRead();
        return read.FindTree(TreeNames.BackupTasks) is { Count: > 0 };
    }

    private bool MayCatchUp(HeldIndex held) =>
        _database.Indexes.Control.Switch(held.Index.Name).IsOn && !held.Index.Progress.IsFaulted;

    private static long StoredEtag(DocumentIndex index)
    {
        using IndexSearcher searcher = index.OpenSearcher();
        return index.KnownUpTo(searcher.LastEtag);
    }
}
