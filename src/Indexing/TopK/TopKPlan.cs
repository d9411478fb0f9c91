using System.Buffers;
using System.Runtime.InteropServices;
using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.TopK;

/// <summary>
/// A query for the best hits by score in the form of lists and filters: terms that must all match, or any of them, and
/// conditions that exclude hits and add a constant score. Built from the query itself; only the conditions are compiled into
/// operators. Queries that do not have this form are executed by operators.
/// </summary>
internal sealed class TopKPlan : TokenSink, IReusable
{
    /// <summary>Maximum number of lists, whose directories are held in memory.</summary>
    public const int MostTerms = 32;

    /// <summary>Maximum number of hits wanted for which bounds pay; with more, most blocks contain a hit.</summary>
    private const int MostWanted = 10_000;

    /// <summary>Maximum length in UTF-8 of a part of a text for which the buffer on the stack suffices.</summary>
    private const int MostWordBytes = 512;

    /// <summary>Range of weights for which sums are rounded with the same relative precision as numbers near 1.</summary>
    private const float LeastWeight = 1e-20f, MostWeight = 1e30f;

    /// <summary>Characters with a special meaning: a text with one of them is not just words.</summary>
    private static readonly SearchValues<char> _special = SearchValues.Create("\"*");

    private readonly TopKTerm[] _terms = new TopKTerm[MostTerms];
    private readonly float[] _parts = new float[MostTerms];
    private readonly List<ScoreStep> _steps = [];
    private readonly List<TopKFilter> _filters = [];
    private QueryContext? _context;

    // State while a text is analyzed.
    private int _field;
    private string _dictionary = "";
    private float _wordBoost;
    private int _wordsOfPart;
    private bool _isMissing;
    private bool _isRefused;

    /// <summary>The lists, in the order in which their scores are added up.</summary>
    public ReadOnlySpan<TopKTerm> Terms => _terms.AsSpan(0, TermCount);

    public int TermCount { get; private set; }

    /// <summary>Buffer for the contribution of each list to a hit.</summary>
    public Span<float> Parts => _parts.AsSpan(0, TermCount);

    /// <summary>Whether every list must match; otherwise any of them.</summary>
    public bool IsAll { get; private set; }

    /// <summary>Whether nothing can match.</summary>
    public bool IsEmpty { get; private set; }

    /// <summary>Conditions beside the lists, positive or negated.</summary>
    public List<TopKFilter> Filters => _filters;

    /// <summary>Estimated fraction of all entries that pass all filters.</summary>
    public double PassingShare { get; private set; }

    /// <summary>Sum of the constant scores of all filters.</summary>
    public float Constant { get; private set; }

    /// <summary>Whether the score is a plain left-to-right sum of all lists, without groups or constants.</summary>
    public bool IsFlat => _steps.Count == 1;

    /// <summary>Creates the plan of a request, or returns null if operators have to execute it.</summary>
    public static TopKPlan? TryFrom(QueryContext context, SearchRequest request)
    {
        if (request.Take <= 0 || request.Skip > MostWanted || request.Take > MostWanted - request.Skip
            || request.OrderHint == OrderHint.Sort || context.Hints.Rank == RankHint.Windows
            || request.Sort is not [{ Kind: SortKind.Score, Descending: true }] || !HasText(request.Query, 0))
        {
            return null;
        }

        int boosts = context.View.Schema.IndexOf(IndexSchema.BoostField);
        if (boosts >= 0 && context.View.Dictionary(TreeNames.Numbers(boosts)) is not null)
            return null;
        TopKPlan plan = context.Rent<TopKPlan>();
        plan._context = context;
        return plan.TryAdd(request.Query, 1) && plan.Complete() ? plan : null;
    }

    /// <inheritdoc/>
    public void Clear()
    {
        for (int i = 0; i < TermCount; i++)
            _terms[i].Clear();
        _steps.Clear();
        _filters.Clear();
        (_context, TermCount, IsAll, IsEmpty, Constant, _isRefused, _isMissing) = (null, 0, false, false, 0, false, false);
        PassingShare = 1;
    }

    /// <summary>
    /// Sums the lists' contributions to a hit in the order in which operators add them up, so that rounding is identical.
    /// The contribution of a list without the hit is 0.
    /// </summary>
    public float Sum(ReadOnlySpan<float> parts)
    {
        float sum = 0;
        foreach (ScoreStep step in _steps)
        {
            if (step.Count == 0)
            {
                sum += step.Constant;
            }
            else if (step.IsApart)
            {
                float group = 0;
                for (int i = step.First; i < step.First + step.Count; i++)
                    group += parts[i];
                sum += group;
            }
            else
            {
                for (int i = step.First; i < step.First + step.Count; i++)
                    sum += parts[i];
            }
        }

        return sum;
    }

    /// <summary>Describes the search for the query's plan.</summary>
    public PlanNode Describe(string label)
    {
        long estimate = IsEmpty || !IsAll ? 0 : long.MaxValue;
        foreach (TopKTerm term in IsEmpty ? default : Terms)
            estimate = IsAll ? Math.Min(estimate, term.Entries) : estimate + term.Entries;
        estimate = Math.Min(_context!.View.State.EntryCount, estimate); // set by TryFrom
        bool isExact = IsEmpty || (TermCount == 1 && _filters.Count == 0);
        var node = new PlanNode("best hits", label: label) { Estimate = estimate, IsExact = isExact };
        PlanNode lists = TermCount == 1 ? node : new PlanNode(IsAll ? "all of the lists" : "any of the lists");
        foreach (TopKTerm term in Terms)
            lists.Over(term.Node!); // set if a plan is requested
        if (TermCount > 1)
            node.Over(lists);
        foreach (TopKFilter filter in _filters)
        {
            PlanNode mine = filter.Operator!.Describe(); // set in a complete plan
            node.Over(filter.IsWanted ? mine : new PlanNode("not").Over(mine));
        }

        return node;
    }

    private protected override void Accept(ReadOnlySpan<byte> form, int position, int start, int end)
    {
        if (++_wordsOfPart > 1)
            return;
        TermTree? words = _context!.View.Dictionary(_dictionary); // set by TryFrom
        if (words is null || !words.TryGet(form, out ReadOnlySpan<byte> value))
        {
            _isMissing = true;
            return;
        }

        var payload = new TermPayload(value);
        if (TermCount == MostTerms || (payload.Kind == PostingKind.Flat && payload.EntryCount > FlatPostings.MaxEntries))
        {
            _isRefused = true; // operators report damaged lists
            return;
        }

        var scorer = new TermScorer(_context.Factors(_field), _context.EntriesWith(_field, form, payload.EntryCount));
        TopKTerm term = _terms[TermCount] ??= new TopKTerm();
        TermCount++;
        term.Begin(value, scorer, _wordBoost, payload.Kind == PostingKind.Long ? _context.View.Postings(_dictionary) : null);
        _isRefused |= !(term.Most is >= LeastWeight and <= MostWeight);
        if (_context.Tracer is null)
            return;
        string name = _context.View.Schema.Fields[_field].Name, operation = term.IsShort ? "term, short list" : "term, long list";
        term.Node = new PlanNode(operation, name, TermText.Of(form, isNumber: false)) { Estimate = term.Entries, IsExact = true };
        _context.Tracer.Add(term.Node);
    }

    /// <summary>Whether the query contains a text to score; without one it is not considered further.</summary>
    private static bool HasText(IndexQuery query, int depth) => depth < MostTerms && query switch
    {
        FullTextQuery or PhraseQuery or TextQuery => true,
        BoostQuery boost => HasText(boost.Clause, depth + 1),
        AndQuery all => HasText(all.Clauses, depth),
        OrQuery any => HasText(any.Clauses, depth),
        _ => false,
    };

    private static bool HasText(IReadOnlyList<IndexQuery> clauses, int depth)
    {
        for (int i = 0; i < clauses.Count; i++)
        {
            if (HasText(clauses[i], depth + 1))
                return true;
        }

        return false;
    }

    /// <summary>Adds the whole query; false if it does not have the required form.</summary>
    private bool TryAdd(IndexQuery query, float boost)
    {
        switch (query)
        {
            case BoostQuery inner:
                return TryBoost(ref boost, inner.Factor) && TryAdd(inner.Clause, boost);
            case AndQuery:
                return TryAddAll(QueryCompiler.Flatten(query), boost);
            case OrQuery:
                return TryAddAny(QueryCompiler.Flatten(query), boost);
            default:
                return TryAddText(query, boost, out bool isAny, out bool isNone) && End(isAny, isNone);
        }
    }

    private bool End(bool isAny, bool isNone)
    {
        (IsAll, IsEmpty) = (!isAny, IsEmpty || isNone);
        return true;
    }

    private bool TryAddAll(List<IndexQuery> clauses, float boost)
    {
        bool hasAny = false, hasText = false;
        foreach (IndexQuery clause in clauses)
        {
            if (HasText(clause, 0))
            {
                if (hasAny || !TryAddText(clause, boost, out bool isAny, out bool isNone) || (isAny && hasText))
                    return false;
                (hasAny, hasText, IsEmpty) = (isAny, true, IsEmpty || isNone);
            }
            else if (!TryAddFilter(clause, boost))
            {
                return false;
            }
        }

        IsAll = !hasAny;
        return true;
    }

    private bool TryAddAny(List<IndexQuery> clauses, float boost)
    {
        foreach (IndexQuery clause in clauses)
        {
            int first = TermCount, step = _steps.Count;
            if (!TryAddText(clause, boost, out bool isAny, out bool isNone))
                return false;
            if (isNone)
            {
                // A required word has no entries, so this clause matches nothing.
                _steps.RemoveRange(step, _steps.Count - step);
                while (TermCount > first)
                    _terms[--TermCount].Clear();
                continue;
            }

            if (!isAny && TermCount - first > 1)
                return false; // a conjunction inside a disjunction
        }

        IsEmpty = TermCount == 0;
        return true;
    }

    /// <summary>Adds the words of a text, possibly boosted.</summary>
    private bool TryAddText(IndexQuery query, float boost, out bool isAny, out bool isNone)
    {
        isAny = isNone = false;
        while (query is BoostQuery around)
        {
            if (!TryBoost(ref boost, around.Factor))
                return false;
            query = around.Clause;
        }

        (string name, string text, bool isAll) = query switch
        {
            FullTextQuery words => (words.Field, words.Text, words.All),
            PhraseQuery { Slop: >= 0 and <= TextCompiler.MaxSlop } phrase => (phrase.Field, phrase.Text, true),
            TextQuery words => (words.Field, words.Text, true),
            _ => ("", "", true),
        };
        if (name.Length == 0)
            return false;
        if (query is FullTextQuery && text.AsSpan().ContainsAny(_special))
            return false;
        QueryContext running = _context!; // set by TryFrom
        _field = running.View.Field(name);
        IndexField definition = running.View.Schema.Fields[_field];
        if (definition.Analysis != FieldAnalysis.FullText)
            return false;
        _dictionary = TreeNames.Terms(_field);
        _wordBoost = definition.Boost == 1 ? boost : boost * definition.Boost;
        int first = TermCount, parts = 0;
        bool hasMissing = false;
        Analyzer analyzer = running.View.Analyzers[_field].ForQueries;
        for (ReadOnlySpan<char> rest = text; !(rest = rest.TrimStart()).IsEmpty;)
        {
            int length = 0;
            while (length < rest.Length && (query is not FullTextQuery || !char.IsWhiteSpace(rest[length])))
                length++; // a phrase is supported if it is a single word
            if (!TryAddPart(rest[..length], analyzer))
                return false;
            parts += _wordsOfPart;
            hasMissing |= _isMissing;
            rest = rest[length..];
        }

        int count = TermCount - first;
        isAny = !isAll && count > 1;
        isNone = count == 0 || (isAll && hasMissing);
        if (count > 0)
            _steps.Add(new ScoreStep(first, count, 0, IsApart: isAll && count > 1));
        return true;
    }

    private bool TryAddPart(ReadOnlySpan<char> part, Analyzer analyzer)
    {
        Span<byte> utf8 = stackalloc byte[MostWordBytes];
        if (Encoding.UTF8.GetMaxByteCount(part.Length) > MostWordBytes)
            return false;
        (_wordsOfPart, _isMissing) = (0, false);
        Begin(0);
        analyzer.Analyze(utf8[..Encoding.UTF8.GetBytes(part, utf8)], this);
        return _wordsOfPart <= 1 && !_isRefused;
    }

    /// <summary>
    /// Adds a condition with a constant score. Ranges are compiled later, when it is known how many entries the other
    /// conditions leave.
    /// </summary>
    private bool TryAddFilter(IndexQuery clause, float boost)
    {
        if (clause is BoostQuery around)
            return TryBoost(ref boost, around.Factor) && TryAddFilter(around.Clause, boost);

        bool isWanted = clause is not NotQuery;
        if (!isWanted && HasText(((NotQuery)clause).Clause, 0) && ((NotQuery)clause).Clause is not FullTextQuery)
            return false;
        bool countsTheSame =
            clause is TermQuery or InQuery or RangeQuery or ExistsQuery or KeyQuery or EntriesQuery or MatchAllQuery;
        if (isWanted && !countsTheSame)
            return false;
        if (!isWanted && ((NotQuery)clause).Clause is VectorQuery or FusionQuery)
            return false;
        _steps.Add(new ScoreStep(0, 0, isWanted && clause is not EntriesQuery ? boost : 0, IsApart: false));
        _filters.Add(new TopKFilter(clause is NotQuery negated ? negated.Clause : clause, isWanted, _steps.Count - 1));
        return true;
    }

    private static bool TryBoost(ref float boost, float factor)
    {
        float product = boost * factor;
        if (!(factor > 0) || !BoostLimits.IsOfQuery(product) || product == 0)
            return false; // operators reject it, or let it score 0
        boost = product;
        return true;
    }

    /// <summary>Compiles the conditions, ranges last; false if the query cannot be executed this way after all.</summary>
    private bool Complete()
    {
        if (_filters.Count == 0)
            return TermCount > 0 || IsEmpty;
        long survivors = IsAll ? long.MaxValue : 0;
        foreach (TopKTerm term in Terms)
            survivors = IsAll ? Math.Min(survivors, term.Entries) : survivors + term.Entries;
        var compiler = new QueryCompiler(_context!, isScored: false); // set by TryFrom
        for (int pass = 0; pass < 2; pass++)
        {
            foreach (TopKFilter filter in _filters)
            {
                if (filter.Query is RangeQuery != (pass == 1))
                    continue;
                filter.Operator = filter.Query is RangeQuery range && filter.IsWanted
                    ? compiler.CompileRange(range, survivors)
                    : compiler.Compile(filter.Query);
                IsEmpty |= filter.IsWanted && filter.Operator is NoneOperator;
                survivors = filter.IsWanted ? Math.Min(survivors, filter.Operator.Estimate) : survivors;
            }
        }

        _filters.RemoveAll(static filter => filter is { IsWanted: false, Operator: NoneOperator });
        if (IsAll)
            TakeLists();
        OrderFilters();
        foreach (ScoreStep step in _steps)
            Constant += step.Constant;
        return TermCount > 0 || IsEmpty;
    }

    /// <summary>
    /// Turns conditions that are single lists into lists of the plan, if all must match, so that the rarest list leads.
    /// </summary>
    private void TakeLists()
    {
        for (int i = 0; i < _filters.Count && TermCount < MostTerms; i++)
        {
            TopKFilter filter = _filters[i];
            if (!filter.IsWanted || TermOperator.Of(filter.Operator!) is not { Scorer: null } list) // set by Complete
                continue;
            TopKTerm term = _terms[TermCount] ??= new TopKTerm();
            float constant = _steps[filter.Step].Constant;
            term.Begin(list, constant);
            _steps[filter.Step] = new ScoreStep(TermCount++, 1, 0, IsApart: false);
            term.Node = _context!.Tracer is null ? null : filter.Operator!.Describe();
            _filters.RemoveAt(i--);
        }
    }

    /// <summary>
    /// Sorts the filters: those that examine each entry go last, and the most selective go first within each group.
    /// </summary>
    private void OrderFilters()
    {
        double entries = Math.Max(1, _context!.View.State.EntryCount), passing = 1; // set by TryFrom
        foreach (TopKFilter filter in _filters)
        {
            double share = Math.Min(1, filter.Operator!.Expected.Likely / entries); // set by Complete
            filter.Share = filter.IsWanted ? share : 1 - share;
            passing *= filter.Share;
        }

        PassingShare = passing;
        InsertionSort.Sort(CollectionsMarshal.AsSpan(_filters), default(TopKFilter.EvaluationOrder));
    }

    /// <summary>
    /// A step of the score's sum: the contributions of some lists, added directly or as a group of their own, or a constant.
    /// </summary>
    private readonly record struct ScoreStep(int First, int Count, float Constant, bool IsApart);
}

/// <summary>A condition of a <see cref="TopKPlan"/> beside its lists.</summary>
/// <param name="query">The condition.</param>
/// <param name="isWanted">Whether hits must match it; otherwise they must not.</param>
/// <param name="step">Index of its step in the score's sum.</param>
internal sealed class TopKFilter(IndexQuery query, bool isWanted, int step)
{
    /// <summary>The condition.</summary>
    public IndexQuery Query => query;

    /// <summary>Whether hits must match the condition; otherwise they must not.</summary>
    public bool IsWanted => isWanted;

    /// <summary>Index of the step in the score's sum.</summary>
    public int Step => step;

    /// <summary>The compiled condition; null until the plan is complete.</summary>
    public Operator? Operator { get; set; }

    /// <summary>Estimated fraction of all entries that pass.</summary>
    public double Share { get; set; }

    /// <summary>
    /// The order in which the filters of a complete plan are evaluated: what examines each candidate comes last.
    /// </summary>
    public readonly struct EvaluationOrder : IItemOrder<TopKFilter>
    {
        public bool IsAfter(in TopKFilter left, in TopKFilter right)
        {
            bool leftLooks = ColumnRangeOperator.Of(left.Operator!) is not null; // set in a complete plan
            bool rightLooks = ColumnRangeOperator.Of(right.Operator!) is not null;
            return leftLooks == rightLooks ? left.Share > right.Share : leftLooks;
        }
    }
}
