using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Treepie.Storage.Checks;
using Treepie.Storage.Encryption;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.FreeSpace;
using Treepie.Storage.Journal;
using Treepie.Storage.Paging;
using Treepie.Storage.Sessions;
using Treepie.Storage.Snapshots;
using Treepie.Storage.Transactions;

namespace Treepie.Storage;

/// <summary>
/// A storage environment: named B+trees of bytes in one directory, with snapshot reads that never block and durable, atomic
/// writes. Thread-safe; only one process at a time can have a directory open.
/// </summary>
/// <remarks>
/// Guarantees: acknowledged writes survive any crash; a snapshot never changes; readers never wait. Costs: one journal write and
/// one sync for each batch of merged writes, one access for each page read, address space (not memory) for the data file, and
/// memory for pages that no checkpoint has written yet.
/// </remarks>
public sealed class StorageEnvironment : ITransactionSource, IDisposable, IAsyncDisposable
{
    private readonly World _world;
    private readonly StorageOptions _options;
    private readonly IDisposable _fileLock;
    private readonly JournalFiles _journalFiles;
    private readonly JournalWriter? _journal;
    private readonly Lifetime _lifetime;
    private readonly EnvironmentState _state;
    private readonly Writer _writer;
    private readonly CommitQueue _commits;
    private readonly Background _background;
    private readonly CheckpointRunner _checkpoints;
    private readonly ConcurrentDictionary<Type, object> _requests = new();
    private int _disposed;
    private int _freed;
    private int _shrinksToClose;

    internal StorageEnvironment(
        World world, StorageOptions options, IDisposable fileLock, IFile data, MetaPage meta, StoreCipher? cipher)
    {
        _world = world;
        _options = options;
        _fileLock = fileLock;
        Cipher = cipher;
        StoreId = meta.StoreId;
        _journalFiles = new JournalFiles(world.Files);
        PageStore? store = null;
        try
        {
            store = new PageStore(world.Files, data, options, cipher);
            var bitmaps = new BitmapSource(store, meta, world.PagesPerBitmap);
            var space = new FreePages(meta.PageCount, meta.LivePages, bitmaps.Load, store.Forget, world.PagesPerBitmap);
            IReadOnlyList<JournalFile> journalFiles = _journalFiles.OpenAll(meta.StoreId, !options.ReadOnly);
            var reader = new JournalReader(world.Files, journalFiles, cipher);
            Snapshot current = new Recovery(store, space, meta).Run(reader, out JournalPosition end);
            _state = new EnvironmentState(store, space, meta, current, world.Ages)
            {
                Clock = world.Clock,
                HashSeed = world.Draw(),
                Bitmaps = bitmaps
            };
            RotationGate = new Gate(world.Scheduler);
            _lifetime = new Lifetime(world.Scheduler);
            _background = new Background(world.Scheduler, _lifetime, world.IsBackgroundAllowed);
            if (options is { ReadOnly: false, Durability: Durability.Durable })
            {
                _journal = new JournalWriter(_journalFiles, end, reader.Tail, meta.Journal.Use, new JournalSettings
                {
                    StoreId = StoreId,
                    Sizes = new JournalSizes(options.FirstJournalFileBytes, options.MaxJournalFileBytes, GrowthFactor: 4),
                    DrawSalt = world.Draw,
                    Cipher = cipher,
                    // a spare file that was not created in advance is created when needed
                    Background = world.IsBackgroundAllowed ? work => _background.Run(work) : static work => work(),
                    MakeDataDurable = () => DataFile.MakeDurable(world.Files, data, meta),
                    Clock = world.Clock,
                    ProbeClock = world.Clock,
                });
            }
            _writer = new Writer(_state, _journal);
            var maintenance = new CommitMaintenance(_state, _writer);
            _commits = new CommitQueue(_writer, maintenance, world.Scheduler, _lifetime, isInline: !world.IsBackgroundAllowed);
            _checkpoints = new CheckpointRunner(
                _state, new Checkpointer(_state, world.Files, data, _journal, end, cipher), _commits, _background, _lifetime,
                options, _journal, world.Clock);
            maintenance.Checkpoints = _checkpoints;
            Sweeper = store.Decrypted is { } decrypted
                ? _background.Own(new DecryptedSweeper(_state, decrypted, _commits, _background, options, world.Clock))
                : null;
            if (!options.ReadOnly)
                _state.Scrubber = _background.Own(
                    new Scrubber(_state, _commits, _background, options, world.Clock, world.Draw()));
            _background.Own(new EvictionWatch(store, _background, world.Clock));
        }
        catch
        {
            _journal?.Dispose();
            _journalFiles.Dispose();
            store?.Dispose();
            _lifetime?.Dispose();
            throw;
        }
    }

    /// <summary>The id generated when the directory was created; it never changes.</summary>
    public Guid StoreId { get; }

    /// <summary>Whether the environment is encrypted.</summary>
    public bool IsEncrypted => Cipher is not null;

    /// <summary>The cipher, or null if the environment is not encrypted.</summary>
    internal StoreCipher? Cipher { get; }

    /// <summary>Allows only one change of keys at a time.</summary>
    internal Gate RotationGate { get; }

    /// <summary>Releases decrypted pages. Null if the environment is not encrypted.</summary>
    internal DecryptedSweeper? Sweeper { get; }

    /// <summary>The interfaces to everything outside.</summary>
    internal World World => _world;

    /// <summary>The files of the journal.</summary>
    internal JournalFiles JournalFiles => _journalFiles;

    /// <summary>The journal, or null if there is none or the environment is read-only.</summary>
    internal JournalWriter? Journal => _journal;

    /// <summary>Whether the environment was opened read-only.</summary>
    internal bool IsReadOnly => _options.ReadOnly;

    /// <summary>Tracks the operations that closing waits for.</summary>
    internal Lifetime Lifetime => _lifetime;

    /// <summary>Runs checkpoints.</summary>
    internal CheckpointRunner Checkpoints => _checkpoints;

    /// <summary>The queue of all writers.</summary>
    internal CommitQueue Commits => _commits;

    /// <summary>The internal state.</summary>
    internal EnvironmentState State => _state;

    EnvironmentState ITransactionSource.State => _state;

    /// <summary>Opens a directory, creating it if it does not exist, and recovers all acknowledged writes.</summary>
    /// <exception cref="EnvironmentLockedException">The environment is already open, here or in another process.</exception>
    /// <exception cref="ForeignDataException">The directory contains other data, or a newer format. Nothing was
    /// written.</exception>
    /// <exception cref="CorruptionException">The data is damaged. Nothing was written.</exception>
    /// <exception cref="EncryptionKeyException">The environment is encrypted and the key is missing or wrong, or it is not and a
    /// key was given. Nothing was written.</exception>
    /// <exception cref="DiskFullException">There is no space to create it.</exception>
    /// <exception cref="StorageException">The environment cannot be written to (open it <see cref="StorageOptions.ReadOnly"/>),
    /// or it does not exist and cannot be created.</exception>
    public static StorageEnvironment Open(string directory, StorageOptions? options = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        options ??= new StorageOptions();
        World world = World.OfDisk(directory, options.AllowMissingLocks);
        return Open(options.IsBackgroundQuiet ? world with { Scheduler = new QuietScheduler() } : world, options);
    }

    /// <summary>
    /// Begins a read transaction on the last published commit. Never waits. Must be disposed, on any thread.
    /// </summary>
    /// <param name="name">The name of a long read in the statistics; null for none.</param>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public ReadTransaction BeginRead(string? name = null)
    {
        Snapshot snapshot = EnterRead(name, out ReaderTable.Slot slot);
        return new ReadTransaction(this, _state.Store, snapshot, slot);
    }

    /// <summary>
    /// Begins a read of the last published commit that is a ref struct and allocates nothing. Never waits. Must be disposed.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public ReadScope Read()
    {
        Snapshot snapshot = EnterRead(null, out ReaderTable.Slot slot);
        return new ReadScope(this, snapshot, slot);
    }

    /// <summary>
    /// Begins a read transaction on a named snapshot. Never waits. Must be disposed. Remains valid if the snapshot is dropped
    /// meanwhile.
    /// </summary>
    /// <exception cref="SnapshotNotFoundException">The snapshot does not exist.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public ReadTransaction OpenSnapshot(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        while (true)
        {
            ObjectDisposedException.ThrowIf(Volatile.Read(ref _disposed) != 0, this);
            NamedSnapshot named = _state.Current.Named.Find(name)
                ?? throw new SnapshotNotFoundException($"There is no snapshot '{name}' in '{_world.Files.Path}'.");
            ReaderTable.Slot slot = _state.Readers.Claim(named.TransactionId, name);

            // Dropping a snapshot publishes that first and reads the slots afterwards.
            if (_state.Current.Named.Find(name) == named)
                return Begin(
                    new Snapshot(named.TransactionId, named.Record.Catalogue, named.Record.NextTreeId, _state.Current.PageCount),
                    slot);

            ExitRead(slot);
        }
    }

    /// <summary>Returns the named snapshots, oldest first.</summary>
    public IReadOnlyList<SnapshotInfo> ListSnapshots()
    {
        ObjectDisposedException.ThrowIf(Volatile.Read(ref _disposed) != 0, this);
        return [.. _state.Current.Named.All.Select(snapshot => snapshot.Describe())];
    }

    /// <summary>
    /// Keeps the last committed state under a name until it is dropped, across reopening and crashes. Costs one commit, without
    /// reading any trees; durable like any write when it returns. To include changes in the state, see
    /// <see cref="WriteTransaction.CreateSnapshot"/>.
    /// </summary>
    /// <param name="name">1 to 512 bytes of UTF-8 without control characters.</param>
    /// <param name="cancellationToken">Cancels the wait for the commit to start; nothing was done then.</param>
    /// <exception cref="SnapshotExistsException">A snapshot of that name exists.</exception>
    /// <exception cref="StorageException">The maximum number of snapshots (4,096) is reached, or as for
    /// <see cref="Write{TResult}"/>.</exception>
    public SnapshotInfo CreateSnapshot(string name, CancellationToken cancellationToken = default)
    {
        NamedSnapshots.CheckName(name);
        return Write(transaction => transaction.CreateSnapshot(name), cancellationToken);
    }

    /// <summary>
    /// Drops a named snapshot and frees the pages that only it used; returns false if it does not exist. Open reads of it remain
    /// valid, and their pages are kept until they end. Takes time in proportion to the pages changed since the snapshot, in short
    /// steps between which others can write.
    /// </summary>
    /// <param name="name">The name of the snapshot.</param>
    /// <param name="cancellationToken">Cancels the freeing of pages, which later commits continue; the snapshot may have been
    /// dropped by then.</param>
    public bool DropSnapshot(string name, CancellationToken cancellationToken = default)
    {
        NamedSnapshots.CheckName(name);
        if (!Write(transaction => transaction.DropSnapshot(name), cancellationToken))
            return false;

        while (_state.Current.Named.Dropped.Count > 0)
            Write(transaction => transaction.Batch.Snapshots.IsCleaning = true, cancellationToken);
        return true;
    }

    /// <summary>
    /// Begins an optimistic session: it reads a snapshot, buffers its writes, and its commit succeeds only if nothing it has read
    /// was changed. Never waits. Must be disposed, on any thread.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    /// <exception cref="InvalidOperationException">The environment was opened read-only.</exception>
    public OptimisticSession BeginSession(OptimisticSessionOptions? options = null)
    {
        ThrowIfNotWritable();
        options ??= new OptimisticSessionOptions();
        options.Validate();
        return new OptimisticSession(this, options);
    }

    /// <summary>
    /// Executes <paramref name="command"/> in the current batch and returns when that batch is durable. If a command throws, only
    /// its own changes are undone, and its exception is rethrown here. The commands of a batch run one after the other; a command
    /// must not block, must not use the transaction after it returns, and may be executed again from its start.
    /// </summary>
    /// <exception cref="OperationCanceledException">The operation was cancelled before it started; nothing was
    /// changed.</exception>
    /// <exception cref="DiskFullException">The disk is full; nothing was changed, and the environment remains usable.</exception>
    /// <exception cref="CommitOutcomeUnknownException">The journal could not be written; it is unknown whether the changes are
    /// kept.</exception>
    /// <exception cref="WritingStoppedException">Writing has stopped after an error; nothing was changed.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed; nothing was changed.</exception>
    /// <exception cref="InvalidOperationException">The environment is read-only.</exception>
    public TResult Write<TResult>(Func<WriteTransaction, TResult> command, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(command);
        ThrowIfNotWritable();
        using Lifetime.Lease lease = _lifetime.Enter();
        _checkpoints.ThrowIfAtBound(_world.Files.Path);
        var pool = (RequestPool<TResult>)_requests.GetOrAdd(typeof(TResult), static _ => new RequestPool<TResult>());
        WriteRequest<TResult> request = pool.Rent(command);
        _commits.Submit(request, cancellationToken);
        TResult result = request.Result;
        pool.Return(request);
        return result;
    }

    /// <summary>Same as <see cref="Write{TResult}"/>, without blocking the caller while batches are being synced.</summary>
    public ValueTask<TResult> WriteAsync<TResult>(
        Func<WriteTransaction, TResult> command, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(command);
        ThrowIfNotWritable();
        using Lifetime.Lease lease = _lifetime.Enter(); // this thread may process other commands after its own is done
        _checkpoints.ThrowIfAtBound(_world.Files.Path);
        cancellationToken.ThrowIfCancellationRequested();
        var request = new WriteRequest<TResult>(isAsync: true);
        request.Begin(command);
        request.Accompany(_lifetime, cancellationToken);
        _commits.SubmitAsync(request);
        return new ValueTask<TResult>(request.Task);
    }

    /// <summary>
    /// Writes all pages that are not yet in the data file to it and releases the journal; returns when this is durable.
    /// </summary>
    /// <exception cref="OperationCanceledException">The checkpoint was cancelled; nothing is lost, the journal is
    /// kept.</exception>
    public void Checkpoint(CancellationToken cancellationToken = default)
    {
        ThrowIfNotWritable();
        using Lifetime.Lease lease = _lifetime.Enter();
        _checkpoints.Run(cancellationToken);
    }

    /// <summary>
    /// Shortens the data file and returns the space to the system, while reads and writes continue: moves pages from its end
    /// towards the start in short commits, between which others can write, and truncates the free end. Reads every page of every
    /// tree. Pages used by open reads and named snapshots are not moved, and the report lists them. May be called repeatedly, and
    /// cancelled or interrupted at any time.
    /// </summary>
    /// <param name="progress">Receives the progress after each step, on the calling thread.</param>
    /// <param name="cancellationToken">Cancels the operation between two steps; what was moved stays moved.</param>
    /// <exception cref="OperationCanceledException">The operation was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The environment was closed before or during the operation; what was moved stays
    /// moved.</exception>
    /// <exception cref="StorageException">As for <see cref="Write{TResult}"/> and <see cref="Checkpoint"/>.</exception>
    public ShrinkReport Shrink(IProgress<ShrinkProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        ThrowIfNotWritable();
        return RunLong(token => new Shrinker(this, _checkpoints, progress, token).Run(), cancellationToken);
    }

    /// <summary>Returns current statistics: sizes, transactions, readers, snapshots, checkpoints.</summary>
    public StorageStatistics GetStatistics()
    {
        using Lifetime.Lease lease = _lifetime.Enter();
        return StatisticsReader.Read(_state, _journalFiles, _journal, _checkpoints, _world.Files.Describe(_fileLock));
    }

    /// <summary>Same as <see cref="Check(IProgress{CheckProgress}, CancellationToken)"/>, without progress.</summary>
    public CheckReport Check(CancellationToken cancellationToken = default) => Check(null, cancellationToken);

    /// <summary>
    /// Checks the entire environment: that each page is either reachable or free, checksums, the transactions that created pages,
    /// key order and separators, counts, named snapshots, the chain of the journal. Reads and writes continue meanwhile; the
    /// pages of the checked state are kept until it ends. Uses two bits of memory per page. Problems are reported, not thrown.
    /// For a directory that is not open, or cannot be opened, see <see cref="StorageCheck"/>.
    /// </summary>
    /// <param name="progress">Receives the progress every few hundred pages, on this thread; or null.</param>
    /// <param name="cancellationToken">Cancels the check between two pages.</param>
    /// <exception cref="OperationCanceledException">The check was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The environment was closed before or during the check.</exception>
    public CheckReport Check(IProgress<CheckProgress>? progress, CancellationToken cancellationToken = default) =>
        RunLong(token => new EnvironmentCheck(this, _commits, _world.Files).Run(progress, token), cancellationToken);

    /// <summary>
    /// Rejects new operations, waits for those that have started, writes a last checkpoint, deletes unneeded journal files and
    /// releases memory and the lock. Before that, it shrinks a data file of up to 512 MiB of which a quarter, and at least 32
    /// MiB, are free, as <see cref="Shrink"/> does. Long operations (shrinking, checks, changes of keys) end at their next step
    /// with an <see cref="ObjectDisposedException"/>. Open read transactions remain usable: memory and lock are released with the
    /// last of them, when nothing else remains to be done. A second call returns immediately.
    /// </summary>
    /// <exception cref="InvalidOperationException">It was called by a command or a long operation of this environment, for which
    /// it would wait. Nothing was done.</exception>
    public void Dispose()
    {
        if (Volatile.Read(ref _disposed) != 0)
            return;
        if (_commits.IsInCommand || _lifetime.IsInLongOperation())
            throw new InvalidOperationException(
                $"'{_world.Files.Path}' cannot be closed by a command or operation of its own, since closing waits for that. "
                    + $"Close it when that has returned.");
        if (_writer.HasCommitted && Interlocked.Exchange(ref _shrinksToClose, 1) == 0)
            ClosingShrink.TryRun(_commits, _state, _options, () => Shrink());
        if (Interlocked.Exchange(ref _disposed, 1) != 0)
            return;

        // A reader that ends stores its slot and then reads the flag above, without a barrier, which would cost every read.
        // So the barrier is executed here, for all threads.
        Interlocked.MemoryBarrierProcessWide();
        _lifetime.BeginClose();
        _checkpoints.Stop();
        _background.Stop();
        _lifetime.Drain();
        try
        {
            CloseFiles();
        }
        finally
        {
            _lifetime.Seal();
            FreeIfUnused();
        }
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => new(_world.Scheduler.RunAsync(Dispose));

    /// <summary>Opens an environment in the given world.</summary>
    internal static StorageEnvironment Open(World world, StorageOptions options) => EnvironmentOpening.Open(world, options);

    /// <summary>Begins a read without allocating an object. <see cref="ExitRead"/> must follow.</summary>
    internal Snapshot EnterRead(string? name, out ReaderTable.Slot slot)
    {
        Snapshot snapshot = _state.Current;
        slot = _state.Readers.Claim(snapshot.TransactionId, name);
        while (_state.Current is var newer && !ReferenceEquals(newer, snapshot))
        {
            snapshot = newer;
            slot.Change(snapshot.TransactionId);
        }

        ThrowIfClosed(slot);
        return snapshot;
    }

    ReadTransaction ITransactionSource.BeginSame(Snapshot snapshot) =>
        Begin(snapshot, _state.Readers.Claim(snapshot.TransactionId, null));

    void ITransactionSource.ExitRead(ReaderTable.Slot slot) => ExitRead(slot);

    /// <summary>Ends a read of <see cref="EnterRead"/>.</summary>
    internal void ExitRead(ReaderTable.Slot slot)
    {
        slot.Free();
        if (Volatile.Read(ref _disposed) != 0)
            FreeIfUnused();
    }

    /// <summary>
    /// Runs a long operation, which is cancelled when closing begins; the environment stays open until it ends.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The environment was closed before or meanwhile.</exception>
    internal TResult RunLong<TResult>(Func<CancellationToken, TResult> operation, CancellationToken cancellationToken)
    {
        using Lifetime.Lease lease = _lifetime.EnterLong();
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _lifetime.Closing);
        try
        {
            return operation(ending.Token);
        }
        catch (OperationCanceledException) when (ending.IsCancellationRequested)
        {
            cancellationToken.ThrowIfCancellationRequested();
            throw Lifetime.ClosedError();
        }
    }

    /// <summary>
    /// Deletes journal files that recovery does not need, durably, even if they contain log that is not archived yet. Syncs
    /// the directory even if there is nothing to delete: the sync after an earlier deletion may have failed.
    /// </summary>
    internal void DropSupersededJournal()
    {
        if (_journal is null)
            return;

        _commits.RunExclusive(() => _journalFiles.DropBefore(_journal.OldestNeededUse));
        _world.Files.SyncDirectory();
    }

    /// <summary>Makes the last changes to files. Runs on the only thread that still has a lease.</summary>
    private void CloseFiles()
    {
        bool wasWritten = !_options.ReadOnly && (_writer.HasCommitted || _checkpoints.HasMarked) && _state.Failure is null;
        if (wasWritten)
            _checkpoints.TryRunLast();
        if (_journal is not null
            && wasWritten
            && _state.Durable is { IsClean: true } last
            && last.LastTransaction == _state.Current.TransactionId)
            _journalFiles.GiveBack(_options.FirstJournalFileBytes);
    }

    /// <summary>
    /// Releases memory and lock, after the last user: the closing itself or a read that ends later. Changes no file, and
    /// releases the lock last, so that the next process to open the directory has it for itself.
    /// </summary>
    private void FreeIfUnused()
    {
        Interlocked.MemoryBarrier(); // either this sees that closing is done, or the closing sees the freed slot
        if (!_lifetime.IsClosed)
            return;

        var open = new List<long>();
        _state.Readers.CollectSnapshots(open);
        if (open.Count > 0 || Interlocked.Exchange(ref _freed, 1) != 0)
            return;

        try
        {
            _checkpoints.Dispose();
            _state.Store.Dispose();
            _journal?.Dispose();
            Cipher?.Dispose();
            _journalFiles.Dispose();
            _lifetime.Dispose();
        }
        finally
        {
            _fileLock.Dispose();
        }
    }

    [SuppressMessage("Reliability", "CA2000", Justification = "The caller disposes it.")]
    private ReadTransaction Begin(Snapshot snapshot, ReaderTable.Slot slot)
    {
        ThrowIfClosed(slot);
        return new ReadTransaction(this, _state.Store, snapshot, slot);
    }

    /// <summary>If the environment was closed, releases the slot of a read and throws.</summary>
    private void ThrowIfClosed(ReaderTable.Slot slot)
    {
        if (Volatile.Read(ref _disposed) == 0)
            return;

        ExitRead(slot);
        throw Lifetime.ClosedError();
    }

    internal void ThrowIfNotWritable()
    {
        ObjectDisposedException.ThrowIf(Volatile.Read(ref _disposed) != 0, this);
        if (_options.ReadOnly)
            throw new InvalidOperationException($"'{_world.Files.Path}' was opened read-only.");
    }
}
