namespace Treepie.Server.Http;

/// <summary>How many lines of one kind a log gets in a second, so that nobody fills the disk with them. Thread-safe.</summary>
internal sealed class LineBudget(int mostPerSecond, TimeProvider clock)
{
    private readonly Lock _sync = new();
    private long _second;
    private int _lines;

    /// <summary>Whether a line may be written.</summary>
    /// <param name="untold">How many were not, in the second before that had too many.</param>
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
