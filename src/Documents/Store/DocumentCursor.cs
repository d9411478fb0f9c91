namespace Treepie.Store;

/// <summary>Documents one after the other. Ends with its snapshot.</summary>
public sealed class DocumentCursor : IDisposable
{
    internal DocumentCursor()
    {
    }

    /// <summary>The document it stands on.</summary>
    public Document Current => throw new NotImplementedException();

    /// <summary>Goes to the next; false after the last.</summary>
    public bool MoveNext() => throw new NotImplementedException();

    /// <inheritdoc/>
    public void Dispose() => throw new NotImplementedException();
}
