namespace Treepie.Server.Http;

/// <summary>Limits the log messages of one kind per second, so that clients cannot fill the disk. Thread-safe.</summary>
internal sealed class LineBudget(int mostPerSecond, TimeProvider clock)
{
    private readonly Lock _sync = new();
    private long _second;
    private int _lines;

    /// <summary>Returns whether a message may be written.</summary>
    /// <param name="untold">
    /// The number of messages suppressed in the last second with any, when a new second starts; otherwise 0.
    /// </param>
    public bool TryTake(out int untold)
    {
        lock (_sync)
        {
            long second = clock.GetUtcNow().ToUnixTimeSeconds();
            bool isNew = second != _second;
            untold = isNew ? Math.Max(0, _lines - mostPerSecond) : 0;
            _lines = isNew ? 1 : _lines + 1;
            _second = second;
            return _lines <= mostPerSecond;
        }
    }
}
