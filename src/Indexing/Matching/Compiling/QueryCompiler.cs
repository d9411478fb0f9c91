using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>Compiles a query into operators over one view: looks up terms, gathers ranges and combines clauses.</summary>
/// <param name="context">The running query.</param>
/// <param name="isScored">Whether scores are wanted; without them no frequencies or lengths are read.</param>
internal sealed class QueryCompiler(QueryContext context, bool isScored)
{
    /// <summary>
    /// Maximum nesting depth of a query: twice what RQL allows. A chain of one kind (a and b and c …) counts as one level.
    /// </summary>
    public const int MaxDepth = 256;

    private const string EveryEntry = "every entry";

    private readonly IndexView _view = context.View;
    private float _boosted = 1;
    private ValueText? _text;

    private ValueText Text => _text ??= context.Rent<ValueText>();

    internal PatternCompiler Patterns => new(this, context, isScored);

    public Operator Compile(IndexQuery query) => Compile(query, 0);

    /// <summary>Compiles a whole query, including the boosts that documents have of their own.</summary>
    /// <param name="query">The query.</param>
    /// <param name="countsOnly">Whether only the number of hits is wanted, which a range can tell without its
    /// entries.</param>
    /// <param name="needsAll">Whether every hit will be read, to sort or to count them.</param>
    public Operator CompileWhole(IndexQuery query, bool countsOnly = false, bool needsAll = false)
    {
        if (countsOnly && query is RangeQuery range)
            return CompileRange(range, survivors: 0);
        return isScored
            ? Traced(DocumentBoostOperator.Over(context, Compile(query, 0, needsAll)))
            : Compile(query, 0, needsAll);
    }

    private Operator Compile(IndexQuery query, int depth, bool needsAll = false)
    {
        if (context.Tracer is not { } tracer)
            return CompileNode(query, depth, needsAll);

        // What is read while the operator is made, such as a range gathering its terms, is attributed to it.
        string name = query.GetType().Name;
        tracer.Enter(null, name[..^"Query".Length].ToLowerInvariant());
        Operator compiled = Traced(CompileNode(query, depth, needsAll));
        tracer.Leave(compiled.Describe());
        return compiled;
    }

    /// <summary>Wraps an operator with one that records its work if a plan is requested.</summary>
    internal Operator Traced(Operator compiled) => context.Tracer is not { } tracer || compiled is NoneOperator or TracedOperator
        ? compiled
        : new TracedOperator(context, compiled, tracer);

    private Operator CompileNode(IndexQuery query, int depth, bool needsAll)
    {
        if (depth > MaxDepth)
            throw new IndexQueryException(
                $"The query is nested more than {MaxDepth} levels deep. Use lists ('in') or flatten its groups.");

        switch (query)
        {
            case MatchAllQuery:
                return All();
            case MatchNoneQuery:
                return None();
            case TermQuery term:
                return Equal(_view.Field(term.Field), term.Value);
            case InQuery list:
                // Membership scores the same for one matching value or several.
                Operator any = In(_view.Field(list.Field), list.Values, needsAll);
                return isScored ? new ConstantOperator(context, any) : any;
            case AllInQuery list:
                int field = _view.Field(list.Field);
                return And([.. list.Values.Distinct().Select(value => Equal(field, value))]);
            case RangeQuery range:
                return new RangeCompiler(context).Compile(range, survivors: long.MaxValue, needsAll);
            case PrefixQuery prefix:
                return Patterns.Prefix(_view.Field(prefix.Field), prefix.Prefix, needsAll);
            case SuffixQuery suffix:
                return Patterns.Suffix(_view.Field(suffix.Field), suffix.Suffix);
            case PatternsQuery patterns:
                return Patterns.Any(patterns);
            case RangesQuery ranges:
                return Or(new RangeCompiler(context).Compile(ranges));
            case ContainsQuery contains:
                return Patterns.Infix(_view.Field(contains.Field), contains.Text);
            case WildcardQuery wildcard:
                return Patterns.Wildcard(wildcard);
            case RegexQuery regex:
                return Patterns.Regex(regex);
            case FuzzyQuery fuzzy:
                return Patterns.Fuzzy(fuzzy);
            case EntriesQuery entries:
                return new EntriesOperator(
                    context, context.Combined?.PartOf(context, entries.Ids) ?? entries.Ids as long[] ?? [.. entries.Ids]);
            case KeyQuery keys:
                return new ConstantOperator(context, new EntriesOperator(context, KeyLookup.Find(context, keys)));
            case KeyRangeQuery keys:
                return new ConstantOperator(context, new EntriesOperator(context, KeyLookup.Find(context, keys)));
            case KeyPatternQuery keys:
                return new ConstantOperator(context, new EntriesOperator(context, KeyLookup.Find(context, keys)));
            case ExistsQuery exists:
                return List(_view.Field(exists.Field), ListKind.Exists);
            case FullTextQuery text:
                return Weighted(text.Field, new TextCompiler(this, context, isScored).FullText(text));
            case PhraseQuery phrase:
                return Weighted(phrase.Field, new TextCompiler(this, context, isScored).Phrase(phrase));
            case TextQuery text:
                return IsFullText(_view.Field(text.Field))
                    ? Weighted(
                        text.Field,
                        new TextCompiler(this, context, isScored).Phrase(new PhraseQuery(text.Field, text.Text, text.Slop)))
                    : Equal(_view.Field(text.Field), FieldValue.Of(text.Text));
            case SpatialQuery spatial:
                return new SpatialCompiler(context, isScored).Compile(spatial);
            case VectorQuery or FusionQuery:
                return Late(query, filter: null, []);
            case MoreLikeThisQuery like:
                return new MoreLikeThisCompiler(this, context, isScored).Compile(like);
            case AndQuery all:
                return And(CompileClauses(Flatten(all), depth + 1));
            case OrQuery either:
                return Or([.. Flatten(either).Select(clause => Compile(clause, depth + 1))], needsAll);
            case IntersectQuery together:
                return Intersect(together.Clauses, depth + 1);
            case NotQuery negated:
                return Not(Compile(negated.Clause, depth + 1));
            case BoostQuery boost:
                return Boost(boost, depth, needsAll);
            default:
                throw new IndexQueryException($"This index does not know queries of the type {query.GetType().Name}.");
        }
    }

    /// <summary>
    /// Finds the entries first, as which they are depends on further entries of their owners; then they are scored.
    /// </summary>
    private Operator Intersect(IReadOnlyList<IndexQuery> clauses, int depth)
    {
        var unscored = new QueryCompiler(context, isScored: false);
        var entries = new EntriesOperator(
            context, SharedOwners.Find(context, [.. clauses.Select(clause => unscored.Compile(clause, depth))]));
        return isScored ? And([entries, Or([.. clauses.Select(clause => Compile(clause, depth))])]) : entries;
    }

    /// <summary>
    /// Compiles the clauses of an AND: ranges after the other clauses, since the choice of plan depends on how many entries
    /// those leave, and vector searches last, since they search among the matches of all others. A boost directly around a
    /// vector search belongs to it. The operators keep the order of the clauses.
    /// </summary>
    private List<Operator> CompileClauses(List<IndexQuery> queries, int depth)
    {
        var operators = new Operator?[queries.Count];
        long survivors = long.MaxValue;
        for (int i = 0; i < operators.Length; i++)
        {
            if (queries[i] is RangeQuery || LateOf(queries[i]) is not null)
                continue;
            operators[i] = Compile(queries[i], depth);
            survivors = Math.Min(survivors, operators[i]!.Estimate); // set above
        }

        for (int i = 0; i < operators.Length; i++)
        {
            if (queries[i] is RangeQuery range)
                operators[i] = CompileRange(range, survivors);
        }

        CompileVectors(queries, operators);
        return [.. operators.Select(compiled => compiled!)]; // all are set by now
    }

    /// <summary>Compiles a range, given an upper bound on the entries that other conditions leave.</summary>
    internal Operator CompileRange(RangeQuery range, long survivors)
    {
        context.Tracer?.Enter(null, "range");
        Operator compiled = Traced(new RangeCompiler(context).Compile(range, survivors));
        context.Tracer?.Leave(compiled.Describe());
        return compiled;
    }

    private void CompileVectors(List<IndexQuery> queries, Operator?[] operators)
    {
        List<Operator> others = [.. operators.OfType<Operator>()];
        if (others.Count == operators.Length)
            return;

        Operator? filter = others.Count == 0 ? null : And(others);
        List<IndexQuery> beside = queries.FindAll(query => LateOf(query) is null);
        for (int i = 0; i < operators.Length; i++)
        {
            if (LateOf(queries[i]) is not { } late)
                continue;
            context.Tracer?.Enter(null, late is VectorQuery ? "vector" : "fusion");
            Operator nearest = Traced(Late(late, filter, beside));
            context.Tracer?.Leave(nearest.Describe());
            if (queries[i] is BoostQuery boost)
                _ = Boosted(boost.Factor);
            operators[i] = isScored && queries[i] is BoostQuery around
                ? new BoostOperator(context, nearest, around.Factor)
                : nearest;
        }
    }

    /// <summary>Compiles a search that depends on the other clauses of its conjunction.</summary>
    /// <param name="search">A vector search or a fusion.</param>
    /// <param name="filter">The other conditions as an operator; null if there are none.</param>
    /// <param name="beside">The other conditions.</param>
    internal NearestOperator Late(IndexQuery search, Operator? filter, IReadOnlyList<IndexQuery> beside) => search switch
    {
        _ when context.Combined is { } combined => new CombinedSearch(combined).Nearest(context, search, beside),
        VectorQuery vector => new VectorCompiler(context).Compile(vector, filter),
        _ => new FusionCompiler(context, beside).Compile((FusionQuery)search, filter),
    };

    /// <summary>
    /// Returns the vector search or fusion that a clause is or boosts, or null. Such a search runs among what the other
    /// clauses leave.
    /// </summary>
    internal static IndexQuery? LateOf(IndexQuery clause) => clause switch
    {
        VectorQuery or FusionQuery => clause,
        BoostQuery { Clause: (VectorQuery or FusionQuery) and var late, Factor: >= 0 and < float.PositiveInfinity } => late,
        _ => null,
    };

    /// <summary>Applies the boost that the schema gives the field.</summary>
    private Operator Weighted(string field, Operator words)
    {
        float boost = _view.Schema.Fields[_view.Field(field)].Boost;
        return isScored && boost != 1 ? new BoostOperator(context, words, boost) : words;
    }

    /// <summary>
    /// Returns the clauses of a chain of one kind, in order. Iterative, since a parser may build <c>((a and b) and c) and
    /// …</c>.
    /// </summary>
    internal static List<IndexQuery> Flatten(IndexQuery root)
    {
        bool isAnd = root is AndQuery;
        var clauses = new List<IndexQuery>();
        var open = new Stack<IndexQuery>([root]);
        while (open.TryPop(out IndexQuery? next))
        {
            IReadOnlyList<IndexQuery>? inner = next switch
            {
                AndQuery all when isAnd => all.Clauses,
                OrQuery any when !isAnd => any.Clauses,
                _ => null,
            };
            if (inner is null)
            {
                clauses.Add(next);
                continue;
            }

            for (int i = inner.Count - 1; i >= 0; i--)
                open.Push(inner[i]);
        }

        return clauses;
    }

    internal NoneOperator None() => new(context);

    private Operator All() => _view.TryGetAll(out long listId)
        // a long list has a postings tree
        ? new LongListOperator(context, _view.Postings(TreeNames.Lists)!, listId, _view.State.EntryCount, scorer: null)
        {
            Term = EveryEntry
        }
        : List(-1, ListKind.All);

    private Operator List(int field, ListKind kind)
    {
        Span<byte> key = stackalloc byte[ListKey.Bytes];
        string name = kind switch { ListKind.All => EveryEntry, ListKind.Exists => "exists", _ => "null" };
        return Open(
            TreeNames.Lists, ListKey.Write(key, field, kind), -1, withPositions: false,
            (field < 0 ? null : _view.Schema.Fields[field].Name, name)) is { } list
            ? list
            : None();
    }

    /// <summary>Compiles a term of a dictionary; scored if <paramref name="field"/> is a full-text field (not -1).</summary>
    private Operator Term(string dictionary, ReadOnlySpan<byte> term, int field) =>
        (Operator?)Open(dictionary, term, field, withPositions: false) ?? None();

    /// <summary>Compiles a normalized term of a field; null if no entry has it.</summary>
    internal TermOperator? Word(int field, ReadOnlySpan<byte> form, bool withPositions)
    {
        if (IsFullText(field))
            return Open(TreeNames.Terms(field), form, field, withPositions);
        if (!_view.HasNumbersAlone(field))
            return Open(TreeNames.Terms(field), form, -1, withPositions);
        Span<byte> key = stackalloc byte[NumberKey.Bytes];
        return NumberKey.TryParse(form, key) ? Open(TreeNames.Numbers(field), key, -1, withPositions) : null;
    }

    /// <param name="dictionary">The dictionary of the term.</param>
    /// <param name="term">The normalized term.</param>
    /// <param name="field">The field whose statistics score it, or -1 for no scores.</param>
    /// <param name="withPositions">Whether its positions will be read.</param>
    /// <param name="name">Field and term shown in the plan, if they do not follow from the dictionary.</param>
    private TermOperator? Open(
        string dictionary, ReadOnlySpan<byte> term, int field, bool withPositions, (string? Field, string? Term)? name = null)
    {
        if (!_view.TryGetTerm(dictionary, term, out TermPayload payload))
            return null;

        TermScorer? scorer = null;
        if (isScored && field >= 0)
            scorer = new TermScorer(context.Factors(field), context.EntriesWith(field, term, payload.EntryCount));
        (string? fieldName, string? text) = context.Tracer is null ? (null, null) : name ?? Named(dictionary, term);
        if (payload.Kind == PostingKind.Flat)
            return new ShortListOperator(context, payload, scorer, withPositions) { Field = fieldName, Term = text };

        PositionPlaces? positions = withPositions ? _view.Positions(dictionary) : null;
        Tree? impacts = scorer is not null && payload.EntryCount >= WindowImpacts.MinEntries ? _view.Impacts(dictionary) : null;
        // a long list has a postings tree
        return new LongListOperator(
            context, _view.Postings(dictionary)!, payload.ListId, payload.EntryCount, scorer, positions,
            impacts)
        { Field = fieldName, Term = text };
    }

    /// <summary>Compiles a term without scores that has a long list.</summary>
    private LongListOperator Long(string dictionary, LongList list)
    {
        (string? field, string? term) = context.Tracer is null ? (null, null) : Named(dictionary, list.Term);
        // a long list has a postings tree
        return new LongListOperator(context, _view.Postings(dictionary)!, list.Id, list.EntryCount, scorer: null)
        {
            Field = field,
            Term = term
        };
    }

    /// <summary>The field and term, for the plan, that a dictionary key stands for.</summary>
    private (string? Field, string? Term) Named(string dictionary, ReadOnlySpan<byte> term)
    {
        int field = int.Parse(
            dictionary.AsSpan(dictionary.LastIndexOf('.') + 1), System.Globalization.CultureInfo.InvariantCulture);
        return (_view.Schema.Fields[field].Name, TermText.Of(term, isNumber: dictionary == TreeNames.Numbers(field)));
    }

    private Operator Equal(int field, FieldValue value)
    {
        FieldAnalysis analysis = _view.Schema.Fields[field].Analysis;
        switch (value.Kind)
        {
            case FieldValueKind.Null:
                return new ConstantOperator(context, Or([List(field, ListKind.Null), Not(List(field, ListKind.Exists))]));
            case FieldValueKind.Long or FieldValueKind.Double when analysis != FieldAnalysis.FullText:
                Span<byte> key = stackalloc byte[NumberKey.Bytes];
                return QueryValue.TryWriteNumber(value, key) ? Term(TreeNames.Numbers(field), key, field: -1) : None();
            case not FieldValueKind.Null when analysis != FieldAnalysis.FullText:
                return (Operator?)Word(field, Text.Form(analysis, value), withPositions: false) ?? None();
            default:
                // Equality is a filter: it scores the same in every field, even where search() would weight the words.
                return new ConstantOperator(context, And(Terms(field, QueryValue.ToText(value)), whenEmpty: None()));
        }
    }

    /// <summary>Compiles the terms that a text is analyzed into.</summary>
    private List<Operator> Terms(int field, ReadOnlySpan<byte> text) =>
        [.. Words(field, text).Select(word => (Operator?)Word(field, word.Form, withPositions: false) ?? None())];

    private Operator In(int field, IReadOnlyList<FieldValue> values, bool needsAll)
    {
        // A few values get an operator each. Of many values, only long lists do, which are read as far as the query needs them,
        // unless they are too many; the entries of all others are gathered into one union.
        const int Few = 8, MostLong = 64;
        if (values.Count <= Few)
            return Any([.. values.Distinct().Select(value => Equal(field, value))], needsAll);

        var others = new List<Operator>();
        var union = new UnionOperator(context);
        FieldAnalysis analysis = _view.Schema.Fields[field].Analysis;
        SortedTerms texts = context.Rent<SortedTerms>(), numbers = context.Rent<SortedTerms>();
        bool areNumbersAlone = analysis != FieldAnalysis.FullText && _view.HasNumbersAlone(field);
        Span<byte> key = stackalloc byte[NumberKey.Bytes];
        foreach (FieldValue value in values)
        {
            if (value.Kind == FieldValueKind.Null || analysis == FieldAnalysis.FullText)
            {
                others.Add(Equal(field, value));
            }
            else if (value.Kind is FieldValueKind.Long or FieldValueKind.Double)
            {
                if (QueryValue.TryWriteNumber(value, key))
                    numbers.Add(key);
            }
            else if (!areNumbersAlone)
            {
                texts.Add(Text.Form(analysis, value));
            }
            else if (NumberKey.TryParse(Text.Form(analysis, value), key))
            {
                numbers.Add(key);
            }
        }

        foreach (LongList list in texts.AddTo(context, TreeNames.Terms(field), union, MostLong))
            others.Add(Long(TreeNames.Terms(field), list));
        foreach (LongList list in numbers.AddTo(context, TreeNames.Numbers(field), union, MostLong))
            others.Add(Long(TreeNames.Numbers(field), list));
        union.Name = ("in", _view.Schema.Fields[field].Name, null);
        union.Seal();
        return Any(union.Estimate == 0 ? others : [union, .. others], needsAll);
    }

    /// <summary>Normalizes a piece of a term.</summary>
    internal byte[] Folded(int field, string text)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(text);
        return _view.Schema.Fields[field].Analysis switch
        {
            FieldAnalysis.FullText => _view.Analyzers[field].Normalize(utf8),
            FieldAnalysis.Keyword => utf8,
            _ => KeywordAnalyzer.Fold(utf8, new TokenBuffer()).ToArray(),
        };
    }

    internal bool IsFullText(int field) => _view.Schema.Fields[field].Analysis == FieldAnalysis.FullText;

    /// <summary>
    /// Analyzes a query text into words with positions, valid until the query ends. In a field of whole values the text is
    /// one word.
    /// </summary>
    internal IReadOnlyList<TokenList.Token> Words(int field, ReadOnlySpan<byte> text)
    {
        if (IsFullText(field))
        {
            TokenList words = context.Rent<TokenList>();
            _view.Analyzers[field].ForQueries.Analyze(text, words);
            return words.Tokens;
        }


        ReadOnlySpan<byte> form = WholeValue.Of(
            _view.Schema.Fields[field].Analysis, text, new TokenBuffer(), new byte[TermForm.CutBytes]);
        return [new TokenList.Token(form.ToArray(), 0, 0, text.Length)];
    }

    private Operator Boost(BoostQuery boost, int depth, bool needsAll)
    {
        float outer = _boosted;
        _boosted = Boosted(boost.Factor);
        Operator clause = Compile(boost.Clause, depth + 1, needsAll);
        _boosted = outer;
        return isScored ? new BoostOperator(context, clause, boost.Factor) : clause;
    }

    /// <summary>The product of the enclosing boosts and one more factor, checked to be in range.</summary>
    internal float Boosted(float factor)
    {
        if (!float.IsFinite(factor) || factor < 0)
            throw new IndexQueryException($"A boost is a number of at least 0; {factor} is not.");
        float product = _boosted * factor;
        return BoostLimits.IsOfQuery(product) && (product > 0 || factor == 0 || _boosted == 0)
            ? product
            : throw new IndexQueryException(
                $"Nested boosts multiply to {BoostLimits.LeastOfQuery} to {BoostLimits.MostOfQuery}; these multiply to "
                    + $"{product}. Only the ratios of boosts matter.");
    }

    /// <summary>Matches every entry that the clause does not match.</summary>
    internal Operator Except(Operator clause) => Not(clause);

    private Operator Not(Operator clause)
    {
        if (clause is NoneOperator && !isScored)
            return All();

        // A clause that matches every entry leaves none, so no window needs to be evaluated.
        return clause.IsExact && clause.Estimate == _view.State.EntryCount ? None() : new NotOperator(context, All(), clause);
    }

    internal Operator And(List<Operator> clauses, Operator? whenEmpty = null) => clauses.Count switch
    {
        // An empty group matches everything with score 0, wherever it occurs.
        0 => whenEmpty ?? (isScored ? new BoostOperator(context, All(), 0) : All()),
        1 => clauses[0],
        _ => clauses.Exists(static clause => clause is NoneOperator) ? None() : new AndOperator(context, Together(clauses)),
    };

    internal Operator Or(List<Operator> clauses, bool needsAll = false) => isScored ? Either(clauses) : Any(clauses, needsAll);

    /// <summary>Compiles a disjunction whose matches all score the same.</summary>
    private Operator Any(List<Operator> clauses, bool needsAll)
    {
        List<Operator> lists = clauses.FindAll(static clause => TermOperator.Of(clause) is LongListOperator);
        if (lists.Count < 2)
            return Either(clauses);
        clauses.RemoveAll(static clause => TermOperator.Of(clause) is LongListOperator);
        var together = new LongListsOperator(context, new OrOperator(context, Together(lists)));
        clauses.Add(needsAll ? together.Gathered() : together);
        return Either(clauses);
    }

    private Operator Either(List<Operator> clauses)
    {
        clauses.RemoveAll(static clause => clause is NoneOperator);
        return clauses.Count switch
        {
            0 => None(),
            1 => clauses[0],
            _ => new OrOperator(context, Together(clauses)),
        };
    }

    /// <summary>
    /// Prepares clauses that are evaluated together and announces their pages. A single clause is not announced, as it may
    /// need no page.
    /// </summary>
    private Operator[] Together(List<Operator> clauses)
    {
        foreach (Operator clause in clauses)
            TermOperator.Of(clause)?.Announce();
        foreach (Operator clause in clauses)
            TermOperator.Of(clause)?.AnnounceLengths();
        Operator[] together = [.. clauses];
        foreach (ref Operator clause in together.AsSpan())
            clause = Traced(clause);
        return together;
    }
}
