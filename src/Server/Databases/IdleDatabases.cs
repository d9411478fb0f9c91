namespace Treepie.Server.Databases;

/// <summary>
/// Closes the databases of the server's own program that nobody has used for a while, so that a server with thousands of them
/// holds the memory and the files of those in use; sooner where the process has no files left for another. Until it is
/// disposed.
/// </summary>
internal sealed class IdleDatabases : IDisposable
{
    private static readonly TimeSpan _longestPause = TimeSpan.FromMinutes(1);

    private readonly DatabaseGate gate;
    private readonly TimeSpan idle;
    private readonly TimeSpan pause;
    private readonly Lock sync = new();
    private readonly ITimer timer;
    private bool disposed;

    /// <summary>Begins.</summary>
    /// <param name="gate">The databases.</param>
    /// <param name="idle">How long one is left alone before it is closed.</param>
    /// <param name="clock">Tells the time.</param>
    /// <param name="lacksRoom">Whether there is no room for one more open database.</param>
    public IdleDatabases(DatabaseGate gate, TimeSpan idle, TimeProvider clock, Func<bool> lacksRoom)
    {
        this.gate = gate;
        this.idle = idle;
        pause = idle / 4 < _longestPause ? idle / 4 : _longestPause;
        gate.LacksRoom = lacksRoom;
        timer = clock.CreateTimer(
            static state => ((IdleDatabases)state!).Look(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        timer.Change(pause, Timeout.InfiniteTimeSpan);
    }

    public void Dispose()
    {
        lock (sync)
        {
            disposed = true;
            timer.Dispose();
        }
    }

    private void Look()
    {
        try
        {
            gate.CloseIdle(idle);
        }
        catch (ObjectDisposedException)
        {
            return; // the catalogue is closed
        }

        lock (sync)
            if (!disposed)
                timer.Change(pause, Timeout.InfiniteTimeSpan);
    }
}
