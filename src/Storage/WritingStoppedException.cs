namespace Treepie.Storage;

/// <summary>
/// Writing has stopped for good after an error, and nothing of this command was kept: it did not run, or was undone. Reads go on.
/// Opening the environment again recovers what the disk has. A command whose outcome is not known gets a
/// <see cref="CommitOutcomeUnknownException"/> instead.
/// </summary>
public sealed class WritingStoppedException : StorageException
{
    /// <summary>Creates the error.</summary>
    public WritingStoppedException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
