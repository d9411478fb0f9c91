using Microsoft.Extensions.Logging;
using Treepie.Sessions;

namespace Treepie.Extensions.Hosting;

/// <summary>Opens a database once and closes it when the host stops.</summary>
/// <param name="options">The options.</param>
/// <param name="name">The name of a database in memory that is not given one; null: the default.</param>
/// <param name="openSession">Opens a session.</param>
/// <param name="log">The log.</param>
internal sealed partial class DatabaseHolder(
    TreepieHostingOptions options, string? name, Func<Database, DocumentSession> openSession, ILogger<DatabaseHolder> log)
    : IDisposable, IAsyncDisposable
{
    /// <summary>The maximum number of logged characters of a query.</summary>
    private const int MaxQueryText = 1_000;

    private readonly Lock _lock = new();
    private DatabaseWatch? _watch;
    private Database? _database;
    private bool _disposed;

    /// <summary>The database, which is opened on first use.</summary>
    public Database Database
    {
        get
        {
            lock (_lock)
            {
                ObjectDisposedException.ThrowIf(_disposed, this);
                return _database ??= Open();
            }
        }
    }

    /// <summary>Opens a new session.</summary>
    public DocumentSession OpenSession() => openSession(Database);

    public void Dispose()
    {
        if (Take() is not { } database)
            return;
        database.Dispose();
        Closed(log, database.Name);
    }

    public async ValueTask DisposeAsync()
    {
        if (Take() is not { } database)
            return;
        await database.DisposeAsync().ConfigureAwait(false);
        Closed(log, database.Name);
    }

    private Database? Take()
    {
        lock (_lock)
        {
            _disposed = true;
            _watch?.Dispose();
            (Database? database, _database) = (_database, null);
            return database;
        }
    }

    private Database Open()
    {
        TimeProvider clock = options.Database.TimeProvider;
        long began = clock.GetTimestamp();
        Database database;
        try
        {
            database = options.Open(name, options.SlowQueries is null ? null : LogSlow);
        }
        catch (Exception error)
        {
            NotOpened(log, error, options.Path ?? name ?? "memory");
            throw;
        }

        Opened(log, database.Name, database.DataDirectory, clock.GetElapsedTime(began).TotalMilliseconds);
        _watch = new DatabaseWatch(database, log, clock, options.BackgroundChecks);
        return database;
    }

    private void LogSlow(QueryExecution query)
    {
        if (query.Duration >= options.SlowQueries)
            Slow(
                log, query.Database, query.Duration.TotalMilliseconds, query.IndexName,
                query.Text.Length > MaxQueryText ? query.Text[..MaxQueryText] + "…" : query.Text);
    }

    [LoggerMessage(
        EventId = 1, Level = LogLevel.Information,
        Message = "Opened the database {Database} in {Directory} in {Milliseconds:F0} ms")]
    private static partial void Opened(ILogger log, string database, string directory, double milliseconds);

    [LoggerMessage(EventId = 2, Level = LogLevel.Information, Message = "Closed the database {Database}")]
    private static partial void Closed(ILogger log, string database);

    [LoggerMessage(
        EventId = 3, Level = LogLevel.Warning,
        Message = "A query of the database {Database} took {Milliseconds:F0} ms by {Index}: {Query}")]
    private static partial void Slow(ILogger log, string database, double milliseconds, string index, string query);

    [LoggerMessage(EventId = 9, Level = LogLevel.Error, Message = "The database in {Directory} could not be opened")]
    private static partial void NotOpened(ILogger log, Exception error, string directory);
}
