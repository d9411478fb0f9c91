using Treepie.Computations;

namespace Treepie.Computing.Values;

/// <summary>A computation fails over the values it is given.</summary>
internal sealed class ComputingException(string message) : Exception(message)
{
    /// <summary>As the engine of indexes expects it.</summary>
    public ComputationException AsComputation() => new(Message, this);
}
