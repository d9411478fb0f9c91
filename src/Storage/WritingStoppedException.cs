namespace Treepie.Storage;

/// <summary>
/// Thrown when writing has stopped permanently after an error. Nothing of this command was kept: it did not run, or was undone.
/// Reads still work. Opening the environment again recovers what is on the disk. A command whose outcome is unknown throws a
/// <see cref="CommitOutcomeUnknownException"/> instead.
/// </summary>
public sealed class WritingStoppedException : StorageException
{
    /// <summary>Creates the exception.</summary>
    public WritingStoppedException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
