namespace Treepie.Server.Limits;

/// <summary>The number of bytes that all requests may hold together. Thread-safe.</summary>
internal sealed class BufferBudget(long most)
{
    private long _held;

    /// <summary>The number of bytes currently held.</summary>
    public long HeldBytes => Interlocked.Read(ref _held);

    /// <summary>Creates an empty lease for one request.</summary>
    public BufferLease Open() => new(this);

    internal void Take(long bytes)
    {
        long now = Interlocked.Add(ref _held, bytes);
        if (now <= most)
            return;

        Interlocked.Add(ref _held, -bytes);
        throw WireException.Busy(
            $"The server holds {now - bytes:N0} bytes of requests and may hold {most:N0}; this request needs {bytes:N0} more. "
                + $"Nothing was changed. Try again later, or send less at a time.");
    }

    internal void Return(long bytes) => Interlocked.Add(ref _held, -bytes);
}
