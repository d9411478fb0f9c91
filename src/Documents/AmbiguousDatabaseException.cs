namespace Treepie;

/// <summary>
/// Several folders of a catalogue claim the name of one database, because their names differ by case alone. The message names
/// them; none is opened, changed or deleted.
/// </summary>
public sealed class AmbiguousDatabaseException : TreepieException
{
    /// <summary>Creates the error.</summary>
    public AmbiguousDatabaseException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
