namespace Treepie.Indexing.Analysis.Parts;

/// <summary>One of the term filters that an analyzer composed of parts applies in order. Immutable.</summary>
internal abstract class TermFilter
{
    /// <summary>Passes on the result of filtering a term: one term, several at its position, or none.</summary>
    /// <param name="term">The term; valid during this call.</param>
    /// <param name="chain">Passes terms to the filters after this one.</param>
    /// <param name="place">Index of this filter in the chain.</param>
    public abstract void Apply(ReadOnlySpan<byte> term, TermChain chain, int place);

    /// <summary>Whether the filter also applies to a fragment of a word (<c>run*</c>).</summary>
    public virtual bool SuitsPieces => false;

    /// <summary>The filter for the words of a query; null if they pass unchanged.</summary>
    public virtual TermFilter? ForQueries => this;

    /// <summary>Whether the filter may reject a term by throwing.</summary>
    public virtual bool MayThrow => false;
}
