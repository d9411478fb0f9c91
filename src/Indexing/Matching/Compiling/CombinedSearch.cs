using Treepie.Indexing.Queries;
using Treepie.Indexing.Vectors;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>Runs searches for the best of all entries over an index combined with changes not yet indexed.</summary>
internal sealed class CombinedSearch(CombinedIndex combined)
{
    /// <summary>Returns one side's part of a search over both sides.</summary>
    /// <param name="context">The side.</param>
    /// <param name="search">A vector search or a fusion.</param>
    /// <param name="beside">The other conditions of the conjunction, which filter the search.</param>
    public NearestOperator Nearest(QueryContext context, IndexQuery search, IEnumerable<IndexQuery> beside)
    {
        List<NearEntry> found = combined.Found(
            search, [.. beside.Where(clause => clause != combined.NotGone)], Find);
        string? field = (search as VectorQuery)?.Field;
        return new NearestOperator(
            context, combined.PartOf(context, found), field, "of the index and its changes together",
            field is null ? "fusion" : "nearest vectors");
    }

    private List<NearEntry> Find(IndexQuery search, List<IndexQuery> beside)
    {
        Operator? inMain = Filter(combined.Main, combined.NotGone is { } present ? [.. beside, present] : beside),
            inTail = Filter(combined.Tail, beside);
        if (search is VectorQuery vector)
        {
            // The changes are few enough to compare exhaustively.
            List<NearEntry> near = new VectorCompiler(combined.Main).Find(vector, inMain);
            near.AddRange(new VectorCompiler(combined.Tail).Find(vector with { IsExact = true }, inTail));
            return Best(near, vector.Candidates);
        }

        var fusion = (FusionQuery)search; // the only other kind
        FusionCompiler.Check(fusion);
        FusionCompiler main = new(combined.Main, beside), tail = new(combined.Tail, beside);
        return FusionCompiler.Fuse(
            fusion,
            [.. fusion.Clauses.Select(
                clause => Best(
                    [.. main.Best(clause.Query, inMain, fusion.Window), .. tail.Best(clause.Query, inTail, fusion.Window)],
                    fusion.Window))]);
    }

    private static Operator? Filter(QueryContext context, List<IndexQuery> beside) =>
        beside.Count == 0 ? null : new QueryCompiler(context, isScored: false).Compile(new AndQuery(beside));

    private static List<NearEntry> Best(List<NearEntry> found, int count)
    {
        found.Sort(static (x, y) => x.Similarity != y.Similarity ? y.Similarity.CompareTo(x.Similarity) : x.Id.CompareTo(y.Id));
        return found.Count <= count ? found : found[..count];
    }
}
