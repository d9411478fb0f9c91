namespace Treepie;

/// <summary>Thrown when a counter would overflow a 64-bit integer. Nothing was changed.</summary>
public sealed class CounterOverflowException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public CounterOverflowException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
