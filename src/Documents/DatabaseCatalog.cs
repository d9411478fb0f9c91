using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Catalogs;
using Treepie.Encryption;
using Treepie.Storage;

namespace Treepie;

/// <summary>
/// Manages many databases in one directory, by (case-insensitive) name, each in <c>databases/{name}</c>. Thread-safe. If a
/// database cannot be opened, each access to it throws the error; others are not affected.
/// </summary>
/// <remarks>
/// Each encrypted database has its own key, either from a key source configured for it, or given with <see cref="GiveKey"/> and
/// stored in the catalogue's <see cref="SecretStore"/>, which the master key encrypts. A database whose key is not available is
/// listed, throws <see cref="DatabaseLockedException"/> on access, and opens as soon as its key is given.
/// </remarks>
public sealed class DatabaseCatalog : IDisposable, IAsyncDisposable
{
    private readonly DatabaseOptions _options;
    private readonly CatalogFolder _folder;
    private readonly KeyRing _keys;
    private readonly EntryOpener _opener;
    private readonly Lock _lock = new();
    private readonly Dictionary<string, CatalogEntry> _entries = new(StringComparer.OrdinalIgnoreCase);
    private bool _disposed;

    /// <summary>Opens a directory and creates it if it does not exist. The databases are opened on first access.</summary>
    /// <param name="directory">The directory.</param>
    /// <param name="options">The options of all databases. Null: the defaults. Must not contain a
    /// <see cref="DatabaseOptions.EncryptionKey"/>: each database has its own.</param>
    /// <param name="keys">Where keys come from. Null: they are given with <see cref="GiveKey"/> after each opening.</param>
    /// <exception cref="EnvironmentLockedException">The directory is open in another catalogue, in this process or
    /// another.</exception>
    /// <exception cref="KeySourceException">The master key is missing, or is not the one with which the secrets were
    /// encrypted.</exception>
    /// <exception cref="StorageException">The directory cannot be read or written.</exception>
    public DatabaseCatalog(string directory, DatabaseOptions? options = null, DatabaseKeySources? keys = null)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(directory);
        _options = options ?? new DatabaseOptions();
        _options.Validate();
        if (_options.EncryptionKey is not null)
            throw new ArgumentException(
                "Each encrypted database of a catalogue has a key of its own: set where they come from, or give them with "
                    + "GiveKey, instead of one EncryptionKey for all.",
                nameof(options));

        DataDirectory = Path.TrimEndingDirectorySeparator(Path.GetFullPath(directory));
        _folder = new CatalogFolder(DataDirectory, _options.TimeProvider);
        try
        {
            Shared = new SharedDefinitions(_folder.SharedPath, () => _folder.HasShared, _options);
            _keys = new KeyRing(DataDirectory, keys ?? DatabaseKeySources.None);
            _opener = new EntryOpener(_options, _keys, Shared);
            foreach (CatalogEntry entry in _folder.Scan())
                _entries.Add(entry.Name, entry);
        }
        catch
        {
            _keys?.Dispose();
            _folder.Dispose();
            throw;
        }
    }

    /// <summary>The full path of the directory.</summary>
    public string DataDirectory { get; }

    /// <summary>Analyzers, sorters and settings that all databases share.</summary>
    public SharedDefinitions Shared { get; }

    /// <summary>The names of all databases, sorted.</summary>
    public IReadOnlyList<string> Names => [.. Created().Select(entry => entry.Name)];

    /// <summary>Creates and opens a database.</summary>
    /// <exception cref="ArgumentException">The name is not valid.</exception>
    /// <exception cref="ConcurrencyException">A database of that name exists.</exception>
    public Database Create(string name) => Create(name, encrypted: false);

    /// <summary>
    /// Creates and opens a database; an encrypted one with the key that is configured or was given for its name.
    /// </summary>
    /// <exception cref="ArgumentException">The name is not valid.</exception>
    /// <exception cref="ConcurrencyException">A database of that name exists.</exception>
    /// <exception cref="DatabaseLockedException">The database is to be encrypted, but there is no key for it; nothing was
    /// created.</exception>
    public Database Create(string name, bool encrypted)
    {
        DatabaseName.Check(name);
        var entry = new CatalogEntry(name, _folder.PathOf(name));
        lock (entry.Gate) // taken before the entry is added, so that others wait until the database is created
        {
            lock (_lock)
            {
                ObjectDisposedException.ThrowIf(_disposed, this);
                if (!_entries.TryAdd(name, entry))
                    throw new ConcurrencyException(
                        $"A database named '{_entries[name].Name}' exists already. Choose another name, or delete that one "
                            + $"first.");
            }

            try
            {
                return Make(entry, encrypted);
            }
            catch
            {
                if (!entry.IsCreated)
                    Forget(entry);
                throw;
            }
        }
    }

    /// <summary>Returns a database and opens it if necessary; returns null if it does not exist.</summary>
    /// <exception cref="DatabaseLockedException">The database is encrypted, and its key is missing or wrong.</exception>
    /// <exception cref="StorageException">The database cannot be opened; the next call tries again.</exception>
    public Database? Find(string name)
    {
        if (FindEntry(name) is not { } entry)
            return null;

        lock (entry.Gate)
        {
            if (!entry.IsCreated)
                return null; // creating it failed, or it was deleted meanwhile
            ObjectDisposedException.ThrowIf(_disposed, this);
            entry.ThrowIfAmbiguous();
            return entry.Database ??= _opener.Open(entry);
        }
    }

    /// <summary>Returns descriptions of all databases, sorted by name, without opening any.</summary>
    public IReadOnlyList<DatabaseDescription> Describe() => [.. Created().Select(entry => entry.Describe())];

    /// <summary>Returns the description of a database without opening it; null if it does not exist.</summary>
    public DatabaseDescription? Describe(string name) => FindEntry(name) is { IsCreated: true } entry ? entry.Describe() : null;

    /// <summary>
    /// Closes a database; it is opened again on the next access. The caller ensures that nobody is using it. Returns false if it
    /// is not open or has background work to do: an index is behind, or documents are being expired, refreshed or archived.
    /// </summary>
    public bool Close(string name)
    {
        if (FindEntry(name) is not { } entry)
            return false;

        lock (entry.Gate)
        {
            if (entry.Database is not { HasWork: false } database)
                return false;
            entry.Database = null; // closed even if Dispose throws
            database.Dispose();
            return true;
        }
    }

    /// <summary>
    /// Closes a database, removes it from the catalogue and optionally deletes its files; returns false if it does not exist.
    /// </summary>
    /// <remarks>
    /// Files that are kept keep their name: the catalogue finds the database again when it is next opened. Deleting the files
    /// also deletes the key that was given for the database.
    /// </remarks>
    public bool Delete(string name, bool deleteFiles)
    {
        if (FindEntry(name) is not { } entry)
            return false;

        lock (entry.Gate)
        {
            if (!entry.IsCreated)
                return false;
            entry.ThrowIfAmbiguous();

            entry.Database?.Dispose();
            entry.Database = null;
            if (deleteFiles)
            {
                bool hadKey = entry.IsEncrypted;
                _folder.Delete(entry.Name);
                if (hadKey)
                    _keys.Remove(entry.Name);
            }

            Forget(entry);
            return true;
        }
    }

    /// <summary>
    /// Sets the key of a database. An existing locked database is opened with it; for a database that does not exist yet, it is
    /// kept until the database is created. A key that does not open its database is rejected.
    /// </summary>
    /// <param name="name">The name of the database.</param>
    /// <param name="key">32 bytes, or base64 or hexadecimal digits as UTF-8 text. The bytes are copied; the caller should zero
    /// them.</param>
    /// <param name="keep">Whether to store it durably in the <see cref="SecretStore"/>; otherwise it is kept in memory until the
    /// catalogue is closed.</param>
    /// <param name="overwrite">Whether it replaces another key given before for a database that does not exist yet.</param>
    /// <exception cref="ArgumentException">The name is not valid.</exception>
    /// <exception cref="KeySourceException">It is not a key, there is no master key to store it with, or the key of this database
    /// comes from a key source of its own.</exception>
    /// <exception cref="DatabaseLockedException">The key does not open the database.</exception>
    /// <exception cref="ConcurrencyException">Another key was given for the name.</exception>
    public void GiveKey(string name, ReadOnlySpan<byte> key, bool keep = true, bool overwrite = false)
    {
        DatabaseName.Check(name);
        if (_keys.TryGetSource(name, out KeySource? source))
            throw new KeySourceException(
                $"The key of database '{name}' comes from where it was set to be: {source.Description}. None can be given beside "
                    + $"it.");
        if (keep)
            _keys.ThrowIfCannotKeep(name);

        using EncryptionKey given = KeyText.ReadKey(key, "What was given");
        CatalogEntry entry = FindEntry(name) ?? new CatalogEntry(name, _folder.PathOf(name)); // new: not visible
        lock (entry.Gate)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            entry.ThrowIfAmbiguous();
            if (entry.IsCreated)
                _opener.Unlock(entry, given);
            else if (!overwrite)
                _opener.RefuseOther(name, given);
            _keys.Put(name, given, keep);
        }
    }

    /// <summary>
    /// Changes the key of an encrypted database and stores it in place of the old one; see
    /// <see cref="Database.ChangeEncryptionKey"/>. If it is interrupted at any point, the database opens with the stored key.
    /// </summary>
    /// <param name="name">The name of the database.</param>
    /// <param name="key">The new key, as in <see cref="GiveKey"/>.</param>
    /// <exception cref="KeySourceException">It is not a key, or the old one comes from a key source, which would then return the
    /// wrong one.</exception>
    /// <exception cref="DatabaseLockedException">The database is not open and cannot be opened.</exception>
    /// <exception cref="InvalidOperationException">The database is not encrypted or does not exist.</exception>
    public void ChangeKey(string name, ReadOnlySpan<byte> key)
    {
        if (_keys.TryGetSource(name, out KeySource? source))
        {
            throw new KeySourceException(
                $"The key of database '{name}' comes from where it was set to be: {source.Description}, which would give the old "
                    + $"one at the next start. Stop the program, run 'treepie key change' on its directory, and put the new key "
                    + $"there.");
        }

        using EncryptionKey next = KeyText.ReadKey(key, "What was given");
        CatalogEntry entry = FindEntry(name) ?? throw NotThere(name);
        lock (entry.Gate)
        {
            Database database = Open(entry);
            database.RequireEncryption();
            using EncryptionKey current = entry.TakeKey(_keys);
            _keys.PutNext(entry.Name, current, next);
            database.ChangeEncryptionKey(next);
            _keys.Promote(entry.Name, next);
            entry.KeyIndex = 0;
        }
    }

    /// <summary>
    /// Re-encrypts a database with new data keys while it is in use; see <see cref="Database.RotateEncryptionDataKey"/>.
    /// </summary>
    /// <exception cref="DatabaseLockedException">The database cannot be opened.</exception>
    /// <exception cref="InvalidOperationException">The database is not encrypted or does not exist.</exception>
    /// <exception cref="OperationCanceledException">The operation was cancelled.</exception>
    public EncryptionReport RotateDataKey(
        string name, IProgress<EncryptionProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        CatalogEntry entry = FindEntry(name) ?? throw NotThere(name);
        Database database;
        EncryptionKey key;
        lock (entry.Gate)
        {
            database = Open(entry);
            database.RequireEncryption();
            key = entry.TakeKey(_keys);
        }

        using (key)
            return database.RotateEncryptionDataKey(key, progress, cancellationToken);
    }

    /// <summary>
    /// Same as <c>Database.BackupAsync</c>. The backup of an encrypted database is encrypted with its own key unless another is
    /// given or an unencrypted backup is allowed.
    /// </summary>
    /// <exception cref="InvalidOperationException">The database does not exist.</exception>
    public async Task<BackupReport> BackupAsync(
        string name, Stream destination, BackupOptions? options = null, IProgress<BackupProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        options ??= new BackupOptions();
        (Database database, EncryptionKey? own) = OpenWithKey(
            name, needsKey: options is { EncryptionKey: null, AllowPlain: false });
        using (own)
            return await database.BackupAsync(
                destination, options with { EncryptionKey = options.EncryptionKey ?? own }, progress,
                cancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// Verifies a backup of one or more parts, like <c>Database.VerifyBackupAsync</c>. If no key is given, an encrypted backup is
    /// read with the key of the named database.
    /// </summary>
    /// <exception cref="InvalidOperationException">The database does not exist.</exception>
    public async Task<BackupReport> VerifyBackupAsync(
        string name, IReadOnlyList<BackupPart> parts, RestoreOptions? options = null, IProgress<BackupProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(parts);
        options ??= new RestoreOptions();
        (_, EncryptionKey? own) = OpenWithKey(name, needsKey: options.BackupKey is null);
        using (own)
            return await Database.VerifyBackupAsync(
                parts, options with { Database = options.Database ?? _options, OwnKey = own }, progress,
                cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Returns a copy of a database's key, which the caller disposes; null if it is not encrypted.</summary>
    internal BackupKey? TakeKey(string name) => OpenWithKey(name, needsKey: true).Key is { } own ? new BackupKey(own) : null;

    /// <summary>Returns whether a database may have backup tasks, without opening it.</summary>
    internal bool MayHaveBackupTasks(string name) =>
        FindEntry(name) is { IsCreated: true, SameNames.Count: 0 } entry && BackupTaskStore.MayHaveTasks(entry.Path);

    /// <summary>
    /// Same as <c>Database.ImportAsync</c>. If no key is given, an encrypted backup is read with the key of the database.
    /// </summary>
    /// <exception cref="InvalidOperationException">The database does not exist.</exception>
    public async Task<BackupReport> ImportAsync(
        string name, Stream source, ImportOptions? options = null, IProgress<BackupProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        options ??= new ImportOptions();
        (Database database, EncryptionKey? own) = OpenWithKey(name, needsKey: options.BackupKey is null);
        using (own)
            return await database.ImportAsync(source, options with { OwnKey = own }, progress, cancellationToken)
                .ConfigureAwait(false);
    }

    /// <summary>
    /// Same as <c>Database.RestoreAsync</c>, to a database with a new name, which becomes visible only when it is complete and
    /// verified. Uses the options of the catalogue. If the database is to be encrypted, whatever the original was, it uses the
    /// key that is configured or was given for its name; if no other key is given, an encrypted backup is read with that key as
    /// well.
    /// </summary>
    /// <exception cref="ArgumentException">The name is not valid.</exception>
    /// <exception cref="ConcurrencyException">A database of that name exists or is being created.</exception>
    /// <exception cref="DatabaseLockedException">The database is to be encrypted, but there is no key for it.</exception>
    public Task<BackupReport> RestoreAsync(
        string name, Stream source, bool encrypted, RestoreOptions? options = null, IProgress<BackupProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(source);
        return RestoreAsync(
            name, encrypted, options,
            (path, all) => DatabaseBackups.RestoreToAsync(source, path, all, progress, cancellationToken));
    }

    /// <summary>
    /// Same as <see cref="RestoreAsync(string, Stream, bool, RestoreOptions?, IProgress{BackupProgress}?, CancellationToken)"/>,
    /// for a chain of backups: see <c>Database.RestoreAsync</c>.
    /// </summary>
    public Task<BackupReport> RestoreAsync(
        string name, IReadOnlyList<BackupPart> parts, bool encrypted, RestoreOptions? options = null,
        IProgress<BackupProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(parts);
        return RestoreAsync(
            name, encrypted, options,
            (path, all) => DatabaseBackups.RestoreToAsync(parts, path, all, progress, cancellationToken));
    }

    private async Task<BackupReport> RestoreAsync(
        string name, bool encrypted, RestoreOptions? options, Func<string, RestoreOptions, Task<BackupReport>> restore)
    {
        DatabaseName.Check(name);
        var entry = new CatalogEntry(name, _folder.PathOf(name));
        lock (_lock)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            if (!_entries.TryAdd(name, entry))
                throw new ConcurrencyException(
                    $"A database named '{_entries[name].Name}' exists already, and a backup is restored to a new one only. "
                        + $"Choose another name, or delete that one first.");
        }

        try
        {
            _folder.RefuseKept(entry.Name);
            using EncryptionKey? key = encrypted ? _opener.KeyOfNew(name) : null;
            string unfinished = _folder.UnfinishedPathOf(name);
            RestoreOptions all = (options ?? new RestoreOptions()) with
            {
                Database = _options with { Name = name, EncryptionKey = key },
                OwnKey = key
            };
            BackupReport report;
            try
            {
                report = await restore(unfinished, all).ConfigureAwait(false);
            }
            catch
            {
                CatalogFolder.DeleteFolder(unfinished);
                throw;
            }

            lock (entry.Gate)
            {
                ObjectDisposedException.ThrowIf(_disposed, this); // the next catalogue deletes unfinished folders
                _folder.Finish(unfinished, name);
                entry.IsCreated = true;
            }

            return report;
        }
        catch
        {
            if (!entry.IsCreated)
                Forget(entry);
            throw;
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (CatalogEntry entry in Close())
        {
            lock (entry.Gate)
            {
                entry.Database?.Dispose();
                entry.Database = null;
            }
        }

        Shared.Dispose();
        _keys.Dispose();
        _folder.Dispose();
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        foreach (CatalogEntry entry in Close())
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

        Shared.Dispose();
        _keys.Dispose();
        _folder.Dispose();
    }

    private static InvalidOperationException NotThere(string name) => new($"There is no database '{name}'.");

    private List<CatalogEntry> Close()
    {
        lock (_lock)
        {
            if (_disposed)
                return [];
            _disposed = true;
            return [.. _entries.Values];
        }
    }

    private List<CatalogEntry> Created()
    {
        lock (_lock)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            return [
                .. _entries.Values.Where(entry => entry.IsCreated)
                    .OrderBy(entry => entry.Name, StringComparer.OrdinalIgnoreCase)];
        }
    }

    private CatalogEntry? FindEntry(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        lock (_lock)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            return _entries.GetValueOrDefault(name);
        }
    }

    /// <summary>Returns a database and, if it is encrypted and its key is needed, a copy of the key.</summary>
    private (Database Database, EncryptionKey? Key) OpenWithKey(string name, bool needsKey)
    {
        CatalogEntry entry = FindEntry(name) ?? throw NotThere(name);
        lock (entry.Gate)
        {
            Database database = Open(entry);
            return (database, needsKey && database.IsEncrypted ? entry.TakeKey(_keys) : null);
        }
    }

    /// <summary>Opens the database of an entry whose gate is held.</summary>
    private Database Open(CatalogEntry entry)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        if (!entry.IsCreated)
            throw NotThere(entry.Name);
        entry.ThrowIfAmbiguous();
        return entry.Database ??= _opener.Open(entry);
    }

    private Database Make(CatalogEntry entry, bool encrypted)
    {
        _folder.RefuseKept(entry.Name);
        using EncryptionKey? key = encrypted ? _opener.KeyOfNew(entry.Name) : null;
        string unfinished = _folder.UnfinishedPathOf(entry.Name);
        DatabaseOptions options = _options with { Name = entry.Name, EncryptionKey = key };
        Database.Open(unfinished, options).Dispose();
        _folder.Finish(unfinished, entry.Name);
        entry.IsCreated = true;
        return entry.Database = Database.Open(entry.Path, options, Shared);
    }

    private void Forget(CatalogEntry entry)
    {
        entry.IsCreated = false;
        lock (_lock)
            _entries.Remove(entry.Name);
    }
}
