namespace Treepie.Computations;

/// <summary>
/// The reduce of an index: makes of objects that have the same values in its keys objects of the same form. Thread-safe.
/// </summary>
internal abstract class IndexReduce
{
    /// <summary>Members whose values together are the key of a group, in the order of the text.</summary>
    public abstract IReadOnlyList<string> Keys { get; }

    /// <summary>Fields of its objects.</summary>
    public abstract IReadOnlyList<MappedField> Fields { get; }

    /// <summary>
    /// Whether the result does not depend, to the last byte, on how the objects are split into partial results. New objects are
    /// then reduced with the existing result, instead of reducing all objects of a leaf again.
    /// </summary>
    public virtual bool AddsUp => false;

    /// <summary>
    /// Whether its objects may have fields with names computed from their values, see <see cref="MappedField.Dynamic"/>.
    /// </summary>
    public virtual bool HasDynamicFields => false;

    /// <summary>Reduces objects of one key, which may be results of earlier reduces.</summary>
    /// <param name="values">JSON objects, one or more.</param>
    /// <param name="output">Takes the results.</param>
    /// <exception cref="ComputationException">It fails for this group; what it has added is to be forgotten.</exception>
    public abstract void Reduce(IReadOnlyList<ReadOnlyMemory<byte>> values, MapOutput output);
}
