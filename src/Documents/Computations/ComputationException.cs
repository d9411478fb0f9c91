namespace Treepie.Computations;

/// <summary>The failure of a computation for one document or group; others are not affected.</summary>
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
