using Treepie.Storage;

namespace Treepie;

/// <summary>
/// Many databases below one directory, by (case-insensitive) name, each in <c>databases/{name}</c>. Thread-safe. A database that cannot be
/// opened raises its own error whenever it is asked for, and leaves the others alone.
/// </summary>
/// <remarks>
/// A folder comes to its name and loses it by being renamed, in one step: while a database is made or its files are deleted its folder's
/// name begins with <c>~</c>, which no database's does. What a crash left under such a name is deleted when the catalog opens.
/// </remarks>
public sealed class DatabaseCatalog : IDisposable, IAsyncDisposable
{
    private const string DatabasesFolder = "databases";
    private const string LockFile = "catalog.lock";
    private const char UnfinishedMark = '~';

    /// <summary>Error numbers of Linux and macOS (the last one of Linux only) by which an open file fails that nobody else holds.</summary>
    private const int NoSpace = 28, ReadOnlyFileSystem = 30, QuotaExceeded = 122;

    private readonly string _folder;
    private readonly DatabaseOptions _options;
    private readonly FileStream _lockFile;
    private readonly Lock _lock = new();
    private readonly Dictionary<string, Entry> _entries = new(StringComparer.OrdinalIgnoreCase);
    private bool _disposed;

    /// <summary>Opens the directory, made if it is absent; databases themselves are opened at first use.</summary>
    /// <exception cref="EnvironmentLockedException">Another catalog, in this process or another, has the directory open.</exception>
    /// <exception cref="StorageException">The directory cannot be read or written.</exception>
    public DatabaseCatalog(string directory, DatabaseOptions? options = null)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(directory);
        _options = options ?? new DatabaseOptions();
        _options.Validate();
        DataDirectory = Path.TrimEndingDirectorySeparator(Path.GetFullPath(directory));
        _folder = Path.Combine(DataDirectory, DatabasesFolder);
        _lockFile = OpenLockFile();
        try
        {
            foreach (string path in Directory.GetDirectories(_folder))
                Adopt(path);
        }
        catch
        {
            _lockFile.Dispose();
            throw;
        }
    }

    /// <summary>The directory, as a full path.</summary>
    public string DataDirectory { get; }

    /// <summary>Names of all databases, sorted.</summary>
    public IReadOnlyList<string> Names
    {
        get
        {
            lock (_lock)
            {
                ObjectDisposedException.ThrowIf(_disposed, this);
                return [.. _entries.Values.Where(entry => entry.IsCreated).Select(entry => entry.Name).Order(StringComparer.OrdinalIgnoreCase)];
            }
        }
    }

    /// <summary>Creates a database and opens it.</summary>
    /// <exception cref="ArgumentException">The name is not usable.</exception>
    /// <exception cref="ConcurrencyException">A database of that name exists.</exception>
    public Database Create(string name)
    {
        DatabaseName.Check(name);
        var entry = new Entry(name, Path.Combine(_folder, name));
        lock (entry.Gate) // before others can find it: they wait until it is there
        {
            lock (_lock)
            {
                ObjectDisposedException.ThrowIf(_disposed, this);
                if (!_entries.TryAdd(name, entry))
                    throw new ConcurrencyException($"A database named '{_entries[name].Name}' exists already. Choose another name, or delete that one first.");
            }

            try
            {
                if (Directory.Exists(entry.Path))
                {
                    throw new ConcurrencyException(
                        $"A database named '{name}' was deleted and its files kept in '{entry.Path}'. Move them away, choose another name, or restart to have it back.");
                }

                string unfinished = UnfinishedPath("creating", name);
                Database.Open(unfinished, _options with { Name = name }).Dispose();
                Directory.Move(unfinished, entry.Path);
                StorageEnvironment.SyncDirectory(_folder);
                entry.IsCreated = true;
                return entry.Database = Database.Open(entry.Path, _options with { Name = name });
            }
            catch
            {
                if (!entry.IsCreated)
                    Forget(entry);
                throw;
            }
        }
    }

    /// <summary>The database of that name, opened if need be; null if there is none.</summary>
    /// <exception cref="StorageException">It cannot be opened; asked for again, it is tried again.</exception>
    public Database? Find(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        Entry? entry;
        lock (_lock)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            if (!_entries.TryGetValue(name, out entry))
                return null;
        }

        lock (entry.Gate)
        {
            if (!entry.IsCreated)
                return null; // its making failed, or it was deleted meanwhile
            ObjectDisposedException.ThrowIf(_disposed, this);
            return entry.Database ??= Database.Open(entry.Path, _options with { Name = entry.Name });
        }
    }

    /// <summary>Closes and forgets a database, and deletes its files if asked; false if there is none.</summary>
    /// <remarks>Files that are kept keep their name: the catalog finds the database again when it is opened the next time.</remarks>
    public bool Delete(string name, bool deleteFiles)
    {
        ArgumentNullException.ThrowIfNull(name);
        Entry? entry;
        lock (_lock)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            if (!_entries.TryGetValue(name, out entry))
                return false;
        }

        lock (entry.Gate)
        {
            if (!entry.IsCreated)
                return false;

            entry.Database?.Dispose();
            entry.Database = null;
            if (deleteFiles)
            {
                string unfinished = UnfinishedPath("deleted", entry.Name);
                Directory.Move(entry.Path, unfinished);
                StorageEnvironment.SyncDirectory(_folder);
                DeleteFolder(unfinished);
            }

            Forget(entry);
            return true;
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (Entry entry in Close())
        {
            lock (entry.Gate)
            {
                entry.Database?.Dispose();
                entry.Database = null;
            }
        }

        _lockFile.Dispose();
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        foreach (Entry entry in Close())
        {
            Database? database;
            lock (entry.Gate)
            {
                database = entry.Database;
                entry.Database = null;
            }

            if (database is not null)
                await database.DisposeAsync().ConfigureAwait(false);
        }

        await _lockFile.DisposeAsync().ConfigureAwait(false);
    }

    private List<Entry> Close()
    {
        lock (_lock)
        {
            if (_disposed)
                return [];
            _disposed = true;
            return [.. _entries.Values];
        }
    }

    private FileStream OpenLockFile()
    {
        string path = Path.Combine(DataDirectory, LockFile);
        try
        {
            StorageEnvironment.CreateDirectory(_folder);
            return new FileStream(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
        }
        catch (UnauthorizedAccessException error)
        {
            throw new StorageException($"The data directory '{DataDirectory}' cannot be written: {error.Message} Give the process the right to, or choose another directory.", error);
        }
        catch (IOException error) when (File.Exists(path) && error.HResult is not (NoSpace or ReadOnlyFileSystem or QuotaExceeded))
        {
            throw new EnvironmentLockedException($"The data directory '{DataDirectory}' is open in another process, which holds '{path}'. Stop that one, or choose another directory.", error);
        }
        catch (IOException error)
        {
            throw new StorageException($"The data directory '{DataDirectory}' cannot be used: {error.Message}", error);
        }
    }

    private void Adopt(string path)
    {
        string name = Path.GetFileName(path);
        if (name.StartsWith(UnfinishedMark))
            DeleteFolder(path);
        else if (DatabaseName.IsValid(name)) // what else somebody put there is left alone
            _entries.TryAdd(name, new Entry(name, path) { IsCreated = true });
    }

    private string UnfinishedPath(string state, string name) => Path.Combine(_folder, $"{UnfinishedMark}{state}-{name}-{Guid.NewGuid():N}");

    private static void DeleteFolder(string path)
    {
        try
        {
            Directory.Delete(path, recursive: true);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            // It has lost its name, so the database is gone; the next opening of the catalog tries again.
        }
    }

    private void Forget(Entry entry)
    {
        entry.IsCreated = false;
        lock (_lock)
            _entries.Remove(entry.Name);
    }

    /// <summary>A database and what is known of it. Its gate is taken before the catalog's lock, never after.</summary>
    private sealed class Entry(string name, string path)
    {
        private volatile bool _isCreated;

        public Lock Gate { get; } = new();

        public string Name { get; } = name;

        public string Path { get; } = path;

        public Database? Database { get; set; }

        public bool IsCreated
        {
            get => _isCreated;
            set => _isCreated = value;
        }
    }
}
