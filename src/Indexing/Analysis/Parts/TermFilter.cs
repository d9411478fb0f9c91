namespace Treepie.Indexing.Analysis.Parts;

/// <summary>One step of the way of a term, as an analyzer of parts has them in a row. Immutable.</summary>
internal abstract class TermFilter
{
    /// <summary>Passes on what a term becomes: one, several at its place, or nothing.</summary>
    /// <param name="term">The term; lives during this call.</param>
    /// <param name="chain">The filters behind this one.</param>
    /// <param name="place">Place of this filter, for its room in the chain.</param>
    public abstract void Apply(ReadOnlySpan<byte> term, TermChain chain, int place);

    /// <summary>Whether a piece of a word (<c>run*</c>) is changed by it as whole words are.</summary>
    public virtual bool SuitsPieces => false;

    /// <summary>The filter for the words of a query; null: they pass as they are.</summary>
    public virtual TermFilter? ForQueries => this;

    /// <summary>Whether a term may be refused.</summary>
    public virtual bool MayThrow => false;
}
