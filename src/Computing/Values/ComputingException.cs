using Treepie.Computations;

namespace Treepie.Computing.Values;

/// <summary>A computation that failed because of its values.</summary>
internal sealed class ComputingException(string message) : Exception(message)
{
    /// <summary>Converts it to the exception that indexes expect.</summary>
    public ComputationException AsComputation() => new(Message, this);
}
