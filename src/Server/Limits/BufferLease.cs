namespace Treepie.Server.Limits;

/// <summary>
/// The share of one request in the <see cref="BufferBudget"/>, returned when it is disposed. Not thread-safe.
/// </summary>
internal sealed class BufferLease(BufferBudget budget) : IDisposable
{
    private long _bytes;

    /// <summary>The number of bytes held.</summary>
    public long Bytes => _bytes;

    /// <summary>Takes more bytes.</summary>
    /// <exception cref="WireException">All requests together would exceed the limit.</exception>
    public void Grow(long more)
    {
        budget.Take(more);
        _bytes += more;
    }

    /// <summary>Returns bytes.</summary>
    public void Shrink(long less)
    {
        budget.Return(less);
        _bytes -= less;
    }

    public void Dispose()
    {
        budget.Return(_bytes);
        _bytes = 0;
    }
}
