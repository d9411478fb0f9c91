using Treepie.Indexing.Kernels;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Matching;

/// <summary>
/// A node of a running query. It is called once per window of 4,096 entries, so a virtual call costs nothing; inside a
/// window, kernels run over bitmaps and short lists.
/// </summary>
/// <remarks>
/// Windows are mostly asked for in ascending order, which is cheap, but any order is answered. Drivers own the loop:
/// <c>for (w = Next(0); w != End; w = Next(w + 1)) Fill(w, set)</c>.
/// </remarks>
internal abstract class Operator(QueryContext context)
{
    /// <summary>The bound of a window in which nothing matches.</summary>
    public const float NoMatch = -1;

    /// <summary>No window.</summary>
    public const long End = PostingCursor.End;

    protected QueryContext Context { get; } = context;

    /// <summary>Number of entries that match, at the most; exact where <see cref="IsExact"/>.</summary>
    public abstract long Estimate { get; }

    /// <summary>How many entries probably match: a guess from exact counts, the same on every run.</summary>
    public virtual double Likely => Estimate;

    /// <summary>Whether <see cref="Estimate"/> is the number itself.</summary>
    public virtual bool IsExact => false;

    /// <summary>What a window and what a single entry cost, for those who choose between asking for one or the other.</summary>
    public virtual OperatorCost Cost => CostModel.Unknown;

    /// <summary>
    /// Whether it looks at each entry it is asked about, so that others, where their windows cost less, had better be asked
    /// before.
    /// </summary>
    public virtual bool LooksAtSurvivors => false;

    /// <summary>What was decided when it was made, for the plan.</summary>
    public PlanDecision? Decision { get; set; }

    /// <summary>
    /// What the operator is, for the plan of the query: operation, field, label, and below it what it draws from. Asked for once,
    /// before the query runs, and only where a plan is wanted; what it does then is noted by <see cref="TracedOperator"/>, which
    /// stands before it.
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
    /// Says that it will be asked, with others: the system is told what will be read before anybody waits for the first of it.
    /// </summary>
    public virtual void Announce()
    {
    }

    /// <summary>
    /// As <see cref="Announce"/>, of the lengths of its entries, which are many pages and are looked at when all else is there:
    /// those who stand together say so one after the other when all have announced the rest.
    /// </summary>
    public virtual void AnnounceLengths()
    {
    }

    /// <summary>The smallest window from <paramref name="from"/> on that may have matches, or <see cref="End"/>.</summary>
    public abstract long Next(long from);

    /// <summary>
    /// The smallest window from <paramref name="from"/> on that all of some operators, at least one, may have matches in, or
    /// <see cref="End"/>.
    /// </summary>
    protected static long NextOfAll<TOperator>(ReadOnlySpan<TOperator> operators, long from)
        where TOperator : Operator
    {
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
                    window = next;
                    break;
                }

                agreed++;
            }
        }

        return window;
    }

    /// <summary>The set becomes the matches in the window.</summary>
    public abstract void Fill(long window, WindowSet set);

    /// <summary>The set keeps what matches. May look at the survivors only.</summary>
    public virtual void And(long window, WindowSet set)
    {
        WindowSet mine = Context.Rent();
        Fill(window, mine);
        set.And(mine);
        Context.Return(mine);
    }

    /// <summary>The set gains what matches.</summary>
    public virtual void Or(long window, WindowSet set)
    {
        WindowSet mine = Context.Rent();
        Fill(window, mine);
        set.Or(mine);
        Context.Return(mine);
    }

    /// <summary>The set loses what matches.</summary>
    public virtual void AndNot(long window, WindowSet set)
    {
        WindowSet mine = Context.Rent();
        Fill(window, mine);
        set.AndNot(mine);
        Context.Return(mine);
    }

    /// <summary>
    /// Of ascending offsets in a window, keeps those that match, or those that do not, in place; returns how many stay.
    /// </summary>
    public virtual int Keep(long window, Span<ushort> offsets, bool wanted)
    {
        WindowSet mine = Context.Rent();
        mine.SetOffsets(offsets);
        if (wanted)
            And(window, mine);
        else
            AndNot(window, mine);
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
    /// Adds this operator's part to the scores of those hits that match it: <paramref name="scores"/> runs parallel to
    /// <paramref name="hits"/>, ascending offsets in the window. By default a match counts <paramref name="boost"/>.
    /// </summary>
    public virtual void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost)
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
    /// Adds to each of the 64 blocks of a window (of 64 entries each) the most that <see cref="Score"/> can give an entry in it.
    /// By default a match counts <paramref name="boost"/>, so that is the most.
    /// </summary>
    public virtual void AddBounds(long window, Span<float> bounds, float boost)
    {
        foreach (ref float bound in bounds)
            bound += boost;
    }

    /// <summary>As <see cref="AddBounds"/>, by entry where that is cheaply told.</summary>
    public virtual void AddEntryBounds(long window, EntryBounds bounds, float boost) => AddBounds(window, bounds.Rest, boost);

    /// <summary>As <see cref="Score"/>, for hits all of which match; the scores are still 0.</summary>
    public virtual void ScoreMatches(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost) =>
        Score(window, hits, scores, boost);

    /// <summary>
    /// All entries with their scores at once, where they are few and known: how many there are, at most
    /// <see cref="FlatPostings.MaxEntries"/>; -1 where that is not so.
    /// </summary>
    public virtual int ScoreEntries(Span<long> ids, Span<float> scores, float boost) => -1;

    /// <summary>
    /// The most that <see cref="Score"/> can give an entry of the window, or a little more: it is asked for every window, so it
    /// is cheap.
    /// </summary>
    public virtual float Bound(long window, float boost)
    {
        Span<float> bounds = stackalloc float[PostingWindow.Blocks];
        bounds.Clear();
        AddBounds(window, bounds, boost);
        return BoundKernels.Largest(bounds);
    }

    /// <summary>
    /// Writes <see cref="Bound"/> of every window of the index; <see cref="NoMatch"/> where it is known that nothing matches.
    /// </summary>
    public virtual void Bounds(Span<float> windows, float boost)
    {
        windows.Fill(NoMatch);
        for (long window = Next(0); window < windows.Length; window = Next(window + 1))
        {
            Context.Check();
            windows[(int)window] = Bound(window, boost);
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

    /// <summary>Whether <see cref="Count"/> is told without looking at entries.</summary>
    public virtual bool KnowsCounts => false;

    /// <summary>
    /// The set becomes those matches in the window that may score <paramref name="threshold"/>, as far as that is cheaply told
    /// from what the window's parts can be at the most; all of them where it is not above 0. Returns how many match at all, if
    /// <paramref name="counts"/>, and how many are in the set otherwise.
    /// </summary>
    public virtual int Select(long window, WindowSet set, float threshold, float margin, bool counts)
    {
        Fill(window, set);
        return set.Count;
    }

    /// <summary>
    /// Takes entries out of a window's hits that cannot score <paramref name="threshold"/>, as far as more is known than what
    /// <see cref="AddBounds"/> says of whole blocks. <paramref name="margin"/> is a little above 1: bounds are multiplied by it
    /// before they are compared.
    /// </summary>
    public virtual void Narrow(long window, Span<ulong> hits, float threshold, float margin)
    {
    }
}
