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
/// The front door of the store: named B+trees of bytes in one directory, with snapshot reads that never block
/// and durable, atomic writes. Thread-safe; one process at a time may have a directory open.
/// </summary>
/// <remarks>
/// It promises: what was acknowledged survives any crash; a snapshot never changes; readers never wait. It costs: one journal
/// write and one sync for each merged batch of writes, one load for each page read, address space (not memory) for the data file,
/// and memory for pages that no checkpoint has written yet.
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
                    // a spare that is not made is made when it is needed
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

    /// <summary>A number drawn when the directory was first created; it never changes.</summary>
    public Guid StoreId { get; }

    /// <summary>Whether what it writes is encrypted.</summary>
    public bool IsEncrypted => Cipher is not null;

    /// <summary>What it is encrypted with, or null.</summary>
    internal StoreCipher? Cipher { get; }

    /// <summary>Lets one change keys at a time.</summary>
    internal Gate RotationGate { get; }

    /// <summary>Who gives decrypted pages back, or null.</summary>
    internal DecryptedSweeper? Sweeper { get; }

    /// <summary>What it takes from outside itself.</summary>
    internal World World => _world;

    /// <summary>The files of its journal.</summary>
    internal JournalFiles JournalFiles => _journalFiles;

    /// <summary>Its journal; null where it has none, or is read-only.</summary>
    internal JournalWriter? Journal => _journal;

    /// <summary>Whether it was opened without the right to write.</summary>
    internal bool IsReadOnly => _options.ReadOnly;

    /// <summary>What closing waits for.</summary>
    internal Lifetime Lifetime => _lifetime;

    /// <summary>Checkpoints.</summary>
    internal CheckpointRunner Checkpoints => _checkpoints;

    /// <summary>The queue that writers go through.</summary>
    internal CommitQueue Commits => _commits;

    /// <summary>The state behind the door.</summary>
    internal EnvironmentState State => _state;

    EnvironmentState ITransactionSource.State => _state;

    /// <summary>Opens the directory, creating it if absent, and recovers what was acknowledged.</summary>
    /// <exception cref="EnvironmentLockedException">It is open already, here or in another process.</exception>
    /// <exception cref="ForeignDataException">It holds something else, or a newer format. Nothing was written.</exception>
    /// <exception cref="CorruptionException">What is there is damaged. Nothing was written.</exception>
    /// <exception cref="EncryptionKeyException">It is encrypted and the key is missing or wrong, or it is not and a key was
    /// given. Nothing was written.</exception>
    /// <exception cref="DiskFullException">There is no room to create it.</exception>
    /// <exception cref="StorageException">It cannot be written to (open it <see cref="StorageOptions.ReadOnly"/>), or is absent
    /// and may not be created.</exception>
    public static StorageEnvironment Open(string directory, StorageOptions? options = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        options ??= new StorageOptions();
        World world = World.OfDisk(directory, options.AllowMissingLocks);
        return Open(options.IsBackgroundQuiet ? world with { Scheduler = new QuietScheduler() } : world, options);
    }

    /// <summary>Begins a read of the last published commit. Never waits; must be disposed by the caller, on any thread.</summary>
    /// <param name="name">What statistics call it, for a read that may take long; null for none.</param>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public ReadTransaction BeginRead(string? name = null)
    {
        Snapshot snapshot = EnterRead(name, out ReaderTable.Slot slot);
        return new ReadTransaction(this, _state.Store, snapshot, slot);
    }

    /// <summary>
    /// Begins a read of the last published commit that lives on the stack and allocates nothing. Never waits; must be disposed by
    /// the caller.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public ReadScope Read()
    {
        Snapshot snapshot = EnterRead(null, out ReaderTable.Slot slot);
        return new ReadScope(this, snapshot, slot);
    }

    /// <summary>
    /// Begins a read of a named snapshot. Never waits; must be disposed by the caller. Dropping the snapshot meanwhile does not
    /// disturb it.
    /// </summary>
    /// <exception cref="SnapshotNotFoundException">There is none of that name.</exception>
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

            // Who drops it publishes that first and looks at the slots afterwards.
            if (_state.Current.Named.Find(name) == named)
                return Begin(
                    new Snapshot(named.TransactionId, named.Record.Catalogue, named.Record.NextTreeId, _state.Current.PageCount),
                    slot);

            ExitRead(slot);
        }
    }

    /// <summary>The named snapshots there are, oldest first.</summary>
    public IReadOnlyList<SnapshotInfo> ListSnapshots()
    {
        ObjectDisposedException.ThrowIf(Volatile.Read(ref _disposed) != 0, this);
        return [.. _state.Current.Named.All.Select(snapshot => snapshot.Describe())];
    }

    /// <summary>
    /// Keeps the last committed state under a name until it is dropped, through reopening and crashes. Costs one commit and no
    /// walk; durable as any write is when it returns. To keep a state together with changes, see
    /// <see cref="WriteTransaction.CreateSnapshot"/>.
    /// </summary>
    /// <param name="name">1 to 512 bytes of UTF-8 without control characters.</param>
    /// <param name="cancellationToken">Cancels the wait for its turn; nothing was done then.</param>
    /// <exception cref="SnapshotExistsException">There is one of that name.</exception>
    /// <exception cref="StorageException">There are as many as there may be (4,096), or as
    /// <see cref="Write{TResult}"/>.</exception>
    public SnapshotInfo CreateSnapshot(string name, CancellationToken cancellationToken = default)
    {
        NamedSnapshots.CheckName(name);
        return Write(transaction => transaction.CreateSnapshot(name), cancellationToken);
    }

    /// <summary>
    /// Drops a named snapshot and gives free what only it kept; false if there is none. Reads of it that are open go on, and what
    /// they see is kept until they end. It takes time with the pages that changed since the snapshot, in short steps between
    /// which others write.
    /// </summary>
    /// <param name="name">Its name.</param>
    /// <param name="cancellationToken">Ends the work on its pages, which later commits go on with; the snapshot may be dropped by
    /// then.</param>
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
    /// Begins a session: reads on a snapshot, writes kept to itself, and a commit that succeeds only if nothing it read has been
    /// changed. Never waits; must be disposed by the caller, on any thread.
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
    /// Runs <paramref name="command"/> in the current merged batch and returns when that batch is durable.
    /// A command that throws is undone alone and its exception rethrown here. Commands of one batch run one after the other;
    /// the command must not block, must not touch the transaction after it returns, and may be run again from its start.
    /// </summary>
    /// <exception cref="OperationCanceledException">Cancelled before it began; nothing was changed.</exception>
    /// <exception cref="DiskFullException">No room; nothing was changed, and the environment goes on.</exception>
    /// <exception cref="CommitOutcomeUnknownException">The journal failed; see there.</exception>
    /// <exception cref="WritingStoppedException">Writing stopped after an error; nothing was changed.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed; nothing was changed.</exception>
    /// <exception cref="InvalidOperationException">The environment was opened read-only.</exception>
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

    /// <summary>As <see cref="Write{TResult}"/>, without blocking the caller while others' batches are being synced.</summary>
    public ValueTask<TResult> WriteAsync<TResult>(
        Func<WriteTransaction, TResult> command, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(command);
        ThrowIfNotWritable();
        using Lifetime.Lease lease = _lifetime.Enter(); // this thread may go on for others when its own command is done
        _checkpoints.ThrowIfAtBound(_world.Files.Path);
        cancellationToken.ThrowIfCancellationRequested();
        var request = new WriteRequest<TResult>(isAsync: true);
        request.Begin(command);
        request.Accompany(_lifetime, cancellationToken);
        _commits.SubmitAsync(request);
        return new ValueTask<TResult>(request.Task);
    }

    /// <summary>
    /// Writes all scratch pages to the data file and releases the journal before them. Returns when that is durable.
    /// </summary>
    /// <exception cref="OperationCanceledException">Cancelled; nothing is lost, the journal stays.</exception>
    public void Checkpoint(CancellationToken cancellationToken = default)
    {
        ThrowIfNotWritable();
        using Lifetime.Lease lease = _lifetime.Enter();
        _checkpoints.Run(cancellationToken);
    }

    /// <summary>
    /// Makes the data file shorter and gives the room back to the system, while reads and writes go on: pages at its end are
    /// written again nearer to the front, in short commits between which others write; what is free at the end is cut off. It
    /// reads every page of every tree. What open reads and named snapshots keep stays where it is, and the report says so. May be
    /// called again, and cancelled or killed at any time.
    /// </summary>
    /// <param name="progress">Told after each step, on the calling thread.</param>
    /// <param name="cancellationToken">Ends it between two steps; what was moved stays moved.</param>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The environment was closed before or meanwhile; what was moved stays
    /// moved.</exception>
    /// <exception cref="StorageException">As <see cref="Write{TResult}"/> and <see cref="Checkpoint"/>.</exception>
    public ShrinkReport Shrink(IProgress<ShrinkProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        ThrowIfNotWritable();
        return RunLong(token => new Shrinker(this, _checkpoints, progress, token).Run(), cancellationToken);
    }

    /// <summary>Figures of now: sizes, transactions, readers, snapshots, checkpoints.</summary>
    public StorageStatistics GetStatistics()
    {
        using Lifetime.Lease lease = _lifetime.Enter();
        return StatisticsReader.Read(_state, _journalFiles, _journal, _checkpoints, _world.Files.Describe(_fileLock));
    }

    /// <summary>As <see cref="Check(IProgress{CheckProgress}, CancellationToken)"/>, with nobody watching.</summary>
    public CheckReport Check(CancellationToken cancellationToken = default) => Check(null, cancellationToken);

    /// <summary>
    /// Walks everything there is now: each page reachable or free and not both, checksums, births, key order and separators,
    /// counts, named snapshots, the chain of the journal. Reads and writes go on meanwhile; the pages of what is walked are held
    /// until it ends. Memory: two bits for each page. Faults are in the report, not thrown. For a directory that is not open, or
    /// cannot be opened, see <see cref="StorageCheck"/>.
    /// </summary>
    /// <param name="progress">Told every few hundred pages, on this thread, or null.</param>
    /// <param name="cancellationToken">Ends it between two pages.</param>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The environment was closed before or meanwhile.</exception>
    public CheckReport Check(IProgress<CheckProgress>? progress, CancellationToken cancellationToken = default) =>
        RunLong(token => new EnvironmentCheck(this, _commits, _world.Files).Run(progress, token), cancellationToken);

    /// <summary>
    /// Refuses new operations, waits for those that were begun, writes a last checkpoint, deletes journal files that nothing
    /// needs and gives memory and lock back. Before that, a data file of up to 512 MiB of which a quarter and 32 MiB are free is
    /// made shorter, as by <see cref="Shrink"/>. What takes long (shrinking, checks, changes of keys) ends at its next step with
    /// an <see cref="ObjectDisposedException"/>. Read transactions that are still open stay usable: memory and lock go with the
    /// last of them, when nothing else is left to be done. A second call returns at once.
    /// </summary>
    /// <exception cref="InvalidOperationException">It is called by a command or a long operation of this environment, for which
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

        // A reader that ends stores its slot and then looks at the flag above, without a barrier, which would cost every read: so
        // the barrier is made here, for all threads.
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

    /// <summary>Opens on a given world.</summary>
    internal static StorageEnvironment Open(World world, StorageOptions options) => EnvironmentOpening.Open(world, options);

    /// <summary>Begins a read without an object for it; <see cref="ExitRead"/> must follow.</summary>
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

    /// <summary>Ends a read that <see cref="EnterRead"/> began.</summary>
    internal void ExitRead(ReaderTable.Slot slot)
    {
        slot.Free();
        if (Volatile.Read(ref _disposed) != 0)
            FreeIfUnused();
    }

    /// <summary>Runs something that takes long: it is told when closing begins, and has the environment until it ends.</summary>
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
    /// Deletes journal files that no recovery needs, and makes that durable; what of the log waits in them is given up. The
    /// directory is synced even where none is left to delete: the sync after an earlier deletion may have failed.
    /// </summary>
    internal void DropSupersededJournal()
    {
        if (_journal is null)
            return;

        _commits.RunExclusive(() => _journalFiles.DropBefore(_journal.OldestNeededUse));
        _world.Files.SyncDirectory();
    }

    /// <summary>The last changes of files, by the one thread that has a lease.</summary>
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
    /// The one place where memory and lock are given back: by whoever comes last, the closing itself or a read that ends after
    /// it. Nothing here changes a file, and the lock goes last: whoever opens the directory next has it for itself.
    /// </summary>
    private void FreeIfUnused()
    {
        Interlocked.MemoryBarrier(); // the slot of a read that has ended is seen by a closing that is looked for here in vain
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

    /// <summary>Gives the slot of a read back that came after closing.</summary>
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
