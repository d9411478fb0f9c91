namespace Treepie;

/// <summary>A counter would have left the 64 bits of a whole number. Nothing was changed.</summary>
public sealed class CounterOverflowException : TreepieException
{
    /// <summary>Creates the error.</summary>
    public CounterOverflowException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
