using System.Text;
using System.Text.Json;
using Treepie.Backups;
using Treepie.Documents.Tests.BackupTasks;
using Treepie.Documents.Tests.Kinds;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Backups;

/// <summary>What lies beside documents, in dumps: in the form others read, and again over what is there.</summary>
public sealed class DumpedKindsTests : IDisposable
{
    private static readonly DateTime _start = new(2024, 1, 1, 0, 0, 0, DateTimeKind.Utc);

    private readonly TemporaryDirectory _files = new();
    private readonly ManualClock _clock = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task Revisions_stand_in_a_dump_as_documents_with_their_bodies_whoever_has_them()
    {
        byte[] dump = await DumpAsync();
        using var json = JsonDocument.Parse(dump);
        JsonElement[] revisions = [.. json.RootElement.GetProperty("RevisionDocuments").EnumerateArray()];
        Assert.Equal(
            [0, 1, 1, null], revisions.Select(static revision => revision.TryGetProperty("n", out JsonElement n)
                ? n.GetInt32()
                : (int?)null));
        Assert.False(
            json.RootElement.GetProperty("DatabaseRecord").GetProperty("Revisions").GetProperty("Default")
                .GetProperty("Disabled").GetBoolean());
        JsonElement metadata = revisions[2].GetProperty("@metadata");
        Assert.Equal("d/1", metadata.GetProperty("@id").GetString());
        Assert.Equal("Things", metadata.GetProperty("@collection").GetString());
        Assert.Equal("HasRevisions, Revision", metadata.GetProperty("@flags").GetString());
        Assert.Equal(
            "HasRevisions, DeleteRevision", revisions[3].GetProperty("@metadata").GetProperty("@flags").GetString());
    }

    [Fact]
    public async Task Imported_rules_of_time_series_apply_to_the_series_that_are_here()
    {
        using var dump = new MemoryStream();
        await using (Database other = Database.Open(Path.Combine(_files.Path, "other")))
        {
            await other.TimeSeriesPolicies.ConfigureAsync(Hourly("B"), Cancel);
            await other.BackupAsync(dump, Plain, null, Cancel);
        }

        _clock.Now = new DateTimeOffset(_start.AddDays(1));
        await using Database database = Database.Open(
            Path.Combine(_files.Path, "here"), new DatabaseOptions { TimeProvider = _clock });
        await database.WriteAsync(
            new WriteBatch().Put("b/1", "{\"@metadata\":{\"@collection\":\"B\"}}"u8)
                .TimeSeries("b/1", "S", [new TimeSeriesPoint(_start, [1]), new TimeSeriesPoint(_start.AddMinutes(1), [2])]),
            Cancel);
        await database.TimeSeriesPolicies.ConfigureAsync(Hourly("A"), Cancel);
        await database.TimeSeriesPolicies.RunAsync(Cancel);

        dump.Position = 0;
        await database.ImportAsync(dump, null, null, Cancel);
        await database.TimeSeriesPolicies.RunAsync(Cancel);
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.Equal(2, Assert.Single(snapshot.TimeSeries("b/1", "S@ByHour")).Values[5]);

        static TimeSeriesConfiguration Hourly(string collection) => new TimeSeriesConfiguration().With(
            collection, new() { Policies = [new TimeSeriesPolicy("ByHour", TimeSeriesPeriod.Of(TimeSpan.FromHours(1)))] });
    }

    [Fact]
    public async Task Settings_from_before_an_error_apply_at_once()
    {
        using var dump = new MemoryStream();
        await using (Database other = Database.Open(Path.Combine(_files.Path, "other")))
        {
            await other.TimeSeriesPolicies.ConfigureAsync(
                new TimeSeriesConfiguration().With("B", new() { RawRetention = TimeSeriesPeriod.OfMonths(1) }), Cancel);
            await other.Lifecycle.SetAsync(LifecycleTask.Expiration, new LifecycleSettings(), Cancel);
            await other.BackupAsync(dump, Plain, null, Cancel);
        }

        await using Database database = Database.Open(Path.Combine(_files.Path, "here"));
        await Assert.ThrowsAsync<BackupException>(
            () => database.ImportAsync(new MemoryStream(dump.ToArray()[..^20]), null, null, Cancel));
        Assert.NotNull(database.TimeSeriesPolicies.Configuration);
        Assert.True(database.Lifecycle.IsScheduled);
    }

    [Fact]
    public async Task A_restore_gives_the_same_revisions_and_the_same_dump_again()
    {
        byte[] dump = await DumpAsync();
        string target = Path.Combine(_files.Path, "restored");
        BackupReport report = await Database.RestoreAsync(new MemoryStream(dump), target, null, null, Cancel);
        await using Database database = Database.Open(target);
        KindInvariants.Check(database);
        using var again = new MemoryStream();
        BackupReport second = await database.BackupAsync(again, Plain, null, Cancel);
        Assert.Equal(report.ContentHash, second.ContentHash);
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.Equal(["{\"n\":1}", "{\"n\":1}", "{\"n\":0}"], snapshot.Revisions("d/1").Select(Body));
    }

    [Fact]
    public async Task A_dump_imported_twice_changes_nothing_the_second_time()
    {
        byte[] dump = await DumpAsync();
        await using Database database = Open("imported");
        await database.ImportAsync(new MemoryStream(dump), null, null, Cancel);
        string[] first = Describe(database);
        Assert.Contains("d/1 3 revisions", first);
        BackupReport report = await database.ImportAsync(new MemoryStream(dump), null, null, Cancel);
        Assert.Equal(first, Describe(database));
        BackupSection revisions = report.Sections.Single(static section => section.Name == "RevisionDocuments");
        Assert.Equal((0, 4), (revisions.Taken, revisions.LeftOut));
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task Entries_of_a_dump_go_between_those_that_are_there()
    {
        byte[] dump = await DumpAsync();
        await using Database database = Open("imported");
        await database.WriteAsync(
            new WriteBatch().Put("d/1", """{"n":7,"@metadata":{"@collection":"Things"}}"""u8)
                .TimeSeries("d/1", "Heart", [.. Enumerable.Range(0, 4000).Select(static i => At(i - 2000, 7))]),
            Cancel);
        await database.ImportAsync(new MemoryStream(dump), null, null, Cancel);
        using DatabaseSnapshot snapshot = database.BeginRead();
        TimeSeriesPoint[] points = [.. snapshot.TimeSeries("d/1", "heart", DateTime.MinValue, DateTime.MaxValue)];
        Assert.Equal(5000, points.Length);
        Assert.Equal(points.OrderBy(static point => point.Timestamp), points);
        Assert.All(
            points, static point => Assert.Equal(
                point.Timestamp >= _start ? 1 : 7, point.Values[0]));
        KindInvariants.Check(database);
    }

    private static BackupOptions Plain => new() { Compression = BackupCompression.None };

    private static TimeSeriesPoint At(int second, double value) => new(_start.AddSeconds(second), [value], null);

    private static string Body(Revision revision) => Encoding.UTF8.GetString(revision.Body.Span);

    private static string[] Describe(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        var lines = new List<string>();
        foreach (string id in (string[])["d/1", "d/2"])
        {
            lines.Add($"{id} {(snapshot.TryGet(id, out Document document) ? document.ChangeVector : "absent")}");
            lines.Add($"{id} {snapshot.RevisionCount(id)} revisions");
            lines.AddRange(snapshot.Revisions(id).Select(revision => $"{revision.IsDeletion} {Body(revision)}"));
            lines.AddRange(snapshot.Counters(id).Select(static counter => $"{counter.Name} {counter.Value}"));
            lines.Add($"{snapshot.TimeSeries(id, "Heart", DateTime.MinValue, DateTime.MaxValue).Count()} entries");
        }

        return [.. lines];
    }

    private Database Open(string name) =>
        Database.Open(Path.Combine(_files.Path, name), new DatabaseOptions { TimeProvider = _clock });

    private async Task<byte[]> DumpAsync()
    {
        await using Database database = Open("source");
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
        for (int i = 0; i < 2; i++)
        {
            await database.WriteAsync(
                new WriteBatch().Put(
                    "d/1", Encoding.UTF8.GetBytes($$$"""{"n":{{{i}}},"@metadata":{"@collection":"Things"}}""")), Cancel);
            _clock.Now += TimeSpan.FromMinutes(1);
        }

        await database.WriteAsync(new WriteBatch().IncrementCounter("d/1", "Likes", 5), Cancel); // a revision of the same body
        await database.WriteAsync(
            new WriteBatch().TimeSeries("d/1", "Heart", [.. Enumerable.Range(0, 3000).Select(static i => At(i, 1))]), Cancel);
        await database.Revisions.DeleteAsync("d/1", [LastRevision(database)], Cancel); // that of the time series
        await database.WriteAsync(new WriteBatch().Put("d/2", "{}"u8).Delete("d/2"), Cancel);
        await database.Revisions.DeleteAsync("d/2", [FirstRevision(database)], Cancel);
        using var output = new MemoryStream();
        await database.BackupAsync(output, Plain, null, Cancel);
        return output.ToArray();
    }

    private static string LastRevision(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return snapshot.Revisions("d/1").First().ChangeVector;
    }

    private static string FirstRevision(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return snapshot.Revisions("d/2").Last().ChangeVector;
    }
}
