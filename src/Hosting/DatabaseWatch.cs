using Microsoft.Extensions.Logging;
using Treepie.Indexes;

namespace Treepie.Extensions.Hosting;

/// <summary>
/// Logs what happens to a database between requests, once for each change: that it cannot be written, that an index has stopped,
/// that documents could not be indexed.
/// </summary>
internal sealed partial class DatabaseWatch : IDisposable
{
    private readonly Database _database;
    private readonly ILogger _log;
    private readonly Dictionary<string, (IndexState State, long Errors)> _indexes = [];
    private readonly Lock _lock = new();
    private readonly ITimer _timer;
    private string? _fault;
    private bool _disposed;

    public DatabaseWatch(Database database, ILogger log, TimeProvider clock, TimeSpan interval)
    {
        (_database, _log) = (database, log);
        Look();
        _timer = clock.CreateTimer(static watch => ((DatabaseWatch)watch!).Look(), this, interval, interval); // this
    }

    /// <summary>Ends the checks; after it none runs any more.</summary>
    public void Dispose()
    {
        _timer.Dispose();
        lock (_lock)
            _disposed = true;
    }

    private void Look()
    {
        lock (_lock)
        {
            if (_disposed)
                return;
            try
            {
                LookAtWriting();
                foreach (IndexStatistics index in _database.Indexes.List())
                    LookAt(index);
            }
            catch (Exception error) when (error is TreepieException or ObjectDisposedException or IOException)
            {
                Unknown(_log, error, _database.Name);
            }
        }
    }

    private void LookAtWriting()
    {
        string? fault = _database.WritingFault;
        if (fault is not null && _fault is null)
            CannotWrite(_log, _database.Name, fault);
        else if (fault is null && _fault is not null)
            CanWrite(_log, _database.Name);
        _fault = fault;
    }

    private void LookAt(IndexStatistics index)
    {
        (IndexState state, long errors) = _indexes.GetValueOrDefault(index.Name);
        if (index.State == IndexState.Error && state != IndexState.Error)
            Stopped(_log, index.Name, _database.Name, index.Error ?? "its errors say why");
        if (index.ErrorCount > errors)
        {
            IReadOnlyList<IndexError> kept = _database.Indexes.Errors(index.Name);
            string last = kept.Count > 0 ? kept[kept.Count - 1].Message : index.Error ?? "unknown";
            Failed(_log, index.Name, _database.Name, index.ErrorCount - errors, last);
        }

        _indexes[index.Name] = (index.State, index.ErrorCount);
    }

    [LoggerMessage(
        EventId = 4, Level = LogLevel.Error,
        Message = "The database {Database} cannot be written: {Fault}. Reads go on; it is tried again with the next write")]
    private static partial void CannotWrite(ILogger log, string database, string fault);

    [LoggerMessage(EventId = 5, Level = LogLevel.Information, Message = "The database {Database} can be written again")]
    private static partial void CanWrite(ILogger log, string database);

    [LoggerMessage(
        EventId = 6, Level = LogLevel.Error,
        Message = "The index {Index} of the database {Database} has stopped: {Error}. Mend its definition and reset it")]
    private static partial void Stopped(ILogger log, string index, string database, string error);

    [LoggerMessage(
        EventId = 7, Level = LogLevel.Warning,
        Message = "The index {Index} of the database {Database} had {Count} more errors, the last: {Error}")]
    private static partial void Failed(ILogger log, string index, string database, long count, string error);

    [LoggerMessage(EventId = 8, Level = LogLevel.Error, Message = "The state of the database {Database} cannot be read")]
    private static partial void Unknown(ILogger log, Exception error, string database);
}
