using Microsoft.Extensions.Logging;
using Treepie.Sessions;

namespace Treepie.Extensions.Hosting;

/// <summary>Opens a database once and closes it when the host stops.</summary>
internal sealed partial class DatabaseHolder(
    TreepieHostingOptions options, Func<Database, DocumentSession> openSession, ILogger<DatabaseHolder> log,
    TimeProvider timeProvider) : IDisposable, IAsyncDisposable
{
    private readonly Lock _lock = new();
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
            (Database? database, _database) = (_database, null);
            return database;
        }
    }

    private Database Open()
    {
        long began = timeProvider.GetTimestamp();
        Database database = options.Open();
        Opened(log, database.Name, database.DataDirectory, timeProvider.GetElapsedTime(began).TotalMilliseconds);
        return database;
    }

    [LoggerMessage(
        EventId = 1, Level = LogLevel.Information,
        Message = "Opened the database {Database} in {Directory} in {Milliseconds:F0} ms")]
    private static partial void Opened(ILogger log, string database, string directory, double milliseconds);

    [LoggerMessage(EventId = 2, Level = LogLevel.Information, Message = "Closed the database {Database}")]
    private static partial void Closed(ILogger log, string database);
}
