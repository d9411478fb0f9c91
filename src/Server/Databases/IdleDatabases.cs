namespace Treepie.Server.Databases;

/// <summary>
/// Closes the databases of the server's own program that nobody has used for a while, so that a server with thousands of them
/// holds the memory and the files of those in use; sooner where the process has no files left for another. Until it is
/// disposed.
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

    /// <summary>Begins.</summary>
    /// <param name="gate">The databases.</param>
    /// <param name="idle">How long one is left alone before it is closed.</param>
    /// <param name="clock">Tells the time.</param>
    /// <param name="lacksRoom">Whether there is no room for one more open database.</param>
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
            return; // the catalogue is closed
        }

        lock (_sync)
            if (!_disposed)
                _timer.Change(_pause, Timeout.InfiniteTimeSpan);
    }
}
