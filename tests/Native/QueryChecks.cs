using Treepie.Linq;
using Treepie.Sessions;
using static Treepie.NativeProgram.Check;

namespace Treepie.NativeProgram;

/// <summary>Queries of words, places, vectors, groups and elements, and what they note beside their results.</summary>
internal static class QueryChecks
{
    public static async Task RunAsync(Database database, SessionOptions options)
    {
        await StoreAsync(database, options);
        await using DocumentSession session = database.OpenSession(options);
        await AskForWordsAsync(session);
        await AskForPlacesAsync(session);
        await AskForElementsAsync(session);
        await AskForRowsAsync(session);
        await AskLaterAsync(session);
    }

    private static async Task StoreAsync(Database database, SessionOptions options)
    {
        await using DocumentSession session = database.OpenSession(options);
        for (int i = 0; i < 12; i++)
            session.Store(new Place
            {
                Id = $"places/{i}",
                Name = i % 3 == 0 ? "Reims" : "Rouen",
                Text = i == 7 ? "a cathedral of white stone beside a river" : "a market square beside a cathedral and a mill",
                Country = i < 4 ? "France" : "Belgium",
                Latitude = 49 + i,
                Longitude = 4,
                Likeness = [i, 12 - i],
                Counts = new() { ["churches"] = i },
                Visits = i,
                TwinId = $"places/{(i + 1) % 12}",
                Tags = [$"t{i % 2}", "all"],
            });
        await session.SaveChangesAsync();
    }

    private static async Task AskForWordsAsync(DocumentSession session)
    {
        IDocumentQueryable<Place> places = session.Query<Place>();
        List<Place> found = await places.Search(p => p.Text, "river stone", allWords: true)
            .Highlight(p => p.Text, 40, 1, out QueryNotes highlights)
            .Statistics(out QueryStatistics statistics)
            .ToListAsync();
        Require(found is [{ Id: "places/7" }] && statistics is { TotalResults: 1, IsStale: false }, "words and statistics");
        Require(highlights.Of("Text", "places/7").Count == 1, "highlights");
        Require(
            await places.Where(p => RqlMethods.Fuzzy(p.Name, "Rouem", 0.7)).CountAsync() == 8
                && await places.Where(p => RqlMethods.Proximity(p.Text, "white river", 4)).CountAsync() == 1
                && await places.Where(p => RqlMethods.Lucene(p.Text, "cathe* AND mill")).CountAsync() == 11
                && await places.Where(p => RqlMethods.Exact(p.Name == "Reims") && RqlMethods.Exists(p.Text)).CountAsync() == 4,
            "methods of RQL");
        Place best = await places
            .Where(
                p => RqlMethods.Boost(RqlMethods.Search(p.Text, "stone", false), 5)
                    || RqlMethods.Search(p.Text, "mill", false))
            .OrderByScore()
            .Explain(out QueryNotes explanations)
            .FirstAsync();
        Require(best.Id == "places/7" && explanations.Json.ToString().Contains("places/7", StringComparison.Ordinal), "scores");
        IReadOnlyList<string> suggestions = await places.SuggestUsingAsync(p => p.Name, "Ruen");
        Require(suggestions.Contains("rouen"), "suggestions");
        List<Place> like = await places
            .MoreLikeThis(
                "places/1",
                new MoreLikeThisOptions { Fields = ["Text"], MinimumTermFrequency = 1, MinimumDocumentFrequency = 1 })
            .ToListAsync();
        Require(like.Count > 0 && like.TrueForAll(p => p.Id != "places/1"), "documents that are like one");
        Require(
            (await places.OrderByRandom("seed").Timings(out QueryNotes timings).ToListAsync()).Count == 12
                && timings.Json.ValueKind == System.Text.Json.JsonValueKind.Object, "random order and timings");
    }

    private static async Task AskForPlacesAsync(DocumentSession session)
    {
        IDocumentQueryable<Place> places = session.Query<Place>();
        List<Place> near = await places
            .Spatial(p => p.Latitude, p => p.Longitude, SpatialCriteria.WithinRadius(150, 50, 4))
            .OrderByDistance(p => p.Latitude, p => p.Longitude, 50.2, 4)
            .ToListAsync();
        Require(near.Select(p => p.Id).SequenceEqual(["places/1", "places/2", "places/0"]), "places by distance");
        SpatialShape box = SpatialShape.Wkt("POLYGON((3 48.5, 5 48.5, 5 50.5, 3 50.5, 3 48.5))");
        Require(
            await places.Where(p => RqlMethods.Spatial(p.Latitude, p.Longitude, SpatialCriteria.Within(box))).CountAsync() == 2,
            "shapes");
        List<Place> alike = await places.VectorSearch(p => p.Likeness, [0, 1], numberOfCandidates: 12, exact: true)
            .Take(1)
            .ToListAsync();
        Require(alike is [{ Id: "places/0" }], "vectors");
    }

    private static async Task AskForElementsAsync(DocumentSession session)
    {
        IDocumentQueryable<Place> places = session.Query<Place>();
        string[] both = ["t0", "all"], cities = ["Reims", "Paris"];
        Require(await places.Where(p => p.Tags.ContainsAll(both)).CountAsync() == 6, "all of a list");
        Require(await places.Where(p => p.Tags.ContainsAny(both)).AnyAsync(p => p.Visits == 3), "any of a list");
        Require(await places.CountAsync(p => p.Name.In(cities)) == 4, "one of some");
        Require(await places.CountAsync(p => p.Tags.All(tag => tag != "t1")) == 6, "all elements");
        Require(await places.CountAsync(p => p.Counts["churches"] > 9) == 2, "keys of dictionaries");
        Require(
            (await places.Filter(p => p.Visits >= p.Counts["churches"] && p.Tags.Any(tag => tag == "t0"), 1_000).ToListAsync())
                .Count == 6,
            "filters");
        List<Item> items = await session.Query<Item>()
            .Where(i => i.Parts.Any(p => p.Sku == "a" && p.Amount == 4))
            .ToListAsync();
        Require(items is [{ Amount: 4 }], "several conditions on one element");
        IReadOnlyDictionary<string, FacetResult> facets = await places
            .AggregateBy(p => p.Country).SumOn(p => p.Visits).MaxOn(p => p.Visits).MinOn(p => p.Visits).AverageOn(p => p.Visits)
            .AndAggregateBy(p => p.Visits < 6, p => p.Visits >= 6)
            .ExecuteAsync();
        Require(
            facets["Country"].Values.Any(value => value is { Range: "france", Count: 4, Sum: 6, Max: 3, Min: 0, Average: 1.5 })
                && facets.Values.SelectMany(facet => facet.Values).Count(value => value.Count == 6) == 2,
            "facets with figures and ranges");
    }

    private static async Task AskForRowsAsync(DocumentSession session)
    {
        List<CountryRow> countries = await session.Query<Place>()
            .GroupBy(p => p.Country)
            .Select(g => new CountryRow(g.Key, g.Count(), g.Sum(p => p.Visits)))
            .ToListAsync();
        Require(
            countries.Count == 2 && countries.Any(row => row is { Count: 4, Visits: 6 })
                && countries.Any(row => row is { Count: 8, Visits: 60 }),
            "groups");
        List<PlaceRow> rows = await session.Query<Place>()
            .Where(p => p.Visits == 2)
            .Select(p => new PlaceRow(p.Name, RqlMethods.Load<Place>(p.TwinId)!.Name))
            .ToListAsync();
        Require(rows is [{ Name: "Rouen", Twin: "Reims" }], "rows with other documents");
        PlaceRow into = await session.Query<Place>().Where(p => p.Visits == 3).ProjectInto<PlaceRow>().FirstAsync();
        Require(into is { Name: "Reims", Twin: null }, "rows of another class");
        List<Place> raw = await session.RawQuery<Place>("from Places where Visits > $least order by Visits as long")
            .AddParameter("least", 9)
            .Statistics(out QueryStatistics statistics)
            .ToListAsync();
        Require(raw.Select(p => p.Visits).SequenceEqual([10, 11]) && statistics.TotalResults == 2, "RQL with parameters");
    }

    private static async Task AskLaterAsync(DocumentSession session)
    {
        Lazy<Place?> one = session.Advanced.Lazily.Load<Place>("places/1");
        Lazy<IReadOnlyDictionary<string, Place?>> some = session.Advanced.Lazily.Load<Place>(["places/2", "places/3"]);
        Lazy<IEnumerable<Place>> found = session.Query<Place>().Where(p => p.Visits > 9).Lazily();
        Lazy<int> count = session.Query<Place>().Where(p => p.Visits > 5).CountLazily();
        Lazy<Task<IEnumerable<Place>>> awaited = session.Query<Place>().Where(p => p.Visits == 0).LazilyAsync();
        int before = session.Advanced.NumberOfRequests;
        await session.Advanced.Eagerly.ExecuteAllPendingLazyOperationsAsync();
        Require(
            one.Value?.Visits == 1 && some.Value.Count == 2 && found.Value.Count() == 2 && count.Value == 6
                && (await awaited.Value).Count() == 1,
            "lazy loads and queries");
        Require(session.Advanced.NumberOfRequests == before + 1, "one request for all that waits");
        Require(session.Query<Place>().AllowStale().Where(p => p.Visits == 4).ToList() is [{ Id: "places/4" }], "stale answers");
        Require(session.Query<Place>().ToRql().Text.Contains("Places", StringComparison.Ordinal), "texts of queries");
    }
}
