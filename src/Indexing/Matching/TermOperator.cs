using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.Matching;

/// <summary>The entries of one term, which also knows where it stands in them.</summary>
internal abstract class TermOperator(QueryContext context) : Operator(context)
{
    /// <summary>The field, for the plan; null for lists that are of no field.</summary>
    public string? Field { get; init; }

    /// <summary>The term, for the plan.</summary>
    public string? Term { get; init; }

    /// <summary>Scores its entries; null where a match counts the boost.</summary>
    public abstract TermScorer? Scorer { get; }

    /// <summary>How its entries lie, for the plan.</summary>
    protected abstract string Form { get; }

    public override PlanNode Describe() => new(Form, Field, Term) { Estimate = Estimate, IsExact = true };

    /// <summary>
    /// The positions of the term in an entry that has it, ascending; they live until the next call. Only where the operator
    /// was opened with positions. Entries are mostly asked for in ascending order, which is cheap.
    /// </summary>
    public abstract ReadOnlySpan<int> Positions(long id);

    /// <summary>As <see cref="Positions"/>, of several entries of a window at once, which ascend; an entry that has not the term has none.</summary>
    public abstract void CopyPositions(long window, ReadOnlySpan<ushort> entries, PositionTable table);

    /// <summary>As <see cref="CopyPositions"/>, as masks, see <see cref="Kernels.PositionKernels"/>; all entries have the term.</summary>
    public abstract void ReadMasks(long window, ReadOnlySpan<ushort> entries, Span<ulong> masks, Span<byte> isLong);

    /// <summary>How many entries of a window have the term, where its positions can be copied as a whole; 0 otherwise.</summary>
    public virtual int PlacesIn(long window) => 0;

    /// <summary>Copies the positions of all entries of a window; false where they are not for that.</summary>
    public virtual bool TryCopyPlaces(long window, WindowPlaces places) => false;

    /// <summary>
    /// By block of a window, the most that the part of BM25 which depends on the entry can be, 0 to 1 or a little above; 1 where nothing is known.
    /// </summary>
    public abstract void Parts(long window, Span<float> parts);

    /// <summary>By window of the index, the most that this part can be; <see cref="Operator.NoMatch"/> where no entry has the term.</summary>
    public abstract void PartBounds(Span<float> windows);
}
