namespace Treepie.Computations;

/// <summary>A computation fails for the document or group that it is run over; others are not concerned.</summary>
internal sealed class ComputationException : Exception
{
    public ComputationException(string message)
        : base(message)
    {
    }

    public ComputationException(string message, Exception inner)
        : base(message, inner)
    {
    }
}
