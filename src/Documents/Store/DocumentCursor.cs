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
    /// Skips documents before the first <see cref="MoveNext"/>, as far as there are enough and if possible without examining
    /// them; returns the number skipped. May be called repeatedly.
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
