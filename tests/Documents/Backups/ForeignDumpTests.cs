using System.Globalization;
using System.IO.Compression;
using System.Text;
using Treepie.Backups;
using Treepie.Indexes;
using Treepie.Kinds;
using Treepie.Queries;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Backups;

/// <summary>
/// Dumps as RavenDB writes them, made by hand: what this program has is taken, what it has not is counted, and what follows an
/// attachment is not taken for JSON.
/// </summary>
public sealed class ForeignDumpTests : IDisposable
{
    private const string Attachment = "not JSON: \"{[ \u0000\u00ff";

    private static readonly string _dump = """
        { "BuildVersion" : 62014,
          "DatabaseRecord" : { "DatabaseName":"Northwind", "Encrypted":false, "Settings":{"a":[1,{"b":"]}"}]} },
          "Docs":[
            {"Name":"Ada \"the first\"","Age":36,"@metadata":{"@collection":"Users","@change-vector":"A:12-UZLFFnVNzUmsuxR0XYrOfg, B:3-aaaaaaaaaaaaaaaaaaaaaa","@id":"users/1-A","@last-modified":"2023-05-04T01:02:03.1234567Z","Raven-Node-Type":"User"}},
            {"@metadata":{"@export-type":"Attachment"},"Hash":"EcDnm3HDl2zNDALRMQ4lFsCO3J2Lb1fM1oDWOk2Octo=","Size":__SIZE__,"Tag":"x"}__RAW__,
            { "Max" : 64 , "@metadata" : { "@id":"Raven/Hilo/users", "@collection":"@hilo" } }
          ],
          "RevisionDocuments":[{"Name":"old","@metadata":{"@id":"users/1-A","@flags":"Revision"}}],
          "Tombstones":[{"Key":"users/9","Collection":"Users"}],
          "Indexes":[
            {"Type":"AutoMap","Definition":{"Name":"Auto/Users/ByAgeAndsearch(Name)","Type":"AutoMap","Collection":"Users","MapFields":{"Age":{"Storage":"No","Indexing":"Default"},"Name":{"Storage":"No","Indexing":"Default, Search"}}}},
            {"Type":"Map","Definition":{"Name":"Users/Search","Maps":["from u in docs.Users select new { Name = u.Name.ToLower() }"]}}
          ],
          "Identities":[{"Key":"users|","Value":"7"},{"Key":"orders|","Value":3}],
          "CompareExchange":[{"Key":"a","Value":"{\"Object\":1}"},{"Key":"b","Value":"{}"}],
          "Subscriptions":[]
        }
        """
        .Replace(
            "__SIZE__", Encoding.UTF8.GetByteCount(Attachment).ToString(System.Globalization.CultureInfo.InvariantCulture),
            StringComparison.Ordinal)
        .Replace("__RAW__", Attachment, StringComparison.Ordinal);

    private readonly TemporaryDirectory _files = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private string Target => Path.Combine(_files.Path, "restored");

    public void Dispose() => _files.Dispose();

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_dump_of_ravendb_becomes_a_database(bool isGzip)
    {
        BackupReport report = await Database.RestoreAsync(Dump(_dump, isGzip), Target, null, null, Cancel);
        Assert.Equal(new BackupCounts(2, 0, 1, 2, 0) { Beside = 3 }, report.Counts);
        Assert.Equal((null, null, isGzip ? "gzip" : "none"), (report.ContentHash, report.DatabaseName, report.Compression));
        Assert.Equal(
            new SortedDictionary<string, long>
            {
                ["'Settings' of the database record"] = 1,
                ["Attachment"] = 1,
                ["Indexes that this program cannot build"] = 1,
                ["Tombstones"] = 1
            },
            report.Skipped.OrderBy(entry => entry.Key, StringComparer.Ordinal).ToDictionary());

        await using Database database = Database.Open(Target);
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.True(snapshot.TryGet("USERS/1-a", out Document user));
        Assert.Equal(
            """{"Name":"Ada \"the first\"","Age":36} {"Raven-Node-Type":"User"} Users 1""",
            $"{Text(user.Body)} {Text(user.Metadata)} {user.CollectionName} {user.Etag}");
        Assert.Equal(new DateTime(2023, 5, 4, 1, 2, 3, DateTimeKind.Utc).AddTicks(1_234_567).Ticks, user.LastModifiedTicks);
        Assert.Equal(
            ("a", """{"Object":1}"""), (snapshot.CompareExchange("A")!.Key, Text(snapshot.CompareExchange("A")!.Body.Span)));
        Assert.Equal([("orders|", 3L), ("users|", 7L)], snapshot.Identities().Select(identity => (identity.Key, identity.Value)));
        Assert.Equal(
            ["Auto/Users/ByAgeAndNameAndSearch(Name) over Users: Age, Name, search(Name)"], DatabaseText.IndexesOf(database));
        Assert.Equal(65, (await database.NextHiLoRangeAsync(new HiLoRequest("users", 0, DateTime.UnixEpoch, 0), Cancel)).Low);
        Assert.Empty(database.Check(Cancel).Problems);
    }

    [Theory]
    [InlineData("""{"X":1,"@metadata":{"@collection":"A","@id":"a/1"}}""", """{"X":1} {}""")]
    [InlineData("""{"X":1,"@metadata":{"@collection":"A","@id":"a/1"} }""", """{"X":1} {}""")]
    [InlineData(
        """{"@metadata":{"@collection":"A","@id":"a/1"},"X":{"@metadata":{"@id":"b/2"}}}""",
        """{"X":{"@metadata":{"@id":"b/2"}}} {}""")]
    [InlineData(
        """{"X":[{"@metadata":{"@id":"b/2"}}],"@metadata":{"@id":"a/1","@collection":"A","U":{"@metadata":{"@id":"b/2"}}}}""",
        """{"X":[{"@metadata":{"@id":"b/2"}}]} {"U":{"@metadata":{"@id":"b/2"}}}""")]
    [InlineData(
        """{"@metadata":{"@collection":"A","@id":"a/1"},"X":"\"@metadata\":{\"@id\":\"b/2\"}"}""",
        """{"X":"\"@metadata\":{\"@id\":\"b/2\"}"} {}""")]
    public async Task The_metadata_of_a_document_is_that_of_its_root(string document, string expected)
    {
        await Database.RestoreAsync(Dump($$"""{"Docs":[{{document}}]}""", isGzip: false), Target, null, null, Cancel);
        await using Database database = Database.Open(Target);
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.True(snapshot.TryGet("a/1", out Document found));
        Assert.Equal(expected, $"{Text(found.Body)} {Text(found.Metadata)}");
        Assert.Equal("A", found.CollectionName);
    }

    [Fact]
    public async Task An_import_goes_over_what_is_there_and_never_gives_a_number_twice()
    {
        await using Database database = Database.Open(Target);
        using var batch = new WriteBatch();
        batch.Put("users/1-A", "{\"old\":1,\"@metadata\":{\"@collection\":\"Users\"}}"u8.ToArray())
            .Put("other/1", "{}"u8.ToArray());
        await database.WriteAsync(batch, Cancel);
        await database.SeedIdentityAsync("users|", 1_000, cancellationToken: Cancel);
        for (int i = 0; i < 4; i++)
            await database.NextHiLoRangeAsync(new HiLoRequest("users", 64, DateTime.UnixEpoch, 0), Cancel);
        BackupReport report = await database.ImportAsync(Dump(_dump, isGzip: true), null, null, Cancel);
        Assert.Equal(2, report.Counts.Documents);
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.True(snapshot.TryGet("users/1-A", out Document user) && Text(user.Body).Contains("Ada", StringComparison.Ordinal));
        Assert.Equal((1_000L, 3L), (snapshot.Identities()["users|"], snapshot.Identities()["orders|"]));
        Assert.Equal(3, snapshot.DocumentCount);
        Assert.True(snapshot.TryGet("Raven/Hilo/users", out Document range));
        Assert.DoesNotContain("64}", Text(range.Body), StringComparison.Ordinal);
        Assert.Single(database.Indexes.List());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Indexes_whose_maps_name_paths_are_taken_over_with_what_is_set_of_them(bool isImport)
    {
        const string Indexes = """
            {"Type":"Map","Definition":{"AdditionalAssemblies":[],"AdditionalSources":{},"ArchivedDataProcessingBehavior":null,"CompoundFields":[],"Configuration":{},"DeploymentMode":"Parallel",
              "Fields":{"Name":{"Analyzer":null,"Indexing":"Search","Spatial":null,"Storage":"Yes","Suggestions":null,"TermVector":null,"Vector":null}},"IsTested":false,"LockMode":"LockedIgnore",
              "Maps":["from u in docs.Users\r\nselect new\r\n{\r\n    u.Name,\r\n    Years = u.Age\r\n}"],"Name":"Users/Words","OutputReduceToCollection":null,"PatternReferencesCollectionName":null,
              "Priority":"High","Reduce":null,"ReduceOutputIndex":null,"SourceType":"Documents","State":null,"Type":"Map"}},
            {"Type":"JavaScriptMap","Definition":{"Name":"Users/ByAge","Maps":["map('Users', u => ({ Age: u.Age }))"],"Type":"JavaScriptMap","State":"Disabled"}},
            {"Type":"MapReduce","Definition":{"Name":"Users/Count","Maps":["from u in docs.Users select new { u.Name }"],"Reduce":"from r in results group r by r.Name into g select new { Name = g.Key }"}},
            {"Type":"JavaScriptMap","Definition":{"Name":"Users/Computed","Maps":["map('Users', u => ({ Age: u.Age + 1 }))"]}},
            {"Type":"Map","Definition":{"Name":"Users/Strange","Maps":7}},
            {"Type":"Map","Definition":"none"}
            """;
        string dump = _dump[.._dump.IndexOf("\"Indexes\"", StringComparison.Ordinal)] + $"\"Indexes\":[{Indexes}]}}";
        if (!isImport)
            Assert.Equal((2L, 4L), await RestoredAsync(dump));
        await using Database database = Database.Open(Target);
        if (isImport)
        {
            BackupReport report = await database.ImportAsync(
                Dump(
                    dump.Replace("\"Analyzer\":null", "\"Analyzer\":\"OurOwnAnalyzer\"", StringComparison.Ordinal), isGzip: true),
                null, null, Cancel);
            Assert.Equal((4L, 1L), (report.Skipped["Indexes that this program cannot build"], report.Skipped["Indexes"]));
            Assert.Equal(["Users/ByAge"], database.Indexes.List().Select(static index => index.Name));
            await database.ImportAsync(Dump(dump, isGzip: true), null, null, Cancel);
        }

        Assert.Equal(
            ["Users/ByAge", "Users/Words"],
            database.Indexes.List().Select(static index => index.Name).Order(StringComparer.Ordinal));
        Assert.Equal(
            new IndexSettings { LockMode = IndexLockMode.LockedIgnore, Priority = IndexPriority.High },
            database.Indexes.Control.Settings("Users/Words"));
        Assert.True(database.Indexes.Control.Settings("Users/ByAge").IsDisabled);
        Assert.Single(database.Indexes.Definition("Users/Words")!.Maps); // it is there
        using QueryResults results = await database.QueryAsync(
            new QueryRequest
            {
                Text = "from index 'Users/Words' where search(Name, 'first') and Years = 36",
                WaitForNonStaleResults = true
            },
            Cancel);
        Assert.Equal(1, results.TotalResults);
    }

    private async Task<(long Indexes, long Skipped)> RestoredAsync(string dump)
    {
        BackupReport report = await Database.RestoreAsync(Dump(dump, isGzip: true), Target, null, null, Cancel);
        return (report.Counts.Indexes, report.Skipped["Indexes that this program cannot build"]);
    }

    [Fact]
    public async Task An_import_takes_what_was_asked_for()
    {
        await using Database source = Database.Open(Path.Combine(_files.Path, "source"));
        await RandomDatabase.FillAsync(source, new Random(3), 200, Cancel);
        using var backup = new MemoryStream();
        await source.BackupAsync(backup, null, null, Cancel);
        await using Database database = Database.Open(Target);
        backup.Position = 0;
        BackupReport report = await database.ImportAsync(
            backup, new ImportOptions { Collections = ["ORDERS"], Content = BackupContent.Documents }, null, Cancel);
        using DatabaseSnapshot snapshot = database.BeginRead(), before = source.BeginRead();
        CollectionStatistics orders = Assert.Single(snapshot.Collections());
        Assert.Equal(("Orders", before.Collection("Orders")!.DocumentCount), (orders.Name, orders.DocumentCount));
        Assert.Empty(snapshot.Identities());
        Assert.Equal(
            (before.DocumentCount - orders.DocumentCount, before.TombstoneCount),
            (report.Skipped["documents that were not asked for"], report.Skipped["Tombstones"]));
    }

    [Fact]
    public async Task Documents_that_are_none_are_refused_or_listed_as_chosen()
    {
        const string Dumped =
            """{"Docs":[{"a":1,"@metadata":{"@id":"a/1"}},{"a":1,"a":2,"@metadata":{"@id":"a/2"}},{"no":"id"},7,{"big":"XXXX","@metadata":{"@id":"a/3"}},{"a":3,"@metadata":{"@id":"a/4"}}]}""";
        string dump = Dumped.Replace("XXXX", new string('x', 200_000), StringComparison.Ordinal);
        var limits = new DatabaseOptions { MaxDocumentBytes = 150_000 };
        BackupException error = await Assert.ThrowsAsync<BackupException>(
            () => Database.RestoreAsync(Dump(dump, false), Target, null, null, Cancel));
        Assert.Equal(BackupFault.DocumentRefused, error.Fault);
        Assert.Contains("'a/2'", error.Message, StringComparison.Ordinal);
        Assert.Contains("occurs twice", error.Message, StringComparison.Ordinal);

        BackupReport report = await Database.RestoreAsync(
            Dump(dump, false), Target, new RestoreOptions { SkipInvalidDocuments = true }, null, Cancel);
        Assert.Equal((3, 3, 3), (report.Counts.Documents, report.RefusedDocuments, report.Refusals.Count));
        Assert.Contains("no @id", report.Refusals[1], StringComparison.Ordinal);

        error = await Assert.ThrowsAsync<BackupException>(
            () => Database.VerifyBackupAsync(
                Dump(dump, false), new RestoreOptions { SkipInvalidDocuments = true, Database = limits }, null, Cancel));
        Assert.Contains("MaxDocumentBytes", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_stream_that_swells_without_end_is_stopped_at_the_limit_of_a_document()
    {
        var bomb = new MemoryStream();
        await using (var gzip = new GZipStream(bomb, CompressionLevel.Optimal, leaveOpen: true))
        {
            await gzip.WriteAsync("{\"Docs\":[{\"a\":\""u8.ToArray(), Cancel);
            byte[] zeros = [.. Enumerable.Repeat((byte)'0', 1 << 20)];
            for (int i = 0; i < 64; i++)
                await gzip.WriteAsync(zeros, Cancel);
        }

        bomb.Position = 0;
        var limits = new DatabaseOptions { MaxDocumentBytes = 1 << 20 };
        BackupException error = await Assert.ThrowsAsync<BackupException>(
            () => Database.VerifyBackupAsync(bomb, new RestoreOptions { Database = limits }, null, Cancel));
        Assert.Equal(BackupFault.DocumentRefused, error.Fault);
    }

    [Fact]
    public async Task A_dump_of_a_thousand_names_and_of_a_thousand_times_a_thousand_nothings_takes_no_memory_for_them()
    {
        var dump = new StringBuilder("{\"Docs\":[]");
        for (int i = 0; i < 1_000; i++)
            dump.Append(CultureInfo.InvariantCulture, $",\"Other{i}\":[0]");
        dump.Append(
            CultureInfo.InvariantCulture,
            $",\"{new string('n', 100_000)}\":[{string.Join(',', Enumerable.Repeat("{}", 5_000))}]}}");
        BackupReport report = await Database.VerifyBackupAsync(Dump(dump.ToString(), true), null, null, Cancel);
        Assert.True(report.Skipped.Count <= 101);
        Assert.Equal(6_000, report.Skipped.Values.Sum());
        Assert.All(report.Skipped.Keys, static kind => Assert.True(kind.Length <= 100));

        string indexes = string.Join(
            ',',
            Enumerable.Range(0, 10_001)
                .Select(
                    static i =>
                        $"{{\"Type\":\"AutoMap\",\"Definition\":{{\"Name\":\"x\",\"Collection\":\"C"
                            + $"{i}\",\"MapFields\":{{\"a\":{{}}}}}}}}"));
        BackupException error = await Assert.ThrowsAsync<BackupException>(
            () => Database.VerifyBackupAsync(Dump($"{{\"Indexes\":[{indexes}]}}", true), null, null, Cancel));
        Assert.Contains("more than 10,000 indexes", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_zstd_stream_that_asks_for_a_window_beyond_all_measure_is_refused()
    {
        // A frame's header: no single segment, no checksum, a window of 2^30 bytes; then a raw block that says it is the last, of
        // one byte.
        byte[] greedy = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 20 << 3, 0x09, 0x00, 0x00, (byte)'{'];
        BackupException error = await Assert.ThrowsAsync<BackupException>(
            () => Database.VerifyBackupAsync(new MemoryStream(greedy), null, null, Cancel));
        Assert.Equal(BackupFault.Damaged, error.Fault);
    }

    [Fact]
    public async Task A_counter_whose_parts_add_up_to_no_number_is_refused()
    {
        const string Text = """
            {"BuildVersion":62014,"Docs":[{"@metadata":{"@id":"users/1","@collection":"Users"}}],
             "CounterGroups":[{"DocId":"users/1","Values":{"@dbIds":["UZLFFnVNzUmsuxR0XYrOfg","aaaaaaaaaaaaaaaaaaaaaa"],
               "@vals":{"likes":[9223372036854775807,1,9223372036854775807,1]}}}]}
            """;
        await using Database database = Database.Open(Target);
        BackupException error = await Assert.ThrowsAsync<BackupException>(
            () => database.ImportAsync(new MemoryStream(Encoding.UTF8.GetBytes(Text)), null, null, Cancel));
        Assert.Contains("likes", error.Message, StringComparison.Ordinal);
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.Empty(snapshot.Counters("users/1"));
    }

    [Fact]
    public async Task A_document_twice_is_refused()
    {
        const string Dumped = """{"Docs":[{"@metadata":{"@id":"a/É"}},{"@metadata":{"@id":"A/é"}}]}""";
        BackupException error = await Assert.ThrowsAsync<BackupException>(
            () => Database.RestoreAsync(Dump(Dumped, false), Target, null, null, Cancel));
        Assert.Contains("twice", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task It_makes_no_difference_in_which_pieces_a_dump_comes()
    {
        byte[] dump = Encoding.UTF8.GetBytes("\uFEFF" + _dump);
        for (int piece = 1; piece < 40; piece += 3)
        {
            BackupReport report = await Database.VerifyBackupAsync(new PieceStream(dump, piece), null, null, Cancel);
            Assert.Equal((new BackupCounts(2, 0, 1, 2, 0) { Beside = 3 }, dump.Length), (report.Counts, report.StoredBytes));
        }
    }

    private static MemoryStream Dump(string json, bool isGzip)
    {
        var output = new MemoryStream();
        if (isGzip)
            using (var gzip = new GZipStream(output, CompressionLevel.Fastest, leaveOpen: true))
                gzip.Write(Encoding.UTF8.GetBytes(json));
        else
            output.Write(Encoding.UTF8.GetBytes(json));
        output.Position = 0;
        return output;
    }

    private static string Text(ReadOnlySpan<byte> utf8) => Encoding.UTF8.GetString(utf8);

    private sealed class PieceStream(byte[] content, int piece) : MemoryStream(content)
    {
        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
            base.ReadAsync(buffer[..Math.Min(buffer.Length, piece)], cancellationToken);
    }
}
