namespace Treepie.Storage;

/// <summary>
/// Thrown when the process, or the machine, has reached its limit of open files. Nothing of the operation was kept, and the
/// environment remains usable: close other environments, or raise the limit (<c>ulimit -n</c>).
/// </summary>
public sealed class OpenFileLimitException : StorageException
{
    /// <summary>Creates the exception.</summary>
    public OpenFileLimitException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }

    /// <inheritdoc/>
    public override bool IsTransient => true;
}
