namespace Treepie.Indexing.Analysis.Parts;

/// <summary>Changes a text before words are found in it. Immutable.</summary>
internal abstract class CharacterFilter
{
    /// <summary>Whether a piece of a word (<c>run*</c>) is changed by it as texts are.</summary>
    public virtual bool SuitsPieces => false;

    /// <summary>Writes the text as it is behind the filter.</summary>
    public abstract void Apply(ReadOnlySpan<byte> text, FilteredText result);
}
