namespace Treepie.Store;

/// <summary>Changes one after the other, by etag; a document stands once, at its last change. Ends with its snapshot.</summary>
public sealed class ChangeFeed : IDisposable
{
    internal ChangeFeed()
    {
    }

    /// <summary>Etag of the current change.</summary>
    public long Etag => throw new NotImplementedException();

    /// <summary>Whether the current change is a deletion; <see cref="Document"/> is then not to be read.</summary>
    public bool IsTombstone => throw new NotImplementedException();

    /// <summary>Id of the document, UTF-8.</summary>
    public ReadOnlySpan<byte> Id => throw new NotImplementedException();

    /// <summary>Collection of the document, UTF-8.</summary>
    public ReadOnlySpan<byte> Collection => throw new NotImplementedException();

    /// <summary>The document.</summary>
    public Document Document => throw new NotImplementedException();

    /// <summary>Goes to the next; false after the last.</summary>
    public bool MoveNext() => throw new NotImplementedException();

    /// <inheritdoc/>
    public void Dispose() => throw new NotImplementedException();
}
