namespace Treepie.Server.Limits;

/// <summary>What one request holds of the <see cref="BufferBudget"/>; disposing gives it back. One thread at a time.</summary>
internal sealed class BufferLease(BufferBudget budget) : IDisposable
{
    private long _bytes;

    /// <summary>Bytes held.</summary>
    public long Bytes => _bytes;

    /// <summary>Holds so many bytes more.</summary>
    /// <exception cref="WireException">All requests together would hold more than they may.</exception>
    public void Grow(long more)
    {
        budget.Take(more);
        _bytes += more;
    }

    /// <summary>Gives so many bytes back.</summary>
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
