using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Storage;

namespace Treepie;

/// <summary>
/// Analyzers, sorters and settings that all databases of a catalogue share. A definition that a database has itself takes
/// precedence over a shared one of the same name. They are stored in a database of their own in the folder <c>shared</c> of the
/// catalogue, which is created with the first of them and never encrypted, and they are not part of the backups of databases.
/// Thread-safe.
/// </summary>
public sealed class SharedDefinitions
{
    private readonly Lock _lock = new();
    private readonly string _directory;
    private readonly Func<bool> _exists;
    private readonly DatabaseOptions _options;
    private volatile Definitions? _definitions;
    private volatile Database? _database;
    private volatile bool _isMissing; // avoids a file system access for every request
    private bool _disposed;

    /// <param name="directory">The folder of their database.</param>
    /// <param name="exists">Whether the folder exists.</param>
    /// <param name="options">The options of all databases of the catalogue.</param>
    internal SharedDefinitions(string directory, Func<bool> exists, DatabaseOptions options)
    {
        (_directory, _exists) = (directory, exists);
        _options = options with { Name = "shared" };
    }

    /// <summary>Raised after analyzers have changed. A handler does not throw, but adds what went wrong to the list.</summary>
    internal event Action<ICollection<Exception>>? AnalyzersChanged;

    /// <summary>All shared analyzers, by name.</summary>
    /// <exception cref="StorageException">They cannot be read.</exception>
    public IReadOnlyCollection<AnalyzerDefinition> Analyzers => Current.Analyzers;

    /// <summary>All shared sorters, by name.</summary>
    /// <exception cref="StorageException">They cannot be read.</exception>
    public IReadOnlyList<SorterDefinition> Sorters => Current.Sorters;

    private Definitions Current
    {
        get
        {
            if (_definitions is { } known)
                return known;
            lock (_lock)
                return _definitions ??= Open(mustExist: true) is { } database ? Definitions.Of(database) : Definitions.None;
        }
    }

    /// <summary>
    /// Stores analyzers, replacing those of the same name; durable when the method returns. Indexes that use a changed analyzer
    /// are rebuilt, those of closed databases when these are opened.
    /// </summary>
    /// <exception cref="InvalidAnalyzerException">A definition is not valid; nothing was changed.</exception>
    /// <exception cref="StorageException">They cannot be stored; or they are stored and a database could not begin to rebuild its
    /// indexes, as the message says. The others have begun.</exception>
    public void PutAnalyzers(params IReadOnlyList<AnalyzerDefinition> definitions)
    {
        Change(database => database.Indexes.Analyzers.Put(definitions));
        var failed = new List<Exception>();
        foreach (Action<ICollection<Exception>> refresh in AnalyzersChanged?.GetInvocationList() ?? [])
            refresh(failed);
        if (failed.Count > 0)
            throw new StorageException(
                "The analyzers are stored, but not every database could begin to rebuild its indexes; those that could not do so "
                    + $"when they are opened again. {string.Join(' ', failed.Select(static error => error.Message))}",
                failed[0]);
    }

    /// <summary>
    /// Deletes an analyzer; returns false if it does not exist. Indexes that use it keep it until they are defined anew.
    /// </summary>
    public bool DeleteAnalyzer(string name) =>
        Change(database => database.Indexes.Analyzers.Delete(name), mustExist: true);

    /// <summary>Stores sorters, replacing those of the same name; durable when the method returns.</summary>
    /// <exception cref="InvalidSorterException">A definition is not valid; nothing was changed.</exception>
    public void PutSorters(params IReadOnlyList<SorterDefinition> definitions) =>
        Change(database => database.Sorters.Put(definitions));

    /// <summary>Deletes a sorter; returns false if it does not exist. Queries that name it fail from then on.</summary>
    public bool DeleteSorter(string name) => Change(database => database.Sorters.Delete(name), mustExist: true);

    /// <summary>
    /// Returns the JSON object stored under a name, and the etag of its last change; null and 0 if there is none.
    /// </summary>
    public (ReadOnlyMemory<byte>? Json, long Etag) Setting(string name)
    {
        if (_isMissing)
            return (null, 0);
        Database? database = _database;
        if (database is null)
            lock (_lock)
                database = Open(mustExist: true);
        (long etag, byte[]? json) = database?.Settings.Read(name) ?? (0, null);
        return (json is null ? default(ReadOnlyMemory<byte>?) : json, etag);
    }

    /// <summary>
    /// Stores a JSON object under a name, or deletes it if null; completes when the change is durable.
    /// </summary>
    /// <exception cref="InvalidDocumentException">It is not a JSON object, or too large.</exception>
    public Task SetSettingAsync(string name, ReadOnlyMemory<byte>? json, CancellationToken cancellationToken = default)
    {
        lock (_lock)
            return Open(mustExist: json is null)?.Settings.SetAsync(name, json, cancellationToken) ?? Task.CompletedTask;
    }

    internal void Dispose()
    {
        lock (_lock)
        {
            _disposed = true;
            _database?.Dispose();
            _database = null;
        }
    }

    private void Change(Action<Database> change) => Change(
        database =>
        {
            change(database);
            return true;
        },
        mustExist: false);

    private bool Change(Func<Database, bool> change, bool mustExist)
    {
        lock (_lock)
        {
            if (Open(mustExist) is not { } database)
                return false;
            bool result = change(database);
            _definitions = Definitions.Of(database);
            return result;
        }
    }

    /// <summary>Requires the lock. Returns null if there is no database, and one must exist.</summary>
    private Database? Open(bool mustExist)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        if (_database is null && (!mustExist || _exists()))
            _database = Database.Open(_directory, _options);
        _isMissing = _database is null;
        return _database;
    }

    private sealed record Definitions(IReadOnlyCollection<AnalyzerDefinition> Analyzers, IReadOnlyList<SorterDefinition> Sorters)
    {
        public static Definitions None { get; } = new([], []);

        public static Definitions Of(Database database) => new(database.Indexes.Analyzers.List(), database.Sorters.List());
    }
}
