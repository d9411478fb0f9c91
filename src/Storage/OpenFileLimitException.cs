namespace Treepie.Storage;

/// <summary>
/// The process, or the machine, has as many files open as it may. Nothing of the operation was kept, and the environment goes
/// on: close other
/// environments, or raise the limit (<c>ulimit -n</c>).
/// </summary>
public sealed class OpenFileLimitException : StorageException
{
    /// <summary>Creates the error.</summary>
    public OpenFileLimitException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }

    /// <inheritdoc/>
    public override bool IsTransient => true;
}
