namespace Treepie.Storage.Backups;

/// <summary>
/// Reads a chain of backup parts: a snapshot, its increments and the following log, to restore it to one of its commits or to
/// verify it. The newest part is read first, so that each page is written once; the log last. What is restored is checked before
/// it counts as restored.
/// </summary>
public sealed class BackupChain : IDisposable
{
    private readonly IReadOnlyList<BackupChainPart> _parts;
    private readonly BackupChainOptions _options;
    private readonly ChainPlan _plan;
    private BackupPartReader? _only;
    private byte[] _manifest = [];
    private BackupPartHeader? _lastLog;

    private BackupChain(
        IReadOnlyList<BackupChainPart> parts, BackupChainOptions options, ChainPlan plan, BackupPartHeader newest,
        BackupPartReader? only)
    {
        _parts = parts;
        _options = options;
        _plan = plan;
        Newest = newest;
        _only = only;
    }

    /// <summary>
    /// The header of the snapshot or increment whose state the chain restores: the newest one not after the point at which to
    /// stop.
    /// </summary>
    public BackupPartHeader Newest { get; }

    /// <summary>Opens a chain and reads the headers of its parts.</summary>
    /// <param name="parts">The parts, in the order in which they were taken, starting with the snapshot.</param>
    /// <param name="options">The point at which to stop; null: at the end.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <exception cref="BackupPartException">The parts are not a chain, or do not contain the point at which to stop; the message
    /// says what is missing, foreign, or out of order.</exception>
    public static async Task<BackupChain> OpenAsync(
        IReadOnlyList<BackupChainPart> parts, BackupChainOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(parts);
        if (parts.Count == 0)
            throw new ArgumentException("There is nothing to read: a chain has a snapshot at least.", nameof(parts));

        options ??= new BackupChainOptions();
        var headers = new List<(string Name, BackupPartHeader Header)>();
        BackupPartReader? reader = null;
        try
        {
            foreach (BackupChainPart part in parts)
            {
                reader?.Dispose();
                reader = null;
                reader = await OpenAsync(part, cancellationToken).ConfigureAwait(false);
                headers.Add((part.Name, reader.Header));
            }

            var plan = ChainPlan.Make(headers, options);
            // If there is only one part, keep it open: its stream may not support being opened twice.
            BackupPartReader? only = parts.Count == 1 ? reader : null;
            reader = parts.Count == 1 ? null : reader;
            return new BackupChain(parts, options, plan, headers[plan.Pages[^1]].Header, only);
        }
        finally
        {
            reader?.Dispose();
        }
    }

    /// <summary>
    /// Reads the entire chain and verifies every checksum, the number, kind and transaction of every page, that all references
    /// are satisfied and nothing is unreferenced, counts of keys, and the order of commits. Writes it to the targets, which are
    /// then checked like an environment. The log is replayed on the first store only.
    /// </summary>
    /// <param name="target">Returns the restore target of a store by name, or null if the store is only to be verified. Null:
    /// nothing is restored.</param>
    /// <param name="progress">Receives the progress after each frame, on the working thread; or null.</param>
    /// <param name="cancellationToken">Cancels the operation between two frames.</param>
    /// <exception cref="BackupPartException">A part is not intact, or the parts do not belong together.</exception>
    /// <exception cref="DiskFullException">The disk is full.</exception>
    /// <exception cref="StorageException">A target cannot be written.</exception>
    public async Task<BackupChainReport> ReadAsync(
        Func<string, EnvironmentRestore?>? target = null, IProgress<BackupPartProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        var stores = new List<StoreAssembly>();
        try
        {
            string hash = await ReadPagesAsync(stores, target, progress, cancellationToken).ConfigureAwait(false);
            long pages = stores.Sum(store => store.PagesSeen);
            StoreRecord first = stores[0].Record;
            PageBits inUse = stores[0].InUse();
            using var log = new LogReplay(
                new RestoredState(first.Commit, first.CommitMs, first.Catalogue, first.System, first.NextTreeId, first.PageCount),
                stores[0].Target, inUse)
            {
                StopAtCommit = _options.StopAtCommit ?? long.MaxValue,
                StopAtMs = _options.StopAtMs,
            };
            foreach (int part in _plan.Logs)
                await ReadLogAsync(log, part, progress, cancellationToken).ConfigureAwait(false);
            Complete(stores, log.State, inUse, progress, cancellationToken);
            DateTimeOffset? at = log.State.CommitMs == 0 ? null : DateTimeOffset.FromUnixTimeMilliseconds(log.State.CommitMs);
            return new BackupChainReport(
                log.State.Commit, at, hash, _plan.Pages.Count + _plan.Logs.Count, stores.Count, pages, log.Commits)
            {
                Manifest = _manifest,
                LogDescription = _lastLog is { } last && last.Commit == log.State.Commit ? last.Description : default,
            };
        }
        finally
        {
            foreach (StoreAssembly store in stores)
            {
                store.Target?.Dispose();
                store.Dispose();
            }
        }
    }

    /// <summary>
    /// Verifies a log part by itself: every checksum, and that its commits are consecutive and can be replayed. Whether it
    /// continues another part is determined by the headers of both.
    /// </summary>
    /// <exception cref="BackupPartException">The part is not intact, or not a log.</exception>
    public static async Task<BackupChainReport> ProveLogAsync(
        BackupChainPart part, IProgress<BackupPartProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(part);
        using BackupPartReader reader = await OpenAsync(part, cancellationToken).ConfigureAwait(false);
        BackupPartHeader header = reader.Header;
        if (header.Kind != BackupPartKind.Log)
            throw new BackupPartException(
                BackupPartFault.NotAPart,
                $"'{part.Name}' is not a log but a part of kind {header.Kind}: verify it with the parts before it.");

        using var log = new LogReplay(new RestoredState(header.Since, 0, default, default, 0, 0), null, null);
        await ReadLogAsync(log, reader, progress, cancellationToken).ConfigureAwait(false);
        return new BackupChainReport(log.State.Commit, header.CommittedAt, reader.Hash, 1, 0, 0, log.Commits);
    }

    /// <inheritdoc/>
    public void Dispose() => _only?.Dispose();

    private static async Task<BackupPartReader> OpenAsync(BackupChainPart part, CancellationToken cancellationToken) =>
        await BackupPartReader.OpenAsync(
            await part.OpenAsync(cancellationToken).ConfigureAwait(false), part.Name, cancellationToken).ConfigureAwait(false);

    private async Task<BackupPartReader> OpenAsync(int part, CancellationToken cancellationToken)
    {
        BackupPartReader? only = _only;
        _only = null;
        return only ?? await OpenAsync(_parts[part], cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Reads the parts from the newest to the snapshot. Returns the hash of the newest.</summary>
    private async Task<string> ReadPagesAsync(
        List<StoreAssembly> stores, Func<string, EnvironmentRestore?>? target, IProgress<BackupPartProgress>? progress,
        CancellationToken cancellationToken)
    {
        string newest = "", expected = "", after = "";
        for (int i = _plan.Pages.Count - 1; i >= 0; i--)
        {
            using BackupPartReader part = await OpenAsync(_plan.Pages[i], cancellationToken).ConfigureAwait(false);
            await ReadPartAsync(
                part, stores, after.Length == 0 ? target : null, isNewest: after.Length == 0, progress,
                cancellationToken).ConfigureAwait(false);
            if (after.Length > 0 && part.Hash != expected)
                throw new BackupPartException(
                    BackupPartFault.Foreign,
                    $"'{after}' continues another part than '{part.Name}', of the same commit: their hashes differ. Give the "
                        + $"parts of one chain.");
            if (after.Length == 0)
                newest = part.Hash;
            (expected, after) = (part.Header.PreviousHash, part.Name);
        }

        foreach (StoreAssembly store in stores)
        {
            if (store.Missing >= 0)
                throw new BackupPartException(
                    BackupPartFault.LinkMissing,
                    $"The pages of '{store.Record.Name}' up to commit {store.Missing} are in none of the parts: '{after}' does "
                        + $"not hold that store. Give the parts of one chain.");
            store.Prove();
        }

        return stores.Count > 0
            ? newest
            : throw new BackupPartException(BackupPartFault.Inconsistent, $"'{after}' holds no store. Take another backup.");
    }

    private async Task ReadPartAsync(
        BackupPartReader part, List<StoreAssembly> stores, Func<string, EnvironmentRestore?>? target, bool isNewest,
        IProgress<BackupPartProgress>? progress, CancellationToken cancellationToken)
    {
        StoreAssembly? store = null;
        bool isWithin = false, isAny = false;
        for (PartFrameKind kind; (kind = await part.ReadAsync(cancellationToken).ConfigureAwait(false)) != PartFrameKind.End;)
        {
            if (isWithin == kind is PartFrameKind.Store or PartFrameKind.Manifest)
                throw part.Inconsistent($"a frame of kind {(int)kind} is out of place");
            switch (kind)
            {
                case PartFrameKind.Store:
                    store = Begin(part, stores, target, isNewest, isAny);
                    isWithin = isAny = true;
                    break;
                case PartFrameKind.Live:
                    store?.Live(part);
                    break;
                case PartFrameKind.Reserved:
                    store?.Reserved(part);
                    break;
                case PartFrameKind.Pages:
                    store?.Pages(part);
                    if (store is not null)
                        progress?.Report(new BackupPartProgress(store.Record.Name, store.PagesSeen, store.Record.LivePages));
                    break;
                case PartFrameKind.StoreEnd:
                    store?.End(part);
                    isWithin = false;
                    break;
                case PartFrameKind.Manifest:
                    if (isNewest)
                        _manifest = part.Content.ToArray();
                    break;
                case PartFrameKind.StoreLost:
                    Lose(part, stores, store, isNewest);
                    isWithin = false;
                    break;
                default:
                    throw part.Inconsistent($"it has a frame of kind {(int)kind}, which this program does not know");
            }
        }

        if (isWithin)
            throw part.Inconsistent("it ends within a store");
    }

    /// <summary>Starts the store whose pages follow. Returns null if they are not needed.</summary>
    private static StoreAssembly? Begin(
        BackupPartReader part, List<StoreAssembly> stores, Func<string, EnvironmentRestore?>? target, bool isNewest, bool isAny)
    {
        StoreRecord record = StoreRecord.TryRead(part.Content) ?? throw part.Inconsistent("a record of a store is invalid");
        BackupPartHeader header = part.Header;
        if (!isAny && (record.StoreId != header.StoreId || record.Commit != header.Commit || record.Since != header.Since))
            throw part.Inconsistent(
                $"its header says commits {header.Since} to {header.Commit}, its first store of {record.Since} to "
                    + $"{record.Commit}");

        StoreAssembly? known = stores.Find(store => store.Record.Name == record.Name);
        if (isNewest)
        {
            if (known is not null)
                throw part.Inconsistent($"it holds '{record.Name}' twice");

            EnvironmentRestore? place = target?.Invoke(record.Name);
            try
            {
                var made = new StoreAssembly(record, part.Name, place);
                stores.Add(made);
                return made;
            }
            catch
            {
                place?.Dispose();
                throw;
            }
        }

        if (known is null || known.Missing < 0)
            return null;
        known.Continue(record, part);
        return known;
    }

    /// <summary>Leaves out a store that was damaged when it was backed up. Its owner must rebuild it.</summary>
    private static void Lose(BackupPartReader part, List<StoreAssembly> stores, StoreAssembly? store, bool isNewest)
    {
        if (store is null)
            return;
        if (!isNewest || store == stores[0])
            throw part.Inconsistent($"'{store.Record.Name}' was damaged when it was taken, and is needed");

        stores.Remove(store);
        store.Target?.Dispose();
        store.Dispose();
    }

    private async Task ReadLogAsync(
        LogReplay log, int index, IProgress<BackupPartProgress>? progress, CancellationToken cancellationToken)
    {
        using BackupPartReader part = await OpenAsync(index, cancellationToken).ConfigureAwait(false);
        await ReadLogAsync(log, part, progress, cancellationToken).ConfigureAwait(false);
        _lastLog = part.Header;
    }

    private static async Task ReadLogAsync(
        LogReplay log, BackupPartReader part, IProgress<BackupPartProgress>? progress, CancellationToken cancellationToken)
    {
        for (PartFrameKind kind; (kind = await part.ReadAsync(cancellationToken).ConfigureAwait(false)) != PartFrameKind.End;)
        {
            if (kind != PartFrameKind.Commit)
                throw part.Inconsistent($"a frame of kind {(int)kind} is in a log");
            log.Take(part);
            progress?.Report(new BackupPartProgress("", log.State.Commit, Math.Min(part.Header.Commit, log.StopAtCommit)));
        }

        log.End(part);
        if (!log.IsOver && log.State.Commit < part.Header.Commit)
            throw part.Inconsistent($"its header says commit {part.Header.Commit}, but it ends with {log.State.Commit}");
    }

    /// <summary>Completes the restored stores and checks them.</summary>
    private static void Complete(
        List<StoreAssembly> stores, RestoredState reached, PageBits inUse, IProgress<BackupPartProgress>? progress,
        CancellationToken cancellationToken)
    {
        for (int i = 0; i < stores.Count; i++)
        {
            if (stores[i].Target is not { } target)
                continue;

            StoreRecord record = stores[i].Record;
            RestoredState state = i == 0
                ? reached
                : new RestoredState(
                    record.Commit, record.CommitMs, record.Catalogue, record.System, record.NextTreeId, record.PageCount);
            target.Complete(state, i == 0 ? inUse : stores[i].InUse());
            target.Dispose();
            target.Check(progress, cancellationToken);
        }
    }
}
