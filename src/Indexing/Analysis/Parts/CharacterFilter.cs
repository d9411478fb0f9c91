namespace Treepie.Indexing.Analysis.Parts;

/// <summary>Changes a text before it is split into words. Immutable.</summary>
internal abstract class CharacterFilter
{
    /// <summary>Whether the filter also applies to a fragment of a word (<c>run*</c>).</summary>
    public virtual bool SuitsPieces => false;

    /// <summary>Writes the filtered text.</summary>
    public abstract void Apply(ReadOnlySpan<byte> text, FilteredText result);
}
