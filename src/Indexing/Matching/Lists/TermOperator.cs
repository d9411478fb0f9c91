using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.Matching.Lists;

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

    /// <summary>Opens its postings as a list.</summary>
    public abstract void Open(PostingList list);

    /// <summary>
    /// The positions of the term in an entry that has it, ascending; they live until the next call. Only where the operator
    /// was opened with positions. Entries are mostly asked for in ascending order, which is cheap.
    /// </summary>
    public abstract ReadOnlySpan<int> Positions(long id);

    /// <summary>
    /// As <see cref="Positions"/>, of several entries of a window at once, which ascend; an entry that has not the term has none.
    /// </summary>
    public abstract void CopyPositions(long window, ReadOnlySpan<ushort> entries, PositionTable table);

    /// <summary>
    /// Its windows, ascending, that <see cref="Expect"/> or <see cref="ExpectAll"/> has found; empty for a short list.
    /// </summary>
    public virtual ReadOnlySpan<HeldWindow> Windows => default;

    /// <summary>
    /// Says that it is going to be asked about entries of a window, and others after it, which ascend: it looks for them now and
    /// asks for what lies there. Others may be asked about as well.
    /// </summary>
    /// <param name="window">The window.</param>
    /// <param name="entries">The entries.</param>
    public virtual void Expect(long window, ReadOnlySpan<ushort> entries)
    {
    }

    /// <summary>
    /// Says that it is going to be asked about several windows, which ascend: it finds them together, before <see cref="Expect"/>
    /// is called for each.
    /// </summary>
    public virtual void ExpectEach(ReadOnlySpan<long> windows)
    {
    }

    /// <summary>As <see cref="Expect"/>, of a window that somebody has found.</summary>
    public virtual void Hold(in HeldWindow window)
    {
    }

    /// <summary>
    /// Says that it is going to be asked for positions in a window, all of whose entries that are asked about have the term: see
    /// <see cref="LocatePositions"/>.
    /// </summary>
    public virtual void ExpectPositions(long window)
    {
    }

    /// <summary>Says that it is going to be asked about most of its windows: it finds all of them now.</summary>
    public virtual void ExpectAll()
    {
    }

    /// <summary>Forgets the windows it was going to be asked about.</summary>
    public virtual void ExpectNone()
    {
    }

    /// <summary>
    /// Looks for the positions of some entries of a window, which ascend and all have the term, and asks for them:
    /// <see cref="ReadMasks"/> reads those of all calls before it.
    /// </summary>
    public abstract void LocatePositions(long window, ReadOnlySpan<ushort> entries);

    /// <summary>
    /// Reads positions as masks, see <see cref="Kernels.PositionKernels"/>: those of all entries that were asked for by
    /// <see cref="LocatePositions"/>, in that order.
    /// </summary>
    public abstract void ReadMasks(Span<ulong> masks, Span<byte> isLong);

    /// <summary>How many entries of a window have the term, where its positions can be copied as a whole; 0 otherwise.</summary>
    public virtual int PlacesIn(long window) => 0;

    /// <summary>Copies the positions of all entries of a window; false where they are not for that.</summary>
    public virtual bool TryCopyPlaces(long window, WindowPlaces places) => false;

    /// <summary>
    /// By block of a window, the most that the part of BM25 which depends on the entry can be, 0 to 1 or a little above; 1 where
    /// nothing is known.
    /// </summary>
    public abstract void Parts(long window, Span<float> parts);

    /// <summary>
    /// By window of the index, the most that this part can be; <see cref="Operator.NoMatch"/> where no entry has the term.
    /// </summary>
    public abstract void PartBounds(Span<float> windows);
}
