using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Encryption;

namespace Treepie.Server.Databases;

/// <summary>
/// Lets requests into databases, and keeps a database open as long as one is inside: a delete first closes the door, cancels
/// those inside and waits for the last to leave. A database that nobody has used for a while is closed, if that is wanted, and
/// opens again for the next one who enters; and where there is no room to open one more, the one that was not used for longest
/// is closed for it. Thread-safe.
/// </summary>
internal sealed class DatabaseGate(IDatabaseSource source, TimeProvider clock, ILogger logger)
{
    private readonly ConcurrentDictionary<string, Door> _doors = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>Databases that are known to be disabled, so that they are not opened to be asked.</summary>
    private readonly ConcurrentDictionary<string, bool> _disabled = new(StringComparer.OrdinalIgnoreCase);

    public IReadOnlyList<string> Names => source.Names;

    /// <summary>The databases for who backs them up, without the gate.</summary>
    public IBackupSource Backups => source.Backups;

    /// <summary>What the databases share; null: there is only one.</summary>
    public SharedDefinitions? Shared => source.Shared;

    /// <summary>
    /// Whether there is no room for one more open database. Null where none is closed for another, because the program around
    /// the API may use databases without entering.
    /// </summary>
    public Func<bool>? LacksRoom { get; set; }

    /// <summary>Whether there is a database of that name; it is not opened for it.</summary>
    public bool Exists(string name) => source.Describe(name).Count > 0;

    /// <summary>Enters, or says that there is no such database.</summary>
    /// <exception cref="WireException">There is none, or it is just being deleted.</exception>
    public DatabaseLease Enter(string name) => TryEnter(name) ?? throw WireException.DatabaseDoesNotExist(name);

    /// <summary>Enters; null if there is no such database, or it is just being deleted.</summary>
    public DatabaseLease? TryEnter(string name) => TryEnter(name, isUse: true);

    /// <summary>
    /// Enters a database that is open, to look at it, which does not count as use of it; null if it is not open.
    /// </summary>
    public DatabaseLease? TryLook(string name) =>
        source.Describe(name) is [{ IsOpen: true }] ? TryEnter(name, isUse: false) : null;

    /// <summary>
    /// Enters for work that the server does by itself: the database stays open until it is done, and no longer.
    /// </summary>
    /// <exception cref="WireException">There is none, or it is just being deleted.</exception>
    public DatabaseLease EnterByItself(string name) =>
        TryEnter(name, isUse: false) ?? throw WireException.DatabaseDoesNotExist(name);

    /// <summary>Whether a database is disabled, as far as that is known without opening it.</summary>
    public bool IsDisabled(string name) => _disabled.ContainsKey(name);

    /// <summary>It was set whether a database is enabled: one that is not is closed when nobody is inside.</summary>
    public void StateChanged(string name)
    {
        _disabled.TryRemove(name, out _);
        using DatabaseLease? lease = TryEnter(name, isUse: false);
        if (lease is null || !DatabaseState.Of(lease.Database).IsDisabled)
            return;
        _disabled[name] = true;
        lease.Dispose();
        if (_doors.TryGetValue(name, out Door? door))
            door.CloseIdle(clock, TimeSpan.Zero, () => Close(name));
    }

    private DatabaseLease? TryEnter(string name, bool isUse)
    {
        if (isUse && _disabled.ContainsKey(name))
            throw WireException.DatabaseDisabled(name);
        Door door;
        do
        {
            door = _doors.GetOrAdd(name, static _ => new Door());
            if (door.TryEnter())
                break;

            if (door.IsDeleting)
                return null;
        }
        while (true);

        Database? database = null;
        try
        {
            if (!door.WasOpened)
                MakeRoom();
            database = source.Find(name);
            door.WasOpened = database is not null;
            if (database is null)
                return null;
            if (isUse && DatabaseState.Of(database).IsDisabled)
            {
                _disabled[name] = true;
                database = null; // who was let in leaves
                throw WireException.DatabaseDisabled(name);
            }

            return new DatabaseLease(door, database, isUse ? clock : null);
        }
        finally
        {
            if (database is null)
            {
                door.Leave(null);
                Forget(name, door);
            }
        }
    }

    /// <summary>All databases, or the one of a name, as far as is known without opening them.</summary>
    public IReadOnlyList<DatabaseDescription> Describe(string? name = null) => source.Describe(name);

    /// <summary>Creates a database.</summary>
    public void Create(string name, bool encrypted)
    {
        MakeRoom();
        source.Create(name, encrypted);
        using DatabaseLease? _ = TryEnter(name); // from now on it is idle
    }

    /// <summary>Closes the databases that nobody has been inside for as long, and that have no work of their own.</summary>
    public void CloseIdle(TimeSpan idle)
    {
        foreach ((string name, Door door) in _doors)
            door.CloseIdle(clock, idle, () => Close(name));
    }

    /// <summary>Takes the key of a database.</summary>
    public void GiveKey(string name, ReadOnlySpan<byte> key, bool keep, bool overwrite) =>
        source.GiveKey(name, key, keep, overwrite);

    /// <summary>Gives a database another key.</summary>
    public void ChangeKey(string name, ReadOnlySpan<byte> key) => source.ChangeKey(name, key);

    /// <summary>
    /// Sends everybody out, then deletes; false if there is no such database. The wait cannot be given up half way, and ends
    /// because everybody inside is cancelled.
    /// </summary>
    public async Task<bool> DeleteAsync(string name, bool deleteFiles)
    {
        Door door;
        do
        {
            door = _doors.GetOrAdd(name, static _ => new Door());
            if (door.IsDeleting)
                throw new ConcurrencyException($"Database '{name}' is being deleted by another request.");
        }
        while (!door.Close());

        try
        {
            await door.Empty.ConfigureAwait(false);
            _disabled.TryRemove(name, out _);
            return source.Delete(name, deleteFiles);
        }
        finally
        {
            // Who comes now finds a new, open door, and behind it the database, or none.
            _doors.TryRemove(KeyValuePair.Create(name, door));
        }
    }

    /// <summary>Encrypts a database anew; whoever calls is inside.</summary>
    public EncryptionReport RotateDataKey(
        string name, IProgress<EncryptionProgress> progress, CancellationToken cancellationToken) =>
        source.RotateDataKey(name, progress, cancellationToken);

    /// <summary>Writes a backup; whoever calls is inside.</summary>
    public Task<BackupReport> BackupAsync(
        Database database, Stream destination, BackupOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken) =>
        source.BackupAsync(database, destination, options, progress, cancellationToken);

    /// <summary>Brings a dump into a database; whoever calls is inside.</summary>
    public Task<BackupReport> ImportAsync(
        Database database, Stream dump, ImportOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken) =>
        source.ImportAsync(database, dump, options, progress, cancellationToken);

    /// <summary>Restores a backup to a new database.</summary>
    public Task<BackupReport> RestoreAsync(
        string name, Stream backup, bool encrypted, RestoreOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken) =>
        source.RestoreAsync(name, backup, encrypted, options, progress, cancellationToken);

    /// <summary>Restores a full backup and what goes on from it to a new database.</summary>
    public Task<BackupReport> RestoreAsync(
        string name, IReadOnlyList<BackupPart> parts, bool encrypted, RestoreOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken) =>
        source.RestoreAsync(name, parts, encrypted, options, progress, cancellationToken);

    private void MakeRoom()
    {
        if (LacksRoom is not { } lacksRoom || !lacksRoom())
            return;
        foreach ((string name, Door door) in _doors.OrderBy(static entry => entry.Value.LastUse))
            if (door.CloseIdle(clock, TimeSpan.Zero, () => Close(name)) && !lacksRoom())
                return;
    }

    private bool Close(string name)
    {
        try
        {
            return source.Close(name);
        }
        catch (Exception exception) when (exception is TreepieException or IOException)
        {
            logger.LogWarning(exception, "Database {Database} was idle, and its last checkpoint failed", name);
            return true; // it is closed, and its journal has what the checkpoint would have written
        }
    }

    // Names of databases that never were must not fill the memory.
    private void Forget(string name, Door door)
    {
        if (door.CloseIfEmpty())
            _doors.TryRemove(KeyValuePair.Create(name, door));
    }

    /// <summary>Counts who is inside one database.</summary>
    [SuppressMessage(
        "Design", "CA1001", Justification = "The source has neither timer nor links, so there is nothing to dispose.")]
    internal sealed class Door
    {
        private readonly Lock _sync = new();
        private readonly CancellationTokenSource _closing = new();
        private readonly TaskCompletionSource _empty = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private int _inside;
        private long _lastUse;
        private bool _wasOpened;
        private State _state;

        /// <summary>Open; then either closed for a deletion, or dropped from the table because nobody was inside.</summary>
        private enum State
        {
            Open,
            Deleting,
            Forgotten,
        }

        public bool IsDeleting
        {
            get
            {
                lock (_sync)
                    return _state == State.Deleting;
            }
        }

        /// <summary>Whether the database was opened by who entered here, and not closed since.</summary>
        public bool WasOpened
        {
            get => Volatile.Read(ref _wasOpened);
            set => Volatile.Write(ref _wasOpened, value);
        }

        /// <summary>Cancelled when the door closes.</summary>
        public CancellationToken Closing => _closing.Token;

        /// <summary>Completes when the door is closed and the last has left.</summary>
        public Task Empty => _empty.Task;

        /// <summary>When somebody left who had used it, as a timestamp of the clock.</summary>
        public long LastUse => Volatile.Read(ref _lastUse);

        public bool TryEnter()
        {
            lock (_sync)
            {
                if (_state != State.Open)
                    return false;

                _inside++;
                return true;
            }
        }

        /// <summary>Leaves; <paramref name="usedAt"/> is null for who has not used the database.</summary>
        public void Leave(long? usedAt)
        {
            lock (_sync)
            {
                _inside--;
                if (usedAt is { } now)
                    Volatile.Write(ref _lastUse, now);
                if (_state == State.Deleting && _inside == 0)
                    _empty.TrySetResult();
            }
        }

        /// <summary>Closes for a deletion; false if it was not open.</summary>
        public bool Close()
        {
            lock (_sync)
            {
                if (_state != State.Open)
                    return false;

                _state = State.Deleting;
                if (_inside == 0)
                    _empty.TrySetResult();
            }

            _closing.Cancel();
            return true;
        }

        /// <summary>
        /// Closes the database behind the door if nobody has used it for as long; who comes meanwhile waits at the door.
        /// </summary>
        public bool CloseIdle(TimeProvider clock, TimeSpan idle, Func<bool> close)
        {
            lock (_sync)
            {
                if (_state != State.Open || _inside > 0 || clock.GetElapsedTime(_lastUse) < idle || !close())
                    return false;
                WasOpened = false;
                return true;
            }
        }

        public bool CloseIfEmpty()
        {
            lock (_sync)
            {
                if (_state != State.Open || _inside > 0)
                    return false;

                _state = State.Forgotten;
                return true;
            }
        }
    }
}
