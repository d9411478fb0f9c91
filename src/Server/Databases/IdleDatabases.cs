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
    /// <param name="server">Whose databases.</param>
    /// <param name="lacksRoom">Whether there is no room for one more open database.</param>
    public IdleDatabases(ServerContext server, Func<bool> lacksRoom)
    {
        gate = server.Databases;
        idle = server.Limits.DatabaseIdleTimeout;
        pause = idle / 4 < _longestPause ? idle / 4 : _longestPause;
        gate.LacksRoom = lacksRoom;
        timer = server.Clock.CreateTimer(
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
