using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Catalogs;
using Treepie.Encryption;
using Treepie.Storage;

namespace Treepie;

/// <summary>
/// Many databases below one directory, by (case-insensitive) name, each in <c>databases/{name}</c>. Thread-safe. A database that
/// cannot be opened raises its own error whenever it is asked for, and leaves the others alone.
/// </summary>
/// <remarks>
/// Each encrypted database has a key of its own: from a source set for it, or given with <see cref="GiveKey"/> and kept in the
/// catalogue's <see cref="SecretStore"/>, which the master key encrypts. A database whose key is not there is listed, answers
/// with <see cref="DatabaseLockedException"/>, and opens as soon as its key is given.
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

    /// <summary>Opens the directory, made if it is absent; databases themselves are opened at first use.</summary>
    /// <param name="directory">The directory.</param>
    /// <param name="options">Settings of all databases; null: the defaults. Without <see cref="DatabaseOptions.EncryptionKey"/>:
    /// each database has its own.</param>
    /// <param name="keys">Where keys come from; null: they are given with <see cref="GiveKey"/> after each opening.</param>
    /// <exception cref="EnvironmentLockedException">Another catalog, in this process or another, has the directory
    /// open.</exception>
    /// <exception cref="KeySourceException">The master key is not there, or not the one the secrets were encrypted
    /// with.</exception>
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
            _keys = new KeyRing(DataDirectory, keys ?? DatabaseKeySources.None);
            _opener = new EntryOpener(_options, _keys);
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

    /// <summary>The directory, as a full path.</summary>
    public string DataDirectory { get; }

    /// <summary>Names of all databases, sorted.</summary>
    public IReadOnlyList<string> Names => [.. Created().Select(entry => entry.Name)];

    /// <summary>Creates a database and opens it.</summary>
    /// <exception cref="ArgumentException">The name is not usable.</exception>
    /// <exception cref="ConcurrencyException">A database of that name exists.</exception>
    public Database Create(string name) => Create(name, encrypted: false);

    /// <summary>Creates a database and opens it; an encrypted one with the key that is set or was given for its name.</summary>
    /// <exception cref="ArgumentException">The name is not usable.</exception>
    /// <exception cref="ConcurrencyException">A database of that name exists.</exception>
    /// <exception cref="DatabaseLockedException">It is to be encrypted, and there is no key for it; nothing was
    /// created.</exception>
    public Database Create(string name, bool encrypted)
    {
        DatabaseName.Check(name);
        var entry = new CatalogEntry(name, _folder.PathOf(name));
        lock (entry.Gate) // before others can find it: they wait until it is there
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

    /// <summary>The database of that name, opened if need be; null if there is none.</summary>
    /// <exception cref="DatabaseLockedException">It is encrypted, and its key is not there or not the right one.</exception>
    /// <exception cref="StorageException">It cannot be opened; asked for again, it is tried again.</exception>
    public Database? Find(string name)
    {
        if (FindEntry(name) is not { } entry)
            return null;

        lock (entry.Gate)
        {
            if (!entry.IsCreated)
                return null; // its making failed, or it was deleted meanwhile
            ObjectDisposedException.ThrowIf(_disposed, this);
            entry.ThrowIfAmbiguous();
            return entry.Database ??= _opener.Open(entry);
        }
    }

    /// <summary>All databases, sorted by name; none is opened for it.</summary>
    public IReadOnlyList<DatabaseDescription> Describe() => [.. Created().Select(entry => entry.Describe())];

    /// <summary>One database; null if there is none. It is not opened for it.</summary>
    public DatabaseDescription? Describe(string name) => FindEntry(name) is { IsCreated: true } entry ? entry.Describe() : null;

    /// <summary>
    /// Closes a database that nobody uses, which whoever calls makes sure of; it opens again when it is next asked for. False if
    /// it is not open, or has work of its own to do: an index is behind, or it looks for documents whose time has come.
    /// </summary>
    public bool Close(string name)
    {
        if (FindEntry(name) is not { } entry)
            return false;

        lock (entry.Gate)
        {
            if (entry.Database is not { HasWork: false } database)
                return false;
            entry.Database = null; // whatever closing says, it is closed
            database.Dispose();
            return true;
        }
    }

    /// <summary>Closes and forgets a database, and deletes its files if asked; false if there is none.</summary>
    /// <remarks>
    /// Files that are kept keep their name: the catalog finds the database again when it is opened the next time. With the files
    /// goes the key that was given for it.
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
    /// Gives the key of a database: one that is there and locked opens with it; for one that is still to be made it is kept until
    /// then. A key that does not open its database is refused.
    /// </summary>
    /// <param name="name">Name of the database.</param>
    /// <param name="key">32 bytes, or their base64 or hexadecimal digits as UTF-8 text; copied, to be zeroed by the
    /// caller.</param>
    /// <param name="keep">Whether to keep it in the <see cref="SecretStore"/>, durably; else it is held until the catalogue is
    /// closed.</param>
    /// <param name="overwrite">Whether it takes the place of another one given before for a database that is not made
    /// yet.</param>
    /// <exception cref="ArgumentException">The name is not usable.</exception>
    /// <exception cref="KeySourceException">It is no key; or there is no master key to keep it with; or the key of this database
    /// comes from a source of its own.</exception>
    /// <exception cref="DatabaseLockedException">It does not open the database.</exception>
    /// <exception cref="ConcurrencyException">Another key was given for that name.</exception>
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
        CatalogEntry entry = FindEntry(name) ?? new CatalogEntry(name, _folder.PathOf(name)); // one that nobody finds
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
    /// Gives an encrypted database another key, and keeps or holds it where the old one was; see
    /// <see cref="Database.ChangeEncryptionKey"/>. Whenever it is interrupted, the database opens with what is kept.
    /// </summary>
    /// <param name="name">Name of the database.</param>
    /// <param name="key">The next key, as in <see cref="GiveKey"/>.</param>
    /// <exception cref="KeySourceException">It is no key; or the old one comes from a source, which would then give the wrong
    /// one.</exception>
    /// <exception cref="DatabaseLockedException">The database is not open and cannot be opened.</exception>
    /// <exception cref="InvalidOperationException">It is not encrypted, or not there.</exception>
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
    /// Encrypts a database anew with data keys drawn now, while it is used; see <see cref="Database.RotateEncryptionDataKey"/>.
    /// </summary>
    /// <exception cref="DatabaseLockedException">The database cannot be opened.</exception>
    /// <exception cref="InvalidOperationException">It is not encrypted, or not there.</exception>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
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
    /// As <c>Database.BackupAsync</c>; an encrypted
    /// database is sealed with its own key unless another is given or a plain backup allowed.
    /// </summary>
    /// <exception cref="InvalidOperationException">There is no such database.</exception>
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
    /// As the verification of <see cref="Database"/>, of one part or of several; a sealed backup for which no key is given is
    /// tried with that of the database of this name.
    /// </summary>
    /// <exception cref="InvalidOperationException">There is no such database.</exception>
    public async Task<BackupReport> VerifyBackupAsync(
        string name, IReadOnlyList<BackupPart> parts, RestoreOptions? options = null, IProgress<BackupProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(parts);
        options ??= new RestoreOptions();
        (_, EncryptionKey? own) = OpenWithKey(name, needsKey: options.BackupKey is null);
        using (own)
            return await BackupParts.VerifyAsync(
                parts, options with { Database = options.Database ?? _options, OwnKey = own }, progress,
                cancellationToken).ConfigureAwait(false);
    }

    /// <summary>A mark of the key of a database; null where it is not encrypted.</summary>
    internal string? KeyMarkOf(string name)
    {
        (_, EncryptionKey? own) = OpenWithKey(name, needsKey: true);
        using (own)
            return own is null ? null : KeyMark.Of(own);
    }

    /// <summary>Whether a database may have backup tasks, found out without opening it.</summary>
    internal bool MayHaveBackupTasks(string name) =>
        FindEntry(name) is { IsCreated: true, SameNames.Count: 0 } entry && BackupTaskStore.MayHaveTasks(entry.Path);

    /// <summary>
    /// As <c>Database.ImportAsync</c>; a sealed backup for which no key is given is tried with the database's own.
    /// </summary>
    /// <exception cref="InvalidOperationException">There is no such database.</exception>
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
    /// As <c>Database.RestoreAsync</c>, to
    /// a database of a new name, which nobody finds before all of it is there and compared. Settings are the catalogue's. An
    /// encrypted one, whatever the old one was, gets the key that is set or was given for its name; a sealed backup for which no
    /// key is given is tried with that.
    /// </summary>
    /// <exception cref="ArgumentException">The name is not usable.</exception>
    /// <exception cref="ConcurrencyException">A database of that name exists, or is being made.</exception>
    /// <exception cref="DatabaseLockedException">It is to be encrypted, and there is no key for it.</exception>
    public Task<BackupReport> RestoreAsync(
        string name, Stream source, bool encrypted, RestoreOptions? options = null, IProgress<BackupProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(source);
        return RestoreAsync(
            name, encrypted, options,
            (path, all) => DatabaseBackup.RestoreToAsync(source, path, all, progress, cancellationToken));
    }

    /// <summary>
    /// As <see cref="RestoreAsync(string, Stream, bool, RestoreOptions?, IProgress{BackupProgress}?, CancellationToken)"/>, of a
    /// chain: see
    /// <c>Database.RestoreAsync</c>.
    /// </summary>
    public Task<BackupReport> RestoreAsync(
        string name, IReadOnlyList<BackupPart> parts, bool encrypted, RestoreOptions? options = null,
        IProgress<BackupProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(parts);
        return RestoreAsync(
            name, encrypted, options,
            (path, all) => DatabaseBackup.RestoreToAsync(parts, path, all, progress, cancellationToken));
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
            BackupReport report = await restore(unfinished, all).ConfigureAwait(false);
            lock (entry.Gate)
            {
                ObjectDisposedException.ThrowIf(_disposed, this); // the next catalogue deletes what is unfinished
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

    /// <summary>A database and, if it is encrypted and its key is needed, a copy of that.</summary>
    private (Database Database, EncryptionKey? Key) OpenWithKey(string name, bool needsKey)
    {
        CatalogEntry entry = FindEntry(name) ?? throw NotThere(name);
        lock (entry.Gate)
        {
            Database database = Open(entry);
            return (database, needsKey && database.IsEncrypted ? entry.TakeKey(_keys) : null);
        }
    }

    /// <summary>The database of an entry whose gate is held.</summary>
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
        return entry.Database = Database.Open(entry.Path, options);
    }

    private void Forget(CatalogEntry entry)
    {
        entry.IsCreated = false;
        lock (_lock)
            _entries.Remove(entry.Name);
    }
}
