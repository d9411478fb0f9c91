namespace Treepie.Store;

/// <summary>Documents one after the other. Ends with its snapshot.</summary>
public abstract class DocumentCursor : IDisposable
{
    private protected DocumentCursor()
    {
    }

    /// <summary>The document it stands on; not to be read before the first <see cref="MoveNext"/> or after the last.</summary>
    public abstract Document Current { get; }

    /// <summary>Goes to the next; false after the last.</summary>
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
