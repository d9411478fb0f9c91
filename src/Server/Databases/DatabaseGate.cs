using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;

namespace Treepie.Server.Databases;

/// <summary>
/// Admits requests to databases and keeps a database open while it is in use. A deletion stops admitting requests, cancels
/// running ones, and waits until the last has ended. Idle databases can be closed; the next request opens them again. If no
/// more databases can be open, the least recently used one is closed. Thread-safe.
/// </summary>
internal sealed class DatabaseGate(IDatabaseSource source, TimeProvider clock, ILogger logger)
{
    private readonly ConcurrentDictionary<string, Door> _doors = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>The databases known to be disabled, so that they need not be opened to find out.</summary>
    private readonly ConcurrentDictionary<string, bool> _disabled = new(StringComparer.OrdinalIgnoreCase);

    public IReadOnlyList<string> Names => source.Names;

    /// <summary>
    /// The databases without the gate, for what needs no open database, or one that the caller has entered.
    /// </summary>
    public IDatabaseSource Source => source;

    /// <summary>What the databases share; null: there is only one.</summary>
    public SharedDefinitions? Shared => source.Shared;

    /// <summary>
    /// Returns whether another database must be closed before one can be opened. Null: none is closed for this reason,
    /// because the surrounding application may use databases without the gate.
    /// </summary>
    public Func<bool>? LacksRoom { get; set; }

    /// <summary>Adds to a new database (<see cref="MakeAsync"/>) what every database of the server gets.</summary>
    public Func<string, Task>? Made { get; set; }

    /// <summary>Reads whether a database is disabled. Tests change it.</summary>
    public Func<Database, bool> ReadsDisabled { get; init; } = static database => DatabaseState.Of(database).IsDisabled;

    /// <summary>Returns whether a database exists, without opening it.</summary>
    public bool Exists(string name) => source.Describe(name).Count > 0;

    /// <summary>Enters a database.</summary>
    /// <exception cref="WireException">The database does not exist or is being deleted.</exception>
    public DatabaseLease Enter(string name) => TryEnter(name) ?? throw WireException.DatabaseDoesNotExist(name);

    /// <summary>Enters a database; returns null if it does not exist or is being deleted.</summary>
    public DatabaseLease? TryEnter(string name) => TryEnter(name, isUse: true);

    /// <summary>
    /// Enters an open database to examine it, which does not count as use; returns null if it is not open.
    /// </summary>
    public DatabaseLease? TryLook(string name) =>
        source.Describe(name) is [{ IsOpen: true }] ? TryEnter(name, isUse: false) : null;

    /// <summary>
    /// Enters a database for work of the server itself: it stays open during the work, which does not count as use.
    /// </summary>
    /// <exception cref="WireException">The database does not exist or is being deleted.</exception>
    public DatabaseLease EnterByItself(string name) =>
        TryEnter(name, isUse: false) ?? throw WireException.DatabaseDoesNotExist(name);

    /// <summary>Returns whether a database is known to be disabled, without opening it.</summary>
    public bool IsDisabled(string name) => _disabled.ContainsKey(name);

    /// <summary>Called when a database was enabled or disabled; a disabled one is closed if it is not in use.</summary>
    public void StateChanged(string name)
    {
        _disabled.TryRemove(name, out _);
        using DatabaseLease? lease = TryEnter(name, isUse: false);
        if (lease is null || !NoteDisabled(name, lease.Database))
            return;
        lease.Dispose();
        if (_doors.TryGetValue(name, out Door? door))
            door.CloseIdle(clock, TimeSpan.Zero, () => Close(name));
    }

    /// <summary>
    /// Returns whether a database is disabled, and notes it. What is read after the note is no older than the last
    /// <see cref="StateChanged"/>, so a note that is out of date never stays.
    /// </summary>
    private bool NoteDisabled(string name, Database database)
    {
        if (!ReadsDisabled(database))
            return false;
        _disabled[name] = true;
        if (ReadsDisabled(database))
            return true;
        _disabled.TryRemove(name, out _);
        return false;
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
            if (isUse && NoteDisabled(name, database))
            {
                database = null; // so that the finally block leaves the door
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

    /// <summary>Describes all databases, or one by name, without opening them.</summary>
    public IReadOnlyList<DatabaseDescription> Describe(string? name = null) => source.Describe(name);

    public void Create(string name, bool encrypted)
    {
        MakeRoom();
        source.Create(name, encrypted);
        using DatabaseLease? _ = TryEnter(name); // starts its idle time
    }

    /// <summary>Makes a database at a client's request, by creating or restoring it.</summary>
    public async Task<T> MakeAsync<T>(string name, Func<Task<T>> make)
    {
        T result = await make().ConfigureAwait(false);
        if (Made is { } made)
            await made(name).ConfigureAwait(false);
        return result;
    }

    /// <summary>Closes the databases that have been idle for the given time and have no work of their own.</summary>
    public void CloseIdle(TimeSpan idle)
    {
        foreach ((string name, Door door) in _doors)
            door.CloseIdle(clock, idle, () => Close(name));
    }

    /// <summary>
    /// Deletes a database after all its requests have ended; returns false if it does not exist. The wait cannot be
    /// cancelled; it ends because all requests are cancelled.
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
            // New requests create an open door, and find the database again if it was not deleted.
            _doors.TryRemove(KeyValuePair.Create(name, door));
        }
    }

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
            return true; // it is closed; its journal contains what the checkpoint would have written
        }
    }

    // Names of databases that do not exist must not accumulate in memory.
    private void Forget(string name, Door door)
    {
        if (door.CloseIfEmpty())
            _doors.TryRemove(KeyValuePair.Create(name, door));
    }

    /// <summary>Counts the holders of leases of one database.</summary>
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

        /// <summary>Open; then either closed for a deletion, or removed from the table because it was not in use.</summary>
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

        /// <summary>Whether the database was opened through this door and not closed since.</summary>
        public bool WasOpened
        {
            get => Volatile.Read(ref _wasOpened);
            set => Volatile.Write(ref _wasOpened, value);
        }

        /// <summary>Cancelled when the door is closed for a deletion.</summary>
        public CancellationToken Closing => _closing.Token;

        /// <summary>Completes when the door is closed and the last holder has left.</summary>
        public Task Empty => _empty.Task;

        /// <summary>When a holder that used the database last left, as a timestamp of the clock.</summary>
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

        /// <summary>Leaves; <paramref name="usedAt"/> is null if the database was not used.</summary>
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

        /// <summary>Closes the door for a deletion; returns false if it was not open.</summary>
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

        /// <summary>Closes the database if it has been idle for the given time; entering waits meanwhile.</summary>
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
