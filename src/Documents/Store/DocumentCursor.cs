namespace Treepie.Store;

/// <summary>Iterates over documents. Valid until its snapshot is disposed.</summary>
public abstract class DocumentCursor : IDisposable
{
    private protected DocumentCursor()
    {
    }

    /// <summary>
    /// The current document. Must not be read before the first call of <see cref="MoveNext"/> or after it has returned false.
    /// </summary>
    public abstract Document Current { get; }

    /// <summary>Advances to the next document; returns false after the last one.</summary>
    public abstract bool MoveNext();

    /// <summary>
    /// Leaves so many documents behind before the first <see cref="MoveNext"/>, again and again if need be, as far as there are
    /// so many, without looking at them where that can be; gives how many.
    /// </summary>
    internal virtual long Skip(long most)
    {
        long skipped = 0;
        while (skipped < most && MoveNext())
            skipped++;
        return skipped;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    private protected abstract void Dispose(bool disposing);
}
