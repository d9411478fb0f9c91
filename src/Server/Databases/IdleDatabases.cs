namespace Treepie.Server.Databases;

/// <summary>
/// Closes idle databases of the stand-alone server, so that a server with thousands of databases uses memory and files only
/// for those in use; earlier if the process is running out of files. Active until disposed.
/// </summary>
internal sealed class IdleDatabases : IDisposable
{
    private static readonly TimeSpan _longestPause = TimeSpan.FromMinutes(1);

    private readonly DatabaseGate _gate;
    private readonly TimeSpan _idle;
    private readonly TimeSpan _pause;
    private readonly Lock _sync = new();
    private readonly ITimer _timer;
    private bool _disposed;

    /// <summary>Starts closing idle databases.</summary>
    /// <param name="gate">The databases.</param>
    /// <param name="idle">The time without use after which a database is closed.</param>
    /// <param name="clock">The clock.</param>
    /// <param name="lacksRoom">Returns whether another database must be closed before one can be opened.</param>
    public IdleDatabases(DatabaseGate gate, TimeSpan idle, TimeProvider clock, Func<bool> lacksRoom)
    {
        _gate = gate;
        _idle = idle;
        _pause = idle / 4 < _longestPause ? idle / 4 : _longestPause;
        gate.LacksRoom = lacksRoom;
        _timer = clock.CreateTimer(
            static state => ((IdleDatabases)state!).Look(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _timer.Change(_pause, Timeout.InfiniteTimeSpan);
    }

    public void Dispose()
    {
        lock (_sync)
        {
            _disposed = true;
            _timer.Dispose();
        }
    }

    private void Look()
    {
        try
        {
            _gate.CloseIdle(_idle);
        }
        catch (ObjectDisposedException)
        {
            return; // the catalogue was closed
        }

        lock (_sync)
            if (!_disposed)
                _timer.Change(_pause, Timeout.InfiniteTimeSpan);
    }
}
