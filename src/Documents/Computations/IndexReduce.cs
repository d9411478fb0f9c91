namespace Treepie.Computations;

/// <summary>
/// The reduce of an index: combines objects that have the same key into objects with the same members. Thread-safe.
/// </summary>
internal abstract class IndexReduce
{
    /// <summary>The members whose values form the key of a group, in the order of the source text.</summary>
    public abstract IReadOnlyList<string> Keys { get; }

    /// <summary>The fields of the results.</summary>
    public abstract IReadOnlyList<MappedField> Fields { get; }

    /// <summary>
    /// Whether the result does not depend, to the last byte, on how the objects are split into partial results. New objects are
    /// then reduced with the existing result, instead of reducing all objects of a leaf again.
    /// </summary>
    public virtual bool AddsUp => false;

    /// <summary>
    /// Whether its objects may have members that are not among <see cref="Fields"/>: each is a field as soon as an object has it.
    /// </summary>
    public virtual bool IsOpen => false;

    /// <summary>
    /// Whether its objects may have fields with names computed from their values, see <see cref="MappedField.Dynamic"/>.
    /// </summary>
    public virtual bool HasDynamicFields => false;

    /// <summary>Reduces objects of one key, which may be results of earlier reduces.</summary>
    /// <param name="values">JSON objects, one or more.</param>
    /// <param name="output">Receives the results.</param>
    /// <exception cref="ComputationException">The reduce fails for this group; the caller must discard its
    /// output.</exception>
    public abstract void Reduce(IReadOnlyList<ReadOnlyMemory<byte>> values, MapOutput output);
}
