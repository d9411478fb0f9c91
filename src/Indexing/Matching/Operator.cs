using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Matching;

/// <summary>
/// A node of a running query. It is called once per window of 4,096 entries, so the cost of a virtual call is negligible;
/// within a window, kernels process bitmaps and short lists.
/// </summary>
/// <remarks>
/// Windows may be requested in any order; ascending order is cheap. The caller owns the loop: <c>for (w = Next(0); w != End;
/// w = Next(w + 1)) Fill(w, set)</c>.
/// </remarks>
internal abstract class Operator(QueryContext context, MatchEstimate expected, OperatorCost cost)
{
    /// <summary>The bound of a window without matches.</summary>
    public const float NoMatch = -1;

    /// <summary>Returned by <see cref="Next"/> if no window is left.</summary>
    public const long End = PostingCursor.End;

    protected QueryContext Context { get; } = context;

    /// <summary>How many entries match, as far as it is known before the query runs.</summary>
    public MatchEstimate Expected { get; protected set; } = expected;

    /// <summary>Upper bound on the number of matching entries; exact if <see cref="IsExact"/>.</summary>
    public long Estimate => Expected.Most;

    /// <summary>Whether <see cref="Estimate"/> is the exact number.</summary>
    public bool IsExact => Expected.IsExact;

    /// <summary>Cost of a window and of a single entry, for choosing between the two.</summary>
    public OperatorCost Cost { get; } = cost;

    /// <summary>The decision made when the operator was created, for the plan.</summary>
    public PlanDecision? Decision { get; set; }

    /// <summary>
    /// Describes the operator for the plan: operation, field, label and the operators below it. Called once before the query
    /// runs, and only if a plan is requested. The wrapping <see cref="TracedOperator"/> records what the operator does.
    /// </summary>
    public virtual PlanNode Describe()
    {
        string name = GetType().Name;
        return new PlanNode(name.Replace(nameof(Operator), "", StringComparison.Ordinal).ToLowerInvariant())
        {
            Estimate = Estimate,
            IsExact = IsExact
        };
    }

    /// <summary>
    /// Returns the first window at or after <paramref name="from"/> that may have matches, or <see cref="End"/>.
    /// </summary>
    public abstract long Next(long from);

    /// <summary>
    /// Returns the first window at or after <paramref name="from"/> in which all of the operators (at least one) may have
    /// matches, or <see cref="End"/>.
    /// </summary>
    protected static long NextOfAll<TOperator>(ReadOnlySpan<TOperator> operators, long from)
        where TOperator : Operator
    {
        Debug.Assert(operators.Length > 0 && from >= 0, "there is a window that all operators may agree on");
        long window = from;
        for (int agreed = 0; agreed < operators.Length;)
        {
            agreed = 0;
            foreach (TOperator one in operators)
            {
                long next = one.Next(window);
                if (next == End)
                    return End;
                if (next != window)
                {
                    Debug.Assert(next > window, "an operator moves forward only");
                    window = next;
                    break;
                }

                agreed++;
            }
        }

        return window;
    }

    /// <summary>Replaces the set by the matches in the window.</summary>
    public abstract void Fill(long window, WindowSet set);

    /// <summary>
    /// Combines the set with the matches: keeps the members that match, adds all matches, or removes those that match. Keeping
    /// and removing may evaluate only members.
    /// </summary>
    public virtual void Combine(long window, WindowSet set, SetOperation operation)
    {
        WindowSet mine = Context.Rent();
        Fill(window, mine);
        set.Combine(operation, mine);
        Context.Return(mine);
    }

    /// <summary>Keeps the members that match.</summary>
    public void And(long window, WindowSet set) => Combine(window, set, SetOperation.And);

    /// <summary>
    /// Filters ascending offsets of a window in place: keeps those that match if <paramref name="wanted"/>, otherwise those
    /// that do not. Returns how many are kept.
    /// </summary>
    public virtual int Keep(long window, Span<ushort> offsets, bool wanted)
    {
        WindowSet mine = Context.Rent();
        mine.SetOffsets(offsets);
        Combine(window, mine, wanted ? SetOperation.And : SetOperation.AndNot);
        int kept = mine.CopyTo(offsets);
        Context.Return(mine);
        return kept;
    }

    /// <summary>Whether one entry matches.</summary>
    public virtual bool Contains(long id)
    {
        WindowSet mine = Context.Rent();
        Fill(id >> PostingWindow.SizeBits, mine);
        bool contains = mine.Contains((int)(id & (PostingWindow.Size - 1)));
        Context.Return(mine);
        return contains;
    }

    /// <summary>
    /// Adds this operator's score to each hit that matches it. <paramref name="scores"/> is parallel to
    /// <paramref name="hits"/>, which are ascending offsets in the window. By default a match scores
    /// <paramref name="boost"/>.
    /// </summary>
    /// <param name="window">The window.</param>
    /// <param name="hits">Offsets in the window, ascending.</param>
    /// <param name="scores">The score of each hit, to be added to.</param>
    /// <param name="boost">Multiplies what is added.</param>
    /// <param name="allMatch">Whether all hits are known to match, so that this need not be checked.</param>
    public virtual void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost, bool allMatch)
    {
        WindowSet mine = Context.Rent();
        Fill(window, mine);
        for (int i = 0; i < hits.Length; i++)
        {
            if (mine.Contains(hits[i]))
                scores[i] += boost;
        }

        Context.Return(mine);
    }

    /// <summary>
    /// Adds to each of the window's 64 blocks of 64 entries an upper bound on what <see cref="Score"/> adds to an entry in
    /// it. By default a match scores <paramref name="boost"/>, which is the bound. Entries that cannot score the threshold of
    /// an earlier <see cref="Select"/> need no bound, since thresholds do not fall.
    /// </summary>
    /// <param name="window">The window.</param>
    /// <param name="bounds">The bounds, by block.</param>
    /// <param name="boost">The boost, as for <see cref="Score"/>.</param>
    /// <param name="byEntry">Where given, terms add bounds of single entries to it instead, where that is cheap.</param>
    public virtual void AddBounds(long window, Span<float> bounds, float boost, EntryBounds? byEntry = null)
    {
        foreach (ref float bound in bounds)
            bound += boost;
    }

    /// <summary>
    /// Writes, for every window of the index, an upper bound, not necessarily tight, on what <see cref="Score"/> adds to an
    /// entry of it, or <see cref="NoMatch"/> where nothing can match.
    /// </summary>
    public virtual void Bounds(Span<float> windows, float boost)
    {
        windows.Fill(NoMatch);
        Span<float> blocks = stackalloc float[PostingWindow.Blocks];
        for (long window = Next(0); window < windows.Length; window = Next(window + 1))
        {
            Context.Check();
            blocks.Clear();
            AddBounds(window, blocks, boost);
            windows[(int)window] = BoundKernels.Largest(blocks);
        }
    }

    /// <summary>How many entries of a window match.</summary>
    public virtual int Count(long window)
    {
        WindowSet mine = Context.Rent();
        Fill(window, mine);
        int count = mine.Count;
        Context.Return(mine);
        return count;
    }

    /// <summary>
    /// Replaces the set by the window's matches that may score <paramref name="threshold"/>, excluding others as far as
    /// cheap upper bounds allow; all matches if the threshold is not positive. Returns the number of all matches if
    /// <paramref name="counts"/>, otherwise the size of the set. The threshold must be at least that of every earlier call.
    /// </summary>
    public virtual int Select(long window, WindowSet set, float threshold, bool counts)
    {
        Fill(window, set);
        return set.Count;
    }

    /// <summary>
    /// Removes hits of a window that cannot score <paramref name="threshold"/>, where the operator knows more than the block
    /// bounds of <see cref="AddBounds"/>.
    /// </summary>
    public virtual void Narrow(long window, Span<ulong> hits, float threshold)
    {
    }
}
