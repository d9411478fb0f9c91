using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>
/// Rewrites a query so that neighbouring conditions over one field are looked up together: the ranges of an AND become one
/// range, those of an OR one list of ranges, and the patterns of an OR that read the whole dictionary share one pass. The
/// rewritten query has the same matches and scores.
/// </summary>
/// <remarks>
/// Two different values of one entry may satisfy a lower and an upper bound, so these become one range only if no entry ever
/// had several values. Two lower bounds, or two upper bounds, can always be replaced by the tighter one. If scores are
/// wanted, every condition contributes: a condition merged into another is replaced by one that every entry matches, and an
/// OR is left unchanged.
/// </remarks>
/// <param name="context">The running query.</param>
/// <param name="isScored">Whether scores are wanted.</param>
internal sealed class ClauseMerger(QueryContext context, bool isScored)
{
    /// <summary>Queries nested more deeply are left unchanged here and rejected when they are compiled.</summary>
    private const int MaxDepth = QueryCompiler.MaxDepth;

    /// <summary>
    /// Up to this many ranges get operators of their own, which other conditions may make unnecessary to read.
    /// </summary>
    private const int FewRanges = 8;

    private readonly IndexView _view = context.View;

    /// <summary>Returns the rewritten query, or the query itself if there is nothing to merge.</summary>
    public static IndexQuery Merge(QueryContext context, IndexQuery query, bool isScored)
    {
        int found = 0;
        return CanMerge(query, 0, ref found) ? new ClauseMerger(context, isScored).Merge(query) : query;
    }

    /// <summary>
    /// Whether the query has at least two conditions of kinds that can be merged; false if it is nested too deeply.
    /// </summary>
    private static bool CanMerge(IndexQuery query, int depth, ref int found)
    {
        if (depth > MaxDepth)
            return false;
        switch (query)
        {
            case RangeQuery or SuffixQuery or RegexQuery:
                return ++found > 1;
            case NotQuery negated:
                return CanMerge(negated.Clause, depth + 1, ref found);
            case BoostQuery boost:
                return CanMerge(boost.Clause, depth + 1, ref found);
            case AndQuery all:
                return HasValueBesideRange(all.Clauses) || CanMerge(all.Clauses, depth, ref found);
            case OrQuery any:
                return CanMerge(any.Clauses, depth, ref found);
            default:
                return false;
        }
    }

    /// <summary>Whether the clauses contain a term and a range over the same field.</summary>
    private static bool HasValueBesideRange(IReadOnlyList<IndexQuery> clauses)
    {
        const int Few = 64; // quadratic comparison
        for (int i = 0; i < clauses.Count && clauses.Count <= Few; i++)
        {
            if (clauses[i] is not RangeQuery range)
                continue;
            for (int j = 0; j < clauses.Count; j++)
            {
                if (clauses[j] is TermQuery term && term.Field == range.Field)
                    return true;
            }
        }

        return false;
    }

    private static bool CanMerge(IReadOnlyList<IndexQuery> clauses, int depth, ref int found)
    {
        for (int i = 0; i < clauses.Count; i++)
        {
            if (CanMerge(clauses[i], depth + 1, ref found))
                return true;
        }

        return false;
    }

    private IndexQuery Merge(IndexQuery query, int depth = 0)
    {
        if (depth > MaxDepth)
            return query;
        return query switch
        {
            NotQuery negated => new NotQuery(Merge(negated.Clause, depth + 1)),
            BoostQuery boost => boost with { Clause = Merge(boost.Clause, depth + 1) },
            AndQuery => MergeAll([.. QueryCompiler.Flatten(query).Select(clause => Merge(clause, depth + 1))]),
            OrQuery when isScored => new OrQuery([.. QueryCompiler.Flatten(query).Select(clause => Merge(clause, depth + 1))]),
            OrQuery => MergeAny([.. QueryCompiler.Flatten(query).Select(clause => Merge(clause, depth + 1))]),
            _ => query,
        };
    }

    private IndexQuery MergeAll(List<IndexQuery> clauses)
    {
        var groups = new List<MergedRange>();
        for (int i = 0; i < clauses.Count; i++)
        {
            if (clauses[i] is not RangeQuery range || !new RangeCompiler(context).TryOpen(range, out KeyRange keys))
                continue;
            bool isSingle = IsSingle(range.Field);
            if (!isSingle && range.Low is not null && range.High is not null)
                continue;
            bool? side = isSingle ? null : range.Low is not null;
            if (groups.Find(group => group.Dictionary == keys.Dictionary && group.Side == side) is not { } known)
            {
                groups.Add(new MergedRange(range, keys, side, i));
                continue;
            }

            known.Narrow(range, keys);
            clauses[i] = new MatchAllQuery();
        }

        foreach (MergedRange group in groups)
        {
            if (group.Side is null && group.IsEmpty)
                return new MatchNoneQuery();
            clauses[group.Place] = group.ToQuery();
        }

        if (groups.Count > 0 && !TakeTerms(clauses, groups))
            return new MatchNoneQuery();
        if (!isScored && clauses.Exists(static clause => clause is not MatchAllQuery))
            clauses.RemoveAll(static clause => clause is MatchAllQuery);
        return clauses is [{ } only] ? only : new AndQuery(clauses);
    }

    /// <summary>
    /// Uses exact values in the conjunction to resolve ranges over the same field: a range that contains the value is always
    /// satisfied. Returns false if a value and a range exclude each other.
    /// </summary>
    private bool TakeTerms(List<IndexQuery> clauses, List<MergedRange> groups)
    {
        foreach (IndexQuery clause in clauses)
        {
            if (clause is not TermQuery { Value.Kind: FieldValueKind.Text or FieldValueKind.Long or FieldValueKind.Double } term
                || IsFullText(term.Field)
                || !new RangeCompiler(context).TryOpen(
                    new RangeQuery(term.Field, term.Value, true, term.Value, true), out KeyRange value))
            {
                continue;
            }

            foreach (MergedRange group in groups)
            {
                if (group.Dictionary != value.Dictionary)
                    continue;
                if (group.Contains(value.Low!)) // the keys' low and high bounds are both the value
                    clauses[group.Place] = new MatchAllQuery();
                else if (group.Side is null)
                    return false;
            }

            if (groups.RemoveAll(group => clauses[group.Place] is MatchAllQuery) > 0)
                return TakeTerms(clauses, groups); // the lists were modified, so start again
        }

        return true;
    }

    private IndexQuery MergeAny(List<IndexQuery> clauses)
    {
        var ranges = new Dictionary<string, List<(RangeQuery Range, KeyRange Keys)>>(StringComparer.Ordinal);
        var patterns = new Dictionary<string, List<IndexQuery>>(StringComparer.Ordinal);
        var merged = new List<IndexQuery>(clauses.Count);
        foreach (IndexQuery clause in clauses)
        {
            if (clause is RangeQuery range
                && !IsFullText(range.Field)
                && new RangeCompiler(context).TryOpen(range, out KeyRange keys))
                Of(ranges, keys.Dictionary).Add((range, keys));
            else if (PatternCompiler.FieldOfPattern(clause) is { } field)
                Of(patterns, field).Add(clause);
            else
                merged.Add(clause);
        }

        foreach (List<(RangeQuery Range, KeyRange Keys)> group in ranges.Values)
        {
            List<RangeQuery> apart = MergedRange.Unite(group);
            if (apart.Count > FewRanges)
                merged.Add(new RangesQuery(apart[0].Field, apart));
            else
                merged.AddRange(apart);
        }

        foreach ((string field, List<IndexQuery> group) in patterns)
            merged.Add(group is [{ } single] ? single : new PatternsQuery(field, group));
        return merged is [{ } only] ? only : new OrQuery(merged);
    }

    private static List<T> Of<T>(Dictionary<string, List<T>> groups, string name)
    {
        if (!groups.TryGetValue(name, out List<T>? group))
            groups.Add(name, group = []);
        return group;
    }

    /// <summary>
    /// Whether no entry ever had several values of a field, so that two conditions must be satisfied by the same value. Both
    /// sides of a combined index are asked, so that both have the same conditions.
    /// </summary>
    private bool IsSingle(string name) => !IsFullText(name)
        && (context.Combined is { } combined
            ? IsSingle(combined.Main.View, name) && IsSingle(combined.Tail.View, name)
            : IsSingle(_view, name));

    private static bool IsSingle(IndexView view, string name) => !view.Statistics(view.Field(name)).EverHadSeveralValues;

    private bool IsFullText(string name) => _view.Schema.Fields[_view.Field(name)].Analysis == FieldAnalysis.FullText;
}
