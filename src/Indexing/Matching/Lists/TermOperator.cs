using Treepie.Indexing.Kernels;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.Matching.Lists;

/// <summary>The entries of one term, with the positions of the term in them.</summary>
internal abstract class TermOperator(QueryContext context, long count, OperatorCost cost)
    : Operator(context, MatchEstimate.Exactly(count), cost)
{
    /// <summary>The field, for the plan; null for lists that belong to no field.</summary>
    public string? Field { get; init; }

    /// <summary>The term, for the plan.</summary>
    public string? Term { get; init; }

    /// <summary>Scores the entries; null if each match scores the boost.</summary>
    public abstract TermScorer? Scorer { get; }

    /// <summary>The kind of posting list, for the plan.</summary>
    protected abstract string Form { get; }

    /// <summary>
    /// Returns the term that a clause is, possibly boosted or with a constant score; null for anything else.
    /// </summary>
    public static TermOperator? Of(Operator clause) => clause switch
    {
        TracedOperator traced => Of(traced.Inner),
        SameMatchesOperator same => Of(same.Clause),
        _ => clause as TermOperator,
    };

    /// <summary>
    /// Announces that the term is about to be evaluated together with others, so that the operating system can read all
    /// their pages ahead.
    /// </summary>
    public virtual void Announce()
    {
    }

    /// <summary>
    /// As <see cref="Announce"/>, for the lengths of the term's entries, which are many pages and are read last. Called for
    /// each term after all terms have announced the rest.
    /// </summary>
    public virtual void AnnounceLengths()
    {
    }

    public override PlanNode Describe() => new(Form, Field, Term) { Estimate = Estimate, IsExact = true };

    /// <summary>Opens a <see cref="PostingList"/> over the term's postings.</summary>
    public abstract void Open(PostingList list);

    /// <summary>
    /// Returns the positions of the term in an entry, ascending and valid until the next call; empty if the entry does not
    /// have the term. Requires that the operator was opened with positions. Cheap in ascending order of entries.
    /// </summary>
    public abstract ReadOnlySpan<int> Positions(long id);

    /// <summary>
    /// As <see cref="Positions"/>, for several ascending entries of a window. An entry without the term has no positions.
    /// </summary>
    public abstract void CopyPositions(long window, ReadOnlySpan<ushort> entries, PositionTable table);

    /// <summary>
    /// Locates windows and positions of a long list before they are evaluated; null for a short list, which is decoded
    /// already. Other windows may still be evaluated. Requires that the operator was opened with positions.
    /// </summary>
    public virtual WindowsAhead? Ahead => null;

    /// <summary>
    /// Locates and prefetches the positions of ascending entries of a window, which all have the term. A later
    /// <see cref="ReadMasks"/> reads those of all calls made before it.
    /// </summary>
    public abstract void LocatePositions(long window, ReadOnlySpan<ushort> entries);

    /// <summary>
    /// Reads as masks (see <see cref="Kernels.PositionKernels"/>) the positions of all entries located by
    /// <see cref="LocatePositions"/>, in the same order.
    /// </summary>
    public abstract void ReadMasks(Span<ulong> masks, Span<byte> isLong);

    public override void AddBounds(long window, Span<float> bounds, float boost, EntryBounds? byEntry)
    {
        Span<float> parts = stackalloc float[PostingWindow.Blocks];
        Parts(window, parts);
        BoundKernels.AddScaled(bounds, parts, Weight(boost));
    }

    public override void Bounds(Span<float> windows, float boost)
    {
        PartBounds(windows);
        float weight = Weight(boost);
        foreach (ref float bound in windows)
            bound = bound < 0 ? NoMatch : bound * weight;
    }

    /// <summary>The score of an entry-dependent part of 1.</summary>
    private float Weight(float boost) => Scorer is null ? boost : Scorer.Weight(boost);

    /// <summary>
    /// Writes, for each block of a window, an upper bound on the entry-dependent part of the BM25 score: 0 to 1 or slightly
    /// above, or 1 if nothing is known.
    /// </summary>
    public abstract void Parts(long window, Span<float> parts);

    /// <summary>
    /// Writes, for each window of the index, an upper bound on this part, or <see cref="Operator.NoMatch"/> if no entry has
    /// the term.
    /// </summary>
    public abstract void PartBounds(Span<float> windows);
}
