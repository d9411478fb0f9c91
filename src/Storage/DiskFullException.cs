using Treepie.Storage.Files;

namespace Treepie.Storage;

/// <summary>Thrown when there is no space for a write. Nothing of it was kept; reads and deletes still work.</summary>
public sealed class DiskFullException : StorageException
{
    /// <summary>Creates the exception.</summary>
    public DiskFullException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }

    /// <summary>Whether an error of the system says that the disk, or the quota of the user, is full.</summary>
    /// <param name="error">The error.</param>
    public static bool IsCausedBy(IOException error) =>
        FileErrors.IsDiskFull(error ?? throw new ArgumentNullException(nameof(error)));
}
