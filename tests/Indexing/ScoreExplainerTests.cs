using Treepie.Indexing.Queries;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>Explanations against the scores themselves.</summary>
public sealed class ScoreExplainerTests
{
    [Fact]
    public void The_parts_of_an_explanation_add_up_to_the_score()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random);
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.ChangeRandomly(random, data, changes: 400, keys: 300);
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        int explained = 0;
        for (int i = 0; i < 150; i++)
        {
            IndexQuery query = data.Query(3);
            var request = new SearchRequest
            {
                Query = query,
                Sort = [new SortKey("", SortKind.Score, Descending: true)],
                Take = 5
            };
            using SearchResults results = searcher.Search(request, cancellationToken: TestContext.Current.CancellationToken);
            using ScoreExplainer explainer = searcher.OpenExplainer(query, TestContext.Current.CancellationToken);
            while (results.MoveNext())
            {
                ScoreExplanation explanation = explainer.Explain(results.EntryId);
                Assert.True(results.Score == explanation.Score, $"{query}: score {results.Score}\n{explanation}");
                Assert.True(
                    results.Score == Sum(explanation, 0), $"{query}: the parts give {Sum(explanation, 0)}\n{explanation}");
                explained += explanation.Parts.Count;
            }
        }

        Assert.True(explained > 20, $"only {explained} parts were explained");
    }

    /// <summary>From left to right; all of an AND first, those of an OR one by one.</summary>
    private static float Sum(ScoreExplanation of, float before)
    {
        bool isSum = of.What.StartsWith("sum of ", StringComparison.Ordinal);
        if (of.Parts.Count == 0 || (!isSum && !of.What.StartsWith("boost by", StringComparison.Ordinal)))
            return before + of.Score;
        if (isSum && of.What.StartsWith("sum of all", StringComparison.Ordinal) && of.Parts.Count > 1)
            return before + of.Parts.Aggregate(0f, (sum, part) => Sum(part, sum));
        return of.Parts.Aggregate(before, (sum, part) => Sum(part, sum));
    }
}
