using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Backups;
using Treepie.Indexes;
using Treepie.Kinds;
using Treepie.Queries;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Backups;

/// <summary>
/// Dumps with every section that RavenDB documents: what is built here is taken, all else is counted by its name and left out,
/// and nothing of it is called damage.
/// </summary>
public sealed class RavenDumpTests : IDisposable
{
    /// <summary>Bytes that would end a JSON reader if it looked at them.</summary>
    private static readonly byte[] _raw =
        [.. Enumerable.Range(0, 300).Select(static value => (byte)"]}\",{[\\\0\u00ff7"[value % 10])];

    private static readonly byte[] _other = [.. _raw.Reverse()];

    private readonly TemporaryDirectory _files = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private string Target => Path.Combine(_files.Path, "restored");

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task A_dump_of_all_sections_comes_in_and_what_is_not_built_is_named_with_its_number()
    {
        BackupReport report = await Database.RestoreAsync(new MemoryStream(Whole()), Target, null, null, Cancel);
        Assert.Equal(new BackupCounts(2, 0, 2, 1, 0) { Beside = 10 }, report.Counts);
        var expected = new SortedDictionary<string, long>(StringComparer.Ordinal)
        {
            ["'ConflictSolverConfig' of the database record"] = 1,
            ["'Refresh' of the database record"] = 1,
            ["'Settings' of the database record"] = 1,
            ["attachments of revisions without a content"] = 1,
            ["CompareExchangeTombstones"] = 1,
            ["Counters"] = 1,
            ["Indexes that this program cannot build"] = 1,
            ["Subscriptions"] = 1,
            ["TimeSeries"] = 3,
            ["TimeSeriesDeletedRanges"] = 1,
            ["Tombstones"] = 1,
        };
        Assert.Equal(expected, new SortedDictionary<string, long>(report.Skipped.ToDictionary(), StringComparer.Ordinal));
        await using Database database = Database.Open(Target);
        Assert.Equal(
            ["Auto/Users/ByNameAndSearch(Name)", "Users/ByAge"], database.Indexes.List().Select(static index => index.Name));
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.Equal(
            [("Likes", 15L), ("old", 4L)],
            snapshot.Counters("users/1-A").Select(static counter => (counter.Name, counter.Value)));
        AttachmentValue attachment = Assert.Single(snapshot.Attachments("users/1-A"));
        Assert.Equal(("a", _raw.Length), (attachment.Name, (int)attachment.SizeBytes));
        Assert.Equal(_raw, snapshot.Content(attachment, 0).ToArray());
        Assert.NotNull(snapshot.CompareExchange("a"));
        Assert.Equal(7, database.Revisions.Configuration?.Default?.MinimumToKeep);
        Assert.Equal(
            TimeSpan.FromSeconds(77), database.Lifecycle.Get(Treepie.Lifecycle.LifecycleTask.Expiration)?.Frequency);
        Assert.Equal(
            """{"MaxNumberOfRequestsPerSession":30}""",
            Encoding.UTF8.GetString(database.Settings.Get("client-configuration")!.Value.Span));
        Assert.Equal(["Users"], database.Compression.Configuration?.Collections);
        Assert.Equal("By1Hour", database.TimeSeriesPolicies.Configuration?.Collections["users"].Policies[0].Name);
        Revision revision = Assert.Single(snapshot.Revisions("users/1-A"));
        Assert.Equal("""{"Name":"Old"}""", Encoding.UTF8.GetString(revision.Body.Span));
        Assert.Equal(
            [("a", "", _raw), ("b", "text/plain", _other)],
            revision.Attachments.Select(one => (one.Name, one.ContentType, snapshot.Content(one, 0).ToArray())));
        Assert.Equal(2, database.GetStatistics().UniqueAttachmentCount);
        Assert.Equal(
            new IndexSettings { LockMode = IndexLockMode.LockedIgnore }, database.Indexes.Control.Settings("Users/ByAge"));
        AssertHistory(database, (3, "u.Age"), (2, "u.Years"));
        Assert.Empty(database.Indexes.History("Gone"));
    }

    [Fact]
    public async Task The_last_definitions_of_an_index_go_with_it()
    {
        await using Database database = Database.Open(Target);
        await database.ImportAsync(new MemoryStream(Whole()), null, null, Cancel);
        AssertHistory(database, (3, "u.Age"), (2, "u.Years"));
        using var output = new MemoryStream();
        await database.BackupAsync(output, new BackupOptions { Compression = BackupCompression.None }, null, Cancel);

        string copy = Path.Combine(_files.Path, "copy");
        await Database.RestoreAsync(new MemoryStream(output.ToArray()), copy, null, null, Cancel);
        await using Database restored = Database.Open(copy);
        AssertHistory(restored, (3, "u.Age"), (2, "u.Years"));

        // An index that is there already keeps its own.
        await restored.ImportAsync(new MemoryStream(Whole()), null, null, Cancel);
        AssertHistory(restored, (3, "u.Age"), (2, "u.Years"));
        restored.Indexes.Control.Set("Users/ByAge", static settings => settings with { LockMode = IndexLockMode.Unlock });
        using var years = JsonDocument.Parse(
            """{"Name":"Users/ByAge","Maps":["from u in docs.Users select new { u.Years, u.Age }"]}""");
        restored.Indexes.Put(IndexDefinition.FromJson(years.RootElement));
        await restored.ImportAsync(new MemoryStream(Whole()), null, null, Cancel);
        Assert.Equal(4, restored.Indexes.History("Users/ByAge").Count);
        Assert.Contains("u.Age }", restored.Indexes.History("Users/ByAge")[0].Definition.Maps[0], StringComparison.Ordinal);
    }

    private static void AssertHistory(Database database, params (int Day, string Field)[] versions)
    {
        IReadOnlyList<DefinitionVersion> history = database.Indexes.History("Users/ByAge");
        Assert.Equal(
            versions.Select(
                static one => (
                    new DateTime(2024, 1, one.Day, 0, 0, 0, DateTimeKind.Utc),
                    $"from u in docs.Users select new {{ {one.Field} }}")),
            history.Select(static version => (version.CreatedAt, Assert.Single(version.Definition.Maps))));
    }

    [Fact]
    public async Task Flags_of_what_was_left_out_go_from_the_metadata_and_others_stay()
    {
        await Database.RestoreAsync(new MemoryStream(Whole()), Target, null, null, Cancel);
        await using (Database restored = Database.Open(Target))
            AssertNoFlags(restored);
        await using Database database = Database.Open(Path.Combine(_files.Path, "imported"));
        await database.ImportAsync(new MemoryStream(Whole()), null, null, Cancel);
        AssertNoFlags(database);
    }

    [Fact]
    public async Task Our_own_dump_has_indexes_where_others_look_for_them()
    {
        await using Database database = Database.Open(Target);
        await database.WriteAsync(
            new WriteBatch().Put("users/1", "{\"Name\":\"Ada\",\"@metadata\":{\"@collection\":\"Users\"}}"u8.ToArray()), Cancel);
        database.Indexes.Put(
            new IndexDefinition
            {
                Name = "Users/ByAge",
                Collections = ["Users"],
                Fields = [new IndexFieldDefinition { Name = "Age" }]
            });
        using (await database.QueryAsync(new QueryRequest { Text = "from Users where search(Name, 'ada')" }, Cancel))
        {
        }

        using var output = new MemoryStream();
        await database.BackupAsync(output, new BackupOptions { Compression = BackupCompression.None }, null, Cancel);
        using var dump = JsonDocument.Parse(output.ToArray());
        JsonElement[] indexes = [.. dump.RootElement.GetProperty("Indexes").EnumerateArray()];
        JsonElement automatic = indexes.Single(static index => index.GetProperty("Type").GetString() == "AutoMap")
            .GetProperty("IndexDefinition");
        Assert.Equal("Users", Assert.Single(automatic.GetProperty("Collections").EnumerateArray()).GetString());
        JsonElement field = automatic.GetProperty("MapFields").EnumerateArray().Single();
        Assert.Equal("Name", field.GetProperty("Name").GetString());
        Assert.Contains("Search", field.GetProperty("Indexing").GetString(), StringComparison.Ordinal);
        Assert.Equal(
            "Users/ByAge",
            indexes.Single(static index => index.GetProperty("Type").GetString() == "JavaScriptMap")
                .GetProperty("IndexDefinition")
                .GetProperty("Name")
                .GetString());
    }

    [Fact]
    public async Task An_import_that_breaks_says_what_is_in()
    {
        byte[] whole = Whole();
        int end = whole.AsSpan().IndexOf("\"Identities\""u8);
        await using Database database = Database.Open(Target);
        BackupException error = await Assert.ThrowsAsync<BackupException>(
            () => database.ImportAsync(new MemoryStream(whole[..end]), null, null, Cancel));
        Assert.Equal(BackupFault.CutOff, error.Fault);
        Assert.Contains("2 documents", error.Message, StringComparison.Ordinal);
        Assert.Contains("2 indexes", error.Message, StringComparison.Ordinal);
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.Equal(2, snapshot.DocumentCount);
    }

    private static void AssertNoFlags(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.True(snapshot.TryGet("users/1-A", out Document all));
        Assert.Equal("""{"own":1}""", Encoding.UTF8.GetString(all.Metadata));
        Assert.True(snapshot.TryGet("users/2-A", out Document some));
        Assert.Equal("""{"@flags":"FromResharding"}""", Encoding.UTF8.GetString(some.Metadata));
    }

    private static byte[] Whole()
    {
        using var dump = new MemoryStream();
        string size = _raw.Length.ToString(CultureInfo.InvariantCulture);
        Text("""
            {"BuildVersion":62014,"DatabaseRecord":{"DatabaseName":"Northwind","Encrypted":false,"Revisions":{"Default":{"MinimumRevisionsToKeep":7}},
              "Expiration":{"Disabled":false,"DeleteFrequencyInSec":77},"Refresh":{"DeleteFrequencyInSec":5,"RefreshFrequencyInSec":-1},"Sorters":{},
              "TimeSeries":{"Collections":{"Users":{"Policies":[{"Name":"By1Hour","AggregationTime":{"Value":3600,"Unit":"Second"}}]}}},
              "DocumentsCompression":{"Collections":["Users"],"CompressAllCollections":false,"CompressRevisions":true},
              "IndexesHistory":{"users/byage":[
                {"CreatedAt":"2024-01-02T00:00:00.0000000Z","Source":"Client","Definition":{"Name":"Users/ByAge","Maps":["from u in docs.Users select new { u.Years }"]}},
                {"CreatedAt":"2024-01-03T00:00:00.0000000Z","Source":"Client","Definition":{"Name":"Users/ByAge","Maps":["from u in docs.Users select new { u.Age }"]}},
                {"CreatedAt":"2024-01-01T00:00:00.0000000Z","Source":"Client","Definition":{"Name":"Users/ByAge","Maps":["this is no map"]}}],
                "Gone":[{"CreatedAt":"2024-01-01T00:00:00.0000000Z","Definition":{"Name":"Gone","Maps":["from u in docs.Users select new { u.Age }"]}}]},
              "Settings":{"Indexing.MapTimeoutInSec":"7"},"ConflictSolverConfig":["no object"],"Client":{"MaxNumberOfRequestsPerSession":30}},
            "Docs":[
            {"@metadata":{"@export-type":"Attachment"},"Hash":"EcDnm3HDl2zNDALRMQ4lFsCO3J2Lb1fM1oDWOk2Octo=","Size":@,"Tag":"x"}
            """);
        dump.Write(_raw);
        Text("""
            ,{"Name":"Ada","@metadata":{"@collection":"Users","@id":"users/1-A","@flags":"HasAttachments, HasCounters, HasTimeSeries, HasRevisions","own":1,
              "@attachments":[{"Name":"a","Hash":"EcDnm3HDl2zNDALRMQ4lFsCO3J2Lb1fM1oDWOk2Octo=","ContentType":"","Size":@}],"@counters":["likes"],"@timeseries":["heart"]}},
            {"Name":"Bob","@metadata":{"@collection":"Users","@id":"users/2-A","@flags":"HasRevisions, FromResharding"}}],
            "RevisionDocuments":[
            {"@metadata":{"@export-type":"Attachment"},"Hash":"AAAAm3HDl2zNDALRMQ4lFsCO3J2Lb1fM1oDWOk2Octo=","Size":@,"Tag":"x"}
            """);
        dump.Write(_other);
        Text("""
            ,{"Name":"Old","@metadata":{"@id":"users/1-A","@flags":"HasRevisions, Revision, HasAttachments",
              "@attachments":[{"Name":"a","Hash":"EcDnm3HDl2zNDALRMQ4lFsCO3J2Lb1fM1oDWOk2Octo=","ContentType":"","Size":@},
              {"Name":"b","Hash":"AAAAm3HDl2zNDALRMQ4lFsCO3J2Lb1fM1oDWOk2Octo=","ContentType":"text/plain","Size":@},
              {"Name":"c","Hash":"BBBBm3HDl2zNDALRMQ4lFsCO3J2Lb1fM1oDWOk2Octo=","ContentType":"","Size":7}]}}],
            "Conflicts":[],
            "Tombstones":[{"Key":"users/9","Type":"Document","Collection":"Users"}],
            "Indexes":[
            {"Type":"Map","IndexDefinition":{"Name":"Users/ByAge","LockMode":"LockedIgnore","Maps":["from u in docs.Users select new { u.Age }"],"Type":"Map"}},
            {"Type":"AutoMap","IndexDefinition":{"Type":"AutoMap","Name":"Auto/Users/ByNameAndSearch(Name)","Collections":["Users"],"GroupByFields":[],
              "MapFields":[{"Name":"Name","Indexing":"Default, Search","Storage":"No","Spatial":null,"IsNameQuoted":false}]}},
            {"Type":"MapReduce","IndexDefinition":{"Name":"Users/Count","Maps":["from u in docs.Users select new { u.Name }"],"Reduce":"from r in results group r by r.Name into g select new { g.Key }"}}],
            "Identities":[{"Key":"users|","Value":"7"}],
            "CompareExchange":[{"Key":"a","Value":"{\"Object\":1}"}],
            "CompareExchangeTombstones":[{"Key":"b"}],
            "Subscriptions":[{"SubscriptionName":"s"}],
            "Counters":[{"DocId":"users/1-A","Name":"old","Value":4},{"DocId":"users/2-A","Values":{}}],
            "CounterGroups":[{"DocId":"users/1-A","ChangeVector":"A:9-x","Values":{"@dbIds":["UZLFFnVNzUmsuxR0XYrOfg","EcDnm3HDl2zNDALRMQ4lFg"],"@names":{"likes":"Likes"},"@vals":{"likes":[10,7,5,8],"gone":"A:3-x"}}}],
            "TimeSeries":[
            {"DocId":"users/1-A","Name":"Heart","ChangeVector":"A:1-x","Collection":"Users","Baseline":"2024-01-01T00:00:00.0000000Z","SegmentSize":@}
            """);
        dump.Write(_raw);
        Text(""",{"Document":{"DocId":"users/1-A","Name":"Heart"},"Size":@}""");
        dump.Write(_raw);
        Text(
            """,{"DocId":"users/1-A","Name":"Heart","@size":0}],"TimeSeriesDeletedRanges":[{"DocId":"users/1-A"}],"ReplicationHubCertificates":[]}""");
        return dump.ToArray();

        void Text(string text) =>
            dump.Write(
                Encoding.UTF8.GetBytes(
                    text.Replace("@,", size + ",", StringComparison.Ordinal)
                        .Replace("@}", size + "}", StringComparison.Ordinal)));
    }
}
