using System.Text.Json;
using Treepie.Kinds;
using Treepie.Sessions;
using static Treepie.NativeProgram.Check;

namespace Treepie.NativeProgram;

/// <summary>What lies beside documents, what is brought along with them, and patches.</summary>
internal static class BesideChecks
{
    private static readonly DateTime _day = new(2024, 5, 1, 0, 0, 0, DateTimeKind.Utc);

    public static async Task RunAsync(Database database, SessionOptions options)
    {
        await database.Revisions.ConfigureAsync(
            new RevisionsConfiguration { Collections = new Dictionary<string, RevisionsRule> { ["Places"] = new() } });
        await StoreAsync(database, options);
        await LoadAsync(database, options);
        await QueryAsync(database, options);
        await CompareAndExchangeAsync(database, options);
        await ReviseAsync(database, options);
        await PatchAsync(database, options);
        await DeriveAsync(database, options);
    }

    private static async Task StoreAsync(Database database, SessionOptions options)
    {
        await using (DocumentSession session = database.OpenSession(options with { IsClusterWide = true }))
        {
            session.Advanced.ClusterTransaction.Create("codes/1", "secret");
            await session.SaveChangesAsync();
        }

        await using (DocumentSession session = database.OpenSession(options))
        {
            var place = new Place { Id = "places/new", Name = "Metz", CodeKey = "codes/1", TwinId = "places/0" };
            session.Store(place);
            session.CountersFor(place).Increment("likes", 3);
            session.CountersFor("places/new").Increment("views", 5);
            session.TimeSeriesFor(place, "visitors").Append(_day, [10.0, 20.0], "tag");
            session.TimeSeriesFor("places/new", "visitors").Append(_day.AddDays(1), 11);
            session.TimeSeriesFor<Heat>(place).Append(_day, new Heat { Inside = 20, Outside = 12 });
            session.Advanced.Attachments.Store(place, "plan", new MemoryStream([1, 2, 3]), "image/png");
            await session.SaveChangesAsync();
            session.Advanced.Attachments.Rename("places/new", "plan", "map");
            session.Advanced.Attachments.Copy("places/new", "map", "places/0", "map");
            await session.SaveChangesAsync();
        }

        await using var other = database.OpenSession(options);
        using AttachmentContent? content = other.Advanced.Attachments.Get("places/0", "map");
        Require(content?.Details is { SizeBytes: 3, ContentType: "image/png" } && content.Stream.ReadByte() == 1, "attachments");
        Require(other.Advanced.Attachments.List("places/new") is [{ Name: "map" }], "names of attachments");
        Require(
            other.TimeSeriesFor("places/new", "visitors").Get() is [{ Tag: "tag", Values: [10, 20] }, { Values: [11] }],
            "time series");
        Require(
            other.TimeSeriesFor<Heat>("places/new").Get() is [{ Value: { Inside: 20, Outside: 12 } }]
                && other.Advanced.GetTimeSeriesFor("places/new").Count == 2,
            "time series of a class");
    }

    private static async Task LoadAsync(Database database, SessionOptions options)
    {
        await using DocumentSession session = database.OpenSession(options);
        Place place = session.Load<Place>(
            "places/new",
            includes => includes.IncludeDocuments(p => p.TwinId!).IncludeCounter("likes").IncludeCounters(["views"])
                .IncludeTimeSeries("visitors", _day, _day.AddDays(2)).IncludeCompareExchangeValue(p => p.CodeKey!)
                .IncludeRevisions(DateTime.UtcNow.AddDays(1))) ?? throw new InvalidOperationException("not there");
        int requests = session.Advanced.NumberOfRequests;
        Require(place.Name == "Metz" && session.Load<Place>(place.TwinId!)?.Name == "Reims", "documents brought along");
        Require(session.CountersFor("places/new").Get("likes") == 3, "counters brought along");
        Require(session.TimeSeriesFor("places/new", "visitors").Get(_day, _day.AddDays(2)).Count == 2, "time series with it");
        Require(session.Advanced.Revisions.Get<Place>("places/new", DateTime.UtcNow.AddDays(1)) is not null, "revisions by time");
        Require(session.Advanced.NumberOfRequests <= requests + 1, "reading what was brought along");
        Require((await session.Include<Place>(p => p.TwinId!).LoadAsync<Place>("places/1"))?.Visits == 1, "loads with includes");
        Require(session.Load<Place>(["places/1", "places/none"])["places/none"] is null, "several loads");
        Require(session.LoadStartingWith<Place>("places/", pageSize: 100).Count == 13, "loads by prefix");
        Require(
            session.Advanced.Exists("places/1") && session.Advanced.IsLoaded("places/1")
                && session.Advanced.GetMetadataFor(place)["@collection"]?.ToString() == "Places"
                && session.Advanced.GetChangeVectorFor(place)?.Length > 0
                && session.Advanced.GetLastModifiedFor(place) is not null,
            "metadata");
        await session.Advanced.RefreshAsync(place);
        string known = session.Advanced.GetChangeVectorFor(place)!; // it was loaded
        session.Advanced.Evict(place);
        Require(!session.Advanced.IsLoaded("places/new"), "what is forgotten");
        (Place? same, string? vector) = session.Advanced.ConditionalLoad<Place>("places/new", known);
        Require(same is null && vector == known, "conditional loads");
    }

    private static async Task QueryAsync(Database database, SessionOptions options)
    {
        await using DocumentSession session = database.OpenSession(options);
        List<Place> found = await session.Query<Place>()
            .Where(p => p.Name == "Metz")
            .Include(includes => includes.IncludeAllCounters().IncludeAllTimeSeries().IncludeDocuments(p => p.TwinId!))
            .ToListAsync();
        int requests = session.Advanced.NumberOfRequests;
        Require(found is [{ Id: "places/new" }] && session.CountersFor("places/new").GetAll().Count == 2, "counters of a query");
        Require(session.Load<Place>("places/0") is not null && session.Advanced.NumberOfRequests == requests, "one request");
    }

    private static async Task CompareAndExchangeAsync(Database database, SessionOptions options)
    {
        await using (DocumentSession session = database.OpenSession(options with { IsClusterWide = true }))
        {
            CompareExchange<string> read = session.Advanced.ClusterTransaction.Get<string>("codes/1")
                ?? throw new InvalidOperationException("not there");
            Require(read.Value == "secret", "compare-exchange values");
            session.Advanced.ClusterTransaction.Update(read, "changed");
            session.Advanced.ClusterTransaction.Create("codes/2", new Owner { Name = "Bob" });
            await session.SaveChangesAsync();
            Require(
                session.Advanced.ClusterTransaction.GetStartingWith<string>("codes/1") is [{ Value: "changed" }],
                "values by prefix");
        }

        await using DocumentSession other = database.OpenSession(options with { IsClusterWide = true });
        other.Advanced.ClusterTransaction.Create("codes/2", new Owner());
        try
        {
            await other.SaveChangesAsync();
            Require(false, "a value that is there already");
        }
        catch (ClusterTransactionConcurrencyException)
        {
            // as it should be
        }
    }

    private static async Task ReviseAsync(Database database, SessionOptions options)
    {
        await using DocumentSession session = database.OpenSession(options);
        Place place = session.Load<Place>("places/new") ?? throw new InvalidOperationException("not there");
        place.Name = "Toul";
        await session.SaveChangesAsync();
        Require(session.Advanced.Revisions.GetFor<Place>("places/new") is [{ Name: "Toul" }, { Name: "Metz" }, ..], "revisions");
        Require(session.Advanced.Revisions.GetCountFor("places/new") >= 2, "number of revisions");
        string first = session.Advanced.Revisions.GetMetadataFor("places/new")[1]["@change-vector"]!.ToString(); // each has one
        Require(session.Advanced.Revisions.Get<Place>(first)?.Name == "Metz", "one revision");
        using AttachmentContent? content = session.Advanced.Attachments.GetRevision("places/new", "map", first);
        Require(content?.Details.SizeBytes == 3, "attachments of revisions");
        await database.Revisions.RevertAsync(new Dictionary<string, string> { ["places/new"] = first });
        await session.Advanced.RefreshAsync(place);
        Require(place.Name == "Metz", "documents brought back");
    }

    private static async Task PatchAsync(IDocumentStore database, SessionOptions options)
    {
        await using (IAsyncDocumentSession session = database.OpenAsyncSession(options))
        {
            session.Advanced.Increment<Place, int>("places/1", p => p.Visits, 10);
            session.Advanced.Patch("places/1", (Place p) => p.Name, "Sens");
            session.Advanced.Patch<Place, string>("places/1", p => p.Tags, tags => tags.Add("new").RemoveAll("all"));
            session.Advanced.AddOrIncrement("places/made", new Place { Name = "Laon", Visits = 1 }, p => p.Visits, 1);
            await session.SaveChangesAsync();
        }

        using IDocumentSession other = database.OpenSession(options);
        Place? place = other.Load<Place>("places/1");
        Require(place is { Visits: 11, Name: "Sens", Tags: ["t1", "new"] }, "patches");
        Require(other.Load<Place>("places/made")?.Visits == 1, "patches of what is not there");
        long changed = await database.PatchByQueryAsync<Place>(
            p => p.Name == "Laon", patch => patch.Set(p => p.Country, "Italy").Increment(p => p.Visits, 4), options);
        await other.Advanced.RefreshAsync(other.Load<Place>("places/made")!); // it was loaded above
        Require(changed == 1 && other.Load<Place>("places/made") is { Country: "Italy", Visits: 5 }, "patches by query");
        Require(
            await database.DeleteByQueryAsync(
                "from Places where Name = $name and Visits in ($visits)",
                new Dictionary<string, object?> { ["name"] = "Laon", ["visits"] = new[] { 5, 6 } }) == 1,
            "deletions by query in text");
        using var parameters = JsonDocument.Parse("""{"name":"Laon"}""");
        Require(
            await database.DeleteByQueryAsync("from Places where Name = $name", parameters.RootElement) == 0
                && await database.DeleteByQueryAsync("from Places where Name = 'Laon'") == 0
                && await database.DeleteByQueryAsync($"from Places where Name = {"Laon"} and Visits in ({new[] { 5, 6 }})") == 0,
            "parameters as JSON");
        try
        {
            await database.PatchByQueryAsync(
                "from Places where Name = $name update { this.Visits = args.visits; }",
                new Dictionary<string, object?> { ["name"] = "Sens", ["visits"] = 12 });
            Require(false, "scripts without an engine");
        }
        catch (ScriptException)
        {
            // The program has no engine: an engine compiles by reflection.
        }
    }

    private static async Task DeriveAsync(Database database, SessionOptions options)
    {
        var bird = new Bird { Name = "magpie", Wingspan = 56 };
        await using (IAsyncDocumentSession session = database.OpenAsyncSession(options))
        {
            await session.StoreAsync(bird);
            await session.SaveChangesAsync();
        }

        await using IAsyncDocumentSession other = database.OpenAsyncSession(options);
        Require(await other.LoadAsync<Animal>(bird.Id) is Bird { Wingspan: 56 }, "derived types and ids of other types");
    }
}
