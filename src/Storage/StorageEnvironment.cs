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
/// It promises: what was acknowledged survives any crash; a snapshot never changes; readers never wait. It costs: one journal write and
/// one sync for each merged batch of writes, one load for each page read, address space (not memory) for the data file,
/// and memory for pages that no checkpoint has written yet.
/// </remarks>
public sealed class StorageEnvironment : IDisposable, IAsyncDisposable
{
    private readonly World _world;
    private readonly StorageOptions _options;
    private readonly IDisposable _fileLock;
    private readonly JournalFiles _journalFiles;
    private readonly JournalWriter? _journal;
    private readonly EnvironmentState _state;
    private readonly Writer _writer;
    private readonly CommitLane _lane;
    private readonly Background _background;
    private readonly CheckpointRunner _checkpoints;
    private readonly ConcurrentDictionary<Type, object> _requests = new();
    private int _disposed;
    private int _freed;

    private StorageEnvironment(World world, StorageOptions options, IDisposable fileLock, IFile data, MetaPage meta, StoreCipher? cipher)
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
            var bitmaps = new BitmapSource(store, meta);
            var space = new FreePages(meta.PageCount, meta.LivePages, bitmaps.Load);
            IReadOnlyList<JournalFile> journalFiles = _journalFiles.OpenAll(meta.StoreId, !options.ReadOnly);
            var reader = new JournalReader(world.Files, journalFiles, cipher);
            Snapshot current = new Recovery(store, space, meta).Run(reader, out JournalPosition end);
            _state = new EnvironmentState(store, space, meta, current, world.Ages) { Clock = world.Clock, HashSeed = world.Draw(), Bitmaps = bitmaps };
            RotationGate = new Gate(world.Scheduler);
            _background = new Background(world.Scheduler, world.IsBackgroundAllowed);
            if (options is { ReadOnly: false, Durability: Durability.Durable })
            {
                Action<Action> background = world.IsBackgroundAllowed ? _background.Run : static work => work();
                _journal = new JournalWriter(_journalFiles, end, reader.Tail, meta.Journal.Use, new JournalSettings
                {
                    StoreId = StoreId,
                    Sizes = new JournalSizes(options.FirstJournalFileBytes, options.MaxJournalFileBytes, GrowthFactor: 4),
                    DrawSalt = world.Draw,
                    Cipher = cipher,
                    Background = background,
                    MakeDataDurable = () => DataFile.MakeDurable(world.Files, data, meta),
                    Clock = world.Clock,
                    ProbeClock = world.IsBackgroundAllowed ? world.Clock : null,
                });
            }
            _writer = new Writer(_state, _journal);
            var duties = new LaneDuties(_state, _writer);
            _lane = new CommitLane(_writer, duties, world.Scheduler, isInline: !world.IsBackgroundAllowed);
            _checkpoints = new CheckpointRunner(_state, new Checkpointer(_state, world.Files, data, _journal, end, cipher), _lane, _background, options, _journal, world.Clock);
            duties.Checkpoints = _checkpoints;
            Sweeper = store.Decrypted is { } decrypted ? new DecryptedSweeper(_state, decrypted, _lane, _background, options, world.Clock) : null;
        }
        catch
        {
            _journal?.Dispose();
            _journalFiles.Dispose();
            store?.Dispose();
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

    /// <summary>Checkpoints.</summary>
    internal CheckpointRunner Checkpoints => _checkpoints;

    /// <summary>For tests: the lane that writers go through.</summary>
    internal CommitLane Lane => _lane;

    /// <summary>The state behind the door.</summary>
    internal EnvironmentState State => _state;

    /// <summary>Opens the directory, creating it if absent, and recovers what was acknowledged.</summary>
    /// <exception cref="EnvironmentLockedException">It is open already, here or in another process.</exception>
    /// <exception cref="ForeignDataException">It holds something else, or a newer format. Nothing was written.</exception>
    /// <exception cref="CorruptionException">What is there is damaged. Nothing was written.</exception>
    /// <exception cref="EncryptionKeyException">It is encrypted and the key is missing or wrong, or it is not and a key was given. Nothing was written.</exception>
    /// <exception cref="DiskFullException">There is no room to create it.</exception>
    /// <exception cref="StorageException">It cannot be written to (open it <see cref="StorageOptions.ReadOnly"/>), or is absent and may not be created.</exception>
    public static StorageEnvironment Open(string directory, StorageOptions? options = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        options ??= new StorageOptions();
        World world = World.OfDisk(directory);
        return Open(options.IsBackgroundQuiet ? world with { Scheduler = new QuietScheduler() } : world, options);
    }

    /// <summary>Creates a directory, with those above it, if absent. Their names survive a loss of power from then on.</summary>
    /// <exception cref="StorageException">The system refuses; the message says what and why.</exception>
    public static void CreateDirectory(string path)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        DurableDirectory.Create(Path.GetFullPath(path));
    }

    /// <summary>
    /// Makes names that were created, renamed or deleted in a directory durable, for those who keep environments in directories of
    /// their own: a renamed directory may otherwise have its old name again after a loss of power. One sync; nothing on Windows, where the file system sees to it.
    /// </summary>
    /// <exception cref="StorageException">The directory is not there or cannot be synced.</exception>
    public static void SyncDirectory(string path)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        DurableDirectory.Sync(Path.GetFullPath(path));
    }

    /// <summary>Begins a read of the last published commit. Never waits; must be disposed by the caller, on any thread.</summary>
    /// <param name="name">What statistics call it, for a read that may take long; null for none.</param>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public ReadTransaction BeginRead(string? name = null)
    {
        Snapshot snapshot = EnterRead(name, out ReaderTable.Slot slot);
        return new ReadTransaction(this, _state.Store, snapshot, slot);
    }

    /// <summary>Begins a read of the last published commit that lives on the stack and allocates nothing. Never waits; must be disposed by the caller.</summary>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public ReadScope Read()
    {
        Snapshot snapshot = EnterRead(null, out ReaderTable.Slot slot);
        return new ReadScope(this, snapshot, slot);
    }

    /// <summary>Begins a read of a named snapshot. Never waits; must be disposed by the caller. Dropping the snapshot meanwhile does not disturb it.</summary>
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
                return Begin(new Snapshot(named.TransactionId, named.Record.Catalogue, named.Record.NextTreeId, _state.Current.PageCount), slot);

            slot.Free();
            OnReaderClosed();
        }
    }

    /// <summary>The named snapshots there are, oldest first.</summary>
    public IReadOnlyList<SnapshotInfo> ListSnapshots()
    {
        ObjectDisposedException.ThrowIf(Volatile.Read(ref _disposed) != 0, this);
        return [.. _state.Current.Named.All.Select(snapshot => snapshot.Describe())];
    }

    /// <summary>
    /// Keeps the last committed state under a name until it is dropped, through reopening and crashes. Costs one commit and no walk;
    /// durable as any write is when it returns. To keep a state together with changes, see <see cref="WriteTransaction.CreateSnapshot"/>.
    /// </summary>
    /// <param name="name">1 to 512 bytes of UTF-8 without control characters.</param>
    /// <param name="cancellationToken">Cancels the wait for its turn; nothing was done then.</param>
    /// <exception cref="SnapshotExistsException">There is one of that name.</exception>
    /// <exception cref="StorageException">There are as many as there may be (4,096), or as <see cref="Write{TResult}"/>.</exception>
    public SnapshotInfo CreateSnapshot(string name, CancellationToken cancellationToken = default)
    {
        NamedSnapshots.CheckName(name);
        return Write(transaction => transaction.CreateSnapshot(name), cancellationToken);
    }

    /// <summary>
    /// Drops a named snapshot and gives free what only it kept; false if there is none. Reads of it that are open go on, and what they see is
    /// kept until they end. It takes time with the pages that changed since the snapshot, in short steps between which others write.
    /// </summary>
    /// <param name="name">Its name.</param>
    /// <param name="cancellationToken">Ends the work on its pages, which later commits go on with; the snapshot may be dropped by then.</param>
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
    /// Begins a session: reads on a snapshot, writes kept to itself, and a commit that succeeds only if nothing it read has been changed. Never waits;
    /// must be disposed by the caller, on any thread.
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
    /// <exception cref="InvalidOperationException">The environment was opened read-only.</exception>
    public TResult Write<TResult>(Func<WriteTransaction, TResult> command, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(command);
        ThrowIfNotWritable();
        _checkpoints.ThrowIfAtBound(_world.Files.Path);
        var pool = (RequestPool<TResult>)_requests.GetOrAdd(typeof(TResult), static _ => new RequestPool<TResult>());
        WriteRequest<TResult> request = pool.Rent(command);
        _lane.Submit(request, cancellationToken);
        TResult result = request.Result;
        pool.Return(request);
        return result;
    }

    /// <summary>As <see cref="Write{TResult}"/>, without blocking the caller while others' batches are being synced.</summary>
    public ValueTask<TResult> WriteAsync<TResult>(Func<WriteTransaction, TResult> command, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(command);
        ThrowIfNotWritable();
        _checkpoints.ThrowIfAtBound(_world.Files.Path);
        var request = new WriteRequest<TResult>(isAsync: true);
        request.Begin(command);
        _lane.SubmitAsync(request, cancellationToken);
        return new ValueTask<TResult>(request.Task);
    }

    /// <summary>Writes all scratch pages to the data file and releases the journal before them. Returns when that is durable.</summary>
    /// <exception cref="OperationCanceledException">Cancelled; nothing is lost, the journal stays.</exception>
    public void Checkpoint(CancellationToken cancellationToken = default)
    {
        ThrowIfNotWritable();
        _checkpoints.Run(isClean: false, cancellationToken);
    }

    /// <summary>
    /// Makes the data file shorter and gives the room back to the system, while reads and writes go on: pages at its end are written again nearer to
    /// the front, in short commits between which others write; what is free at the end is cut off. It reads every page of every tree.
    /// What open reads and named snapshots keep stays where it is, and the report says so. May be called again, and cancelled or killed at any time.
    /// </summary>
    /// <param name="progress">Told after each step, on the calling thread.</param>
    /// <param name="cancellationToken">Ends it between two steps; what was moved stays moved.</param>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
    /// <exception cref="StorageException">As <see cref="Write{TResult}"/> and <see cref="Checkpoint"/>.</exception>
    public ShrinkReport Shrink(IProgress<ShrinkProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        ThrowIfNotWritable();
        return new Shrinker(this, _checkpoints, progress, cancellationToken).Run();
    }

    /// <summary>Figures of now: sizes, transactions, readers, snapshots, checkpoints.</summary>
    public StorageStatistics GetStatistics()
    {
        ObjectDisposedException.ThrowIf(Volatile.Read(ref _disposed) != 0, this);
        return StatisticsReader.Read(_state, _journalFiles, _journal, _checkpoints);
    }

    /// <summary>As <see cref="Check(IProgress{CheckProgress}, CancellationToken)"/>, with nobody watching.</summary>
    public CheckReport Check(CancellationToken cancellationToken = default) => Check(null, cancellationToken);

    /// <summary>
    /// Walks everything there is now: each page reachable or free and not both, checksums, births, key order and separators, counts, named snapshots, the chain of the
    /// journal. Reads and writes go on meanwhile; the pages of what is walked are held until it ends. Memory: two bits for each page.
    /// Faults are in the report, not thrown. For a directory that is not open, or cannot be opened, see <see cref="StorageCheck"/>.
    /// </summary>
    /// <param name="progress">Told every few hundred pages, on this thread, or null.</param>
    /// <param name="cancellationToken">Ends it between two pages.</param>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
    public CheckReport Check(IProgress<CheckProgress>? progress, CancellationToken cancellationToken = default)
    {
        ObjectDisposedException.ThrowIf(Volatile.Read(ref _disposed) != 0, this);
        return new EnvironmentCheck(this, _lane, _world.Files).Run(progress, cancellationToken);
    }

    /// <summary>Waits for the command that runs, writes a last checkpoint and closes. Read transactions that are still open stay usable; memory and lock go with the last of them.</summary>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0)
            return;

        _checkpoints.Stop();
        Sweeper?.Dispose();
        bool wasWritten = !_options.ReadOnly && (_writer.HasCommitted || _checkpoints.HasMarked) && _state.Failure is null;
        if (wasWritten)
            _checkpoints.TryRunLast();
        if (!_options.ReadOnly)
            _lane.RunExclusive(() => _state.Failure ??= new ObjectDisposedException(nameof(StorageEnvironment)));

        _background.WaitForAll();
        if (_journal is not null && wasWritten && _state.Durable is { IsClean: true } last && last.LastTransaction == _state.Current.TransactionId)
            _journalFiles.GiveBack(_options.FirstJournalFileBytes);
        OnReaderClosed();
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync()
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _world.Scheduler.Queue(() =>
        {
            try
            {
                Dispose();
                done.SetResult();
            }
            catch (Exception error)
            {
                done.SetException(error);
            }
        });
        return new ValueTask(done.Task);
    }

    /// <summary>Opens on a given world.</summary>
    internal static StorageEnvironment Open(World world, StorageOptions options)
    {
        options.Validate();
        IFileSystem files = world.Files;
        if (!options.ReadOnly)
            files.CreateDirectory();

        bool bringsLock = !options.ReadOnly && !files.List().Contains(FormatLimits.LockFileName);
        if (bringsLock)
            DataFile.ThrowIfForeign(files);

        IDisposable fileLock = files.Lock(FormatLimits.LockFileName, options.ReadOnly);
        IFile? data = null;
        StoreCipher? cipher = null;
        StorageEnvironment? environment = null;
        try
        {
            IReadOnlyList<string> names = files.List();
            if (!names.Contains(FormatLimits.DataFileName))
            {
                if (options.ReadOnly)
                    throw new StorageException($"There is no store in '{files.Path}': '{FormatLimits.DataFileName}' is missing.");
                DataFile.ThrowIfMissing(files, names);
                DataFile.Create(world, options.EncryptionKey);
            }

            data = files.Open(FormatLimits.DataFileName, create: false, writable: !options.ReadOnly);
            MetaPage meta = DataFile.ReadMeta(files, data);
            data.Announce(meta.Catalogue.Root.Number * PageLayout.SizeBytes, PageLayout.SizeBytes); // every reader begins there: it comes while the rest is opened
            cipher = StoreCipher.Open(world, meta, options.EncryptionKey);
            environment = new StorageEnvironment(world, options, fileLock, data, meta, cipher);
            files.NameHolder(fileLock, world.Clock.GetUtcNow());
            return environment;
        }
        catch
        {
            environment?.Dispose();
            data?.Dispose();
            cipher?.Dispose();
            fileLock.Dispose();
            if (bringsLock && files.List().Contains(FormatLimits.LockFileName))
                files.Delete(FormatLimits.LockFileName);
            throw;
        }
    }

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

    /// <summary>Begins another read of a state that somebody else reads, and goes on reading until this returns: so none of its pages has gone.</summary>
    internal ReadTransaction BeginSame(Snapshot snapshot) => Begin(snapshot, _state.Readers.Claim(snapshot.TransactionId, null));

    /// <summary>Ends a read that <see cref="EnterRead"/> began.</summary>
    internal void ExitRead(ReaderTable.Slot slot)
    {
        slot.Free();
        OnReaderClosed();
    }

    /// <summary>Deletes journal files that no recovery needs; what of the log waits in them is given up.</summary>
    internal void DropSupersededJournal()
    {
        if (_journal is not null)
            _lane.RunExclusive(() => _journalFiles.DropBefore(_journal.OldestNeededUse));
    }

    /// <summary>After the environment is closed, the last reader takes the memory with it.</summary>
    internal void OnReaderClosed()
    {
        if (Volatile.Read(ref _disposed) == 0)
            return;

        var open = new List<long>();
        _state.Readers.CollectSnapshots(open);
        if (open.Count > 0 || !_background.IsIdle || Interlocked.Exchange(ref _freed, 1) != 0)
            return;

        _checkpoints.Dispose();
        _state.Store.Dispose();
        _journal?.Dispose();
        Cipher?.Dispose();
        _journalFiles.Dispose();
        _fileLock.Dispose();
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

        slot.Free();
        OnReaderClosed();
        throw new ObjectDisposedException(nameof(StorageEnvironment));
    }

    internal void ThrowIfNotWritable()
    {
        ObjectDisposedException.ThrowIf(Volatile.Read(ref _disposed) != 0, this);
        if (_options.ReadOnly)
            throw new InvalidOperationException($"'{_world.Files.Path}' was opened read-only.");
    }
}
