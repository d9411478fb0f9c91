namespace Treepie;

/// <summary>
/// Thrown when the names of several folders of a catalogue differ only by case, so that they claim the same database name. The
/// message lists them; none is opened, changed or deleted.
/// </summary>
public sealed class AmbiguousDatabaseException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public AmbiguousDatabaseException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
