using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Documents.Tests.Backups;
using Treepie.Documents.Tests.BackupTasks;
using Treepie.Documents.Tests.Kinds;
using Treepie.Kinds;
using Treepie.Packing;
using Treepie.Queries;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Packing;

/// <summary>Documents that are kept compressed are the same to everybody who looks at them, and smaller on the disk.</summary>
public sealed class DocumentCompressionTests : IDisposable
{
    private const int Films = 2_000;

    private readonly TemporaryDirectory _directory = new();
    private readonly ManualClock _clock = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private static DocumentCompressionConfiguration All { get; } = new() { AllCollections = true };

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Only_changes_of_what_is_compressed_are_work()
    {
        await using Database database = Open();
        await FillAsync(database, "Films", 0, Films);
        await database.Compression.ConfigureAsync(new() { Collections = ["films"] }, Cancel);
        Assert.True(database.Compression.HasWork);
        await database.Compression.RunAsync(null, Cancel);
        Assert.False(database.Compression.HasWork);
        await database.Settings.SetAsync("mine", "{}"u8.ToArray(), Cancel);
        DatabaseRecord record = database.GetRecord();
        await database.SetRecordAsync(
            record with { Settings = new Dictionary<string, ReadOnlyMemory<byte>>() }, record.Etag, Cancel);
        await FillAsync(database, "Others", 0, 10);
        Assert.False(database.Compression.HasWork);
        await FillAsync(database, "Films", Films, Films + 10);
        Assert.True(database.Compression.HasWork);
        await database.Compression.RunAsync(null, Cancel);
        Assert.False(database.Compression.HasWork);
        record = database.GetRecord();
        await database.SetRecordAsync(record with { Compression = All }, record.Etag, Cancel);
        Assert.True(database.Compression.HasWork);
    }

    [Fact]
    public async Task What_was_there_is_compressed_and_looks_as_before()
    {
        List<string> before;
        await using (Database database = Open())
        {
            await FillAsync(database, "Films", 0, Films);
            await FillAsync(database, "Others", 0, 200);
            before = DatabaseText.Of(database);
            await database.Compression.ConfigureAsync(new() { Collections = ["films"] }, Cancel);
            List<string> configured = DatabaseText.Of(database);
            var steps = new List<CompressionReport>();
            CompressionReport report = await database.Compression.RunAsync(new Steps(steps), Cancel);
            Assert.Equal(report, steps[^1]);
            Assert.True(steps.Count > 4, "it goes in steps");
            Assert.InRange(report.Documents, Films * 95 / 100, Films);
            Assert.InRange((double)report.BytesBefore / report.BytesAfter, 2.5, 8);
            Assert.Equal((report.Documents, Films - report.Documents), Packed(database, "Films"));
            Assert.Equal((0, 200), Packed(database, "Others"));
            Assert.Equal(configured, DatabaseText.Of(database));
            Assert.Equal(0, (await database.Compression.RunAsync(null, Cancel)).Documents);
            Assert.Empty(database.Check(Cancel).Problems);
        }

        await using Database again = Open();
        Assert.Equal(before.Where(IsDocument), DatabaseText.Of(again).Where(IsDocument));
        Assert.Equal(["Films"], again.Compression.Configuration!.Collections, StringComparer.OrdinalIgnoreCase);
    }

    [Fact]
    public async Task What_is_written_then_is_compressed_on_the_way()
    {
        await using Database database = Open();
        await database.Compression.ConfigureAsync(All, Cancel);
        await FillAsync(database, "Films", 0, Films / 2);
        Assert.Equal((0, Films / 2), Packed(database, "Films")); // nothing is learned yet
        await database.Compression.RunAsync(null, Cancel);
        (long packed, long plain) = Packed(database, "Films");
        await FillAsync(database, "Films", Films / 2, Films);
        (long packedThen, long plainThen) = Packed(database, "Films");
        Assert.InRange(packedThen, packed + (Films / 2 * 95 / 100), Films);
        Assert.Equal(Films, packedThen + plainThen);
        Assert.Equal(plain, Films / 2 - packed);

        await database.Compression.ConfigureAsync(null, Cancel);
        Assert.Null(database.Compression.Configuration);
        await FillAsync(database, "Films", 0, 100); // again, and plain
        Assert.InRange(Packed(database, "Films").Plain, plainThen + 90, plainThen + 100);
    }

    [Fact]
    public async Task Queries_and_changes_go_on_as_with_plain_documents()
    {
        await using Database database = Open(), twin = Open("twin");
        foreach (Database each in new[] { database, twin })
        {
            await each.Revisions.ConfigureAsync(new() { Default = new() { MinimumToKeep = 3 } }, Cancel);
            await FillAsync(each, "Films", 0, 500);
        }

        await database.Compression.ConfigureAsync(All, Cancel);
        await database.Compression.RunAsync(null, Cancel);
        foreach (Database each in new[] { database, twin })
        {
            await FillAsync(each, "Films", 400, 600, skipUnchanged: true);
            using var batch = new WriteBatch();
            batch.Delete("films/3").IncrementCounter("films/4", "likes", 3);
            await each.WriteAsync(batch, Cancel);
        }

        Assert.Equal(Bodies(twin), Bodies(database));
        foreach (string query in new[]
        {
            "from Films where year > 1990 order by title limit 50", "from Films where search(title, 'love') select title, year",
            "from Films order by year as long desc, id() limit 20, 30", "from Films select distinct year",
            "from Films where startsWith(title, 'The') order by id() include @all_docs",
        })
            Assert.Equal(await AnswerAsync(twin, query), await AnswerAsync(database, query));
        Assert.InRange(Packed(database, "Films").Packed, 500, 600);
    }

    [Fact]
    public async Task Of_a_large_collection_a_part_is_learned_from()
    {
        await using Database database = Open();
        await database.Compression.ConfigureAsync(All, Cancel);
        using var batch = new WriteBatch(database.Options);
        for (int i = 0; i < 20_000; i++)
            batch.Put($"d/{i}", Json("D", $"\"Number\":{i},\"Street\":\"Am Alten Wasserturm {i % 77}\",\"Place\":\"Hinter den Bergen\""));
        await database.WriteAsync(batch, Cancel);
        CompressionReport report = await database.Compression.RunAsync(null, Cancel);
        Assert.Equal(20_000, report.Documents);
        Assert.InRange((double)report.BytesBefore / report.BytesAfter, 2, 8);
    }

    [Fact]
    public async Task Bodies_that_grow_no_shorter_stay_as_they_are()
    {
        await using Database database = Open();
        await database.Compression.ConfigureAsync(All, Cancel);
        await FillAsync(database, "Films", 0, 500);
        await database.Compression.RunAsync(null, Cancel);
        var random = new Random(1);
        byte[] noise = new byte[600];
        using var batch = new WriteBatch();
        for (int i = 0; i < 50; i++)
        {
            random.NextBytes(noise);
            batch.Put($"noise/{i}", Json("Films", $"\"a\":\"{Convert.ToBase64String(noise)}\""));
            batch.Put($"short/{i}", Json("Films", "\"a\":1"));
        }

        (long packed, long plain) = Packed(database, "Films");
        await database.WriteAsync(batch, Cancel);
        Assert.Equal((packed, plain + 100), Packed(database, "Films"));
        Assert.Equal(0, (await database.Compression.RunAsync(null, Cancel)).Documents);
    }

    [Fact]
    public async Task A_collection_that_has_grown_eightfold_is_learned_anew()
    {
        await using Database database = Open();
        await database.Compression.ConfigureAsync(All, Cancel);
        await FillAsync(database, "Films", 0, 200);
        await database.Compression.RunAsync(null, Cancel);
        Assert.Single(Dictionaries(database));
        await FillAsync(database, "Films", 200, 1_500);
        await database.Compression.RunAsync(null, Cancel);
        Assert.Single(Dictionaries(database));
        await FillAsync(database, "Films", 1_500, 1_700);
        CompressionReport report = await database.Compression.RunAsync(null, Cancel);
        Assert.Equal(2, Dictionaries(database).Count);
        Assert.True(report.BytesAfter < report.BytesBefore);
        Assert.InRange(Packed(database, "Films").Packed, 1_600, 1_700);
    }

    [Fact]
    public async Task A_lost_dictionary_is_made_good_by_its_copy_and_missed_when_both_are_gone()
    {
        long plain;
        await using (Database database = Open())
        {
            await database.Compression.ConfigureAsync(All, Cancel);
            await FillAsync(database, "Films", 0, 500);
            await database.Compression.RunAsync(null, Cancel);
            plain = Packed(database, "Films").Plain;
        }

        foreach (string tree in new[] { TreeNames.Dictionaries, TreeNames.DictionaryCopies })
        {
            using (StorageEnvironment environment = StorageEnvironment.Open(Path.Combine(_directory.Path, "db", "documents")))
                environment.Write(transaction => transaction.DropTree(tree), Cancel);
            if (tree == TreeNames.Dictionaries)
            {
                await using Database whole = Open();
                Assert.Contains("films/1", string.Join('\n', DatabaseText.Of(whole)), StringComparison.Ordinal);
                continue;
            }

            // It opens, so that what is not compressed can be read and written.
            await using Database lost = Open();
            await FillAsync(lost, "Films", 500, 510);
            Assert.Equal(10, Packed(lost, "Films").Plain - plain);
            Assert.Equal(0, (await lost.Compression.RunAsync(null, Cancel)).Documents);
            using DatabaseSnapshot snapshot = lost.BeginRead();
            Assert.True(snapshot.TryGet("films/505", out Document readable));
            Assert.NotEmpty(readable.Body.ToArray());
            Assert.Contains(
                "that documents are compressed with is lost",
                Assert.Throws<CorruptionException>(() => DatabaseText.Of(lost)).Message,
                StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task A_backup_brings_documents_back_whether_whole_or_by_copies_of_pages()
    {
        List<string> documents;
        var logical = new MemoryStream();
        await using (Database database = Open())
        {
            await FillAsync(database, "Films", 0, 500);
            await database.Compression.ConfigureAsync(All, Cancel);
            await database.Compression.RunAsync(null, Cancel);
            await database.Revisions.ConfigureAsync(new() { Default = new() }, Cancel);
            await FillAsync(database, "Films", 0, 10);
            Assert.True(PackedRevisions(database) > 0, "there are packed revisions");
            documents = [.. DatabaseText.Of(database).Where(IsDocumentOrBeside)];
            await database.BackupAsync(logical, new(), null, Cancel);
        }

        logical.Position = 0;
        string target = Path.Combine(_directory.Path, "restored");
        await Database.RestoreAsync(logical, target, null, null, Cancel);
        await using Database restored = Database.Open(target, new DatabaseOptions { TimeProvider = _clock });
        Assert.Equal(documents, DatabaseText.Of(restored).Where(IsDocumentOrBeside));
        Assert.Equal((0, 500), Packed(restored, "Films"));
        Assert.InRange((await restored.Compression.RunAsync(null, Cancel)).Documents, 450, 500);
        Assert.Equal(documents, DatabaseText.Of(restored).Where(IsDocumentOrBeside));
    }

    [Fact]
    public async Task An_encrypted_database_shows_nothing_of_its_dictionaries()
    {
        string[] markers = ["Zebrafinkenhaus", "Quastenflosser"];
        using var key = EncryptionKey.Generate();
        await using (var database = Database.Open(
            Path.Combine(_directory.Path, "db"), new DatabaseOptions { TimeProvider = _clock, EncryptionKey = key }))
        {
            using var batch = new WriteBatch(database.Options);
            for (int i = 0; i < 1_000; i++)
                batch.Put($"d/{i}", Json("D", $"\"Place\":\"{markers[i % 2]}\",\"Number\":{i},\"Street\":\"Am Alten Wasserturm\""));
            await database.WriteAsync(batch, Cancel);
            await database.Compression.ConfigureAsync(All, Cancel);
            Assert.Equal(1_000, (await database.Compression.RunAsync(null, Cancel)).Documents);
            Assert.Contains("Quastenflosser", string.Join('\n', DatabaseText.Of(database)), StringComparison.Ordinal);
        }

        Assert.Empty(Markers.FoundIn(_directory.Path, markers));
    }

    [Fact]
    public async Task Readers_see_one_state_while_it_is_compressed_and_written()
    {
        await using Database database = Open();
        await FillAsync(database, "Films", 0, Films);
        await database.Compression.ConfigureAsync(All, Cancel);
        List<string> before = Bodies(database);
        using DatabaseSnapshot old = database.BeginRead();
        Task<CompressionReport> run = database.Compression.RunAsync(null, Cancel);
        Task[] readers = [.. Enumerable.Range(0, 4).Select(_ => Task.Run(() => Assert.Equal(before, Bodies(database)), Cancel))];
        await Task.WhenAll(readers);
        await run;
        Assert.Equal(before, Bodies(old));
        Assert.Equal(before, Bodies(database));
    }

    [Fact]
    public async Task What_is_written_while_it_is_compressed_stays()
    {
        await using Database database = Open();
        await FillAsync(database, "Films", 0, Films);
        await database.Compression.ConfigureAsync(All, Cancel);
        Task<CompressionReport> run = database.Compression.RunAsync(null, Cancel);
        for (int round = 0; round < 20 || !run.IsCompleted; round++)
        {
            using var batch = new WriteBatch(database.Options);
            for (int i = 1; i <= Films; i += 7)
                batch.Put($"films/{i}", Json("Films", $"\"Round\":{round},\"Text\":\"{new string('x', 100)}\""));
            await database.WriteAsync(batch, Cancel);
            Assert.Equal(
                (Films + 6) / 7, Bodies(database).Count(body => body.Contains($"\"Round\":{round},", StringComparison.Ordinal)));
        }

        await run;
    }

    [Fact]
    public async Task A_body_that_was_packed_before_a_change_does_not_come_back()
    {
        await using Database database = Open();
        await FillAsync(database, "Films", 0, 500);
        await database.Compression.ConfigureAsync(All, Cancel);
        await database.Compression.RunAsync(null, Cancel);
        (byte[] packed, long etag) = Stored(database, "films/7");
        using var batch = new WriteBatch(database.Options);
        await database.WriteAsync(batch.Put("films/7", Json("Films", "\"a\":2")), Cancel);
        await ((IWriteHost)database).WriteAsync(
            writer =>
            {
                writer.Pack("films/7"u8, etag, packed);
                writer.Pack("films/none"u8, etag, packed);
                return true;
            },
            Cancel);
        Assert.Equal("films/7 {\"a\":2}", Bodies(database).Single(body => body.StartsWith("films/7 ", StringComparison.Ordinal)));
    }

    private static (byte[] Bytes, long Etag) Stored(Database database, string id)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.True(snapshot.TryGet(id, out Document document) && document.IsPacked);
        return (document.StoredBody.ToArray(), document.Etag);
    }

    [Fact]
    public async Task A_run_that_is_cancelled_goes_on_later()
    {
        await using Database database = Open();
        await FillAsync(database, "Films", 0, Films);
        await database.Compression.ConfigureAsync(All, Cancel);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(Cancel);
        var first = new List<CompressionReport>();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => database.Compression.RunAsync(new Steps(first, stop.Cancel), stop.Token));
        long done = Assert.Single(first).Documents;
        Assert.InRange(done, 1, 256);
        Assert.InRange((await database.Compression.RunAsync(null, Cancel)).Documents, (Films - done) * 9 / 10, Films - done);
    }

    [Theory]
    [InlineData("[]", "no JSON object")]
    [InlineData("""{"Collections":"Films"}""", "no array")]
    [InlineData("""{"Collections":[1]}""", "without a name")]
    [InlineData("""{"Collections":[""]}""", "without a name")]
    [InlineData("""{"CompressAllCollections":1}""", "neither true nor false")]
    [InlineData("""{"CompressRevisions":true}""", "of revisions alone")]
    public void What_cannot_be_configured_is_refused(string json, string expected)
    {
        using var parsed = JsonDocument.Parse(json);
        Assert.Contains(
            expected,
            Assert.Throws<InvalidDocumentException>(() => DocumentCompressionConfiguration.Read(parsed.RootElement)).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_program_that_does_not_know_of_it_refuses_the_database()
    {
        await using (Database database = Open())
        {
            Assert.Equal(TreeNames.FormatVersion, Version(database));
            await database.Compression.ConfigureAsync(All, Cancel);
            await FillAsync(database, "Films", 0, 300);
            Assert.Equal(TreeNames.FormatVersion, Version(database)); // nothing is packed yet
            await database.Compression.RunAsync(null, Cancel);
            Assert.Equal(TreeNames.PackedFormatVersion, Version(database));
            await database.Environment.WriteAsync(
                transaction =>
                {
                    byte[] value = new byte[20];
                    value[0] = TreeNames.PackedFormatVersion + 1;
                    return transaction.GetOrCreateTree(TreeNames.Meta).Put(TreeNames.MetaDatabase, value);
                },
                Cancel);
        }

        Assert.Contains("has format 3", Assert.Throws<ForeignDataException>(() => Open()).Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Revisions_are_compressed_as_their_documents_are(bool revisions)
    {
        await using Database database = Open();
        await database.Revisions.ConfigureAsync(new() { Default = new() }, Cancel);
        await database.Compression.ConfigureAsync(All with { Revisions = revisions }, Cancel);
        await FillAsync(database, "Films", 0, 500);
        await database.Compression.RunAsync(null, Cancel);
        Assert.Equal(0, PackedRevisions(database)); // those that were there stay as they are
        for (int round = 0; round < 3; round++)
        {
            string members = $"\"title\":\"Round {round}\",\"extract\":\"{new string('w', 300)}\"";
            using var batch = new WriteBatch(database.Options);
            batch.Put("films/1", Json("Films", members)).Put("films/1", Json("Films", members)); // two of one body
            await database.WriteAsync(batch, Cancel);
        }

        Assert.Equal(revisions ? 3 : 0, PackedRevisions(database));
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.Equal(
            ["Round 2", "Round 2", "Round 1", "Round 1", "Round 0", "Round 0"],
            snapshot.Revisions("films/1").Take(6).Select(
                revision => JsonDocument.Parse(revision.Body).RootElement.GetProperty("title").GetString()));
        Revision first = snapshot.Revisions("films/1").First(
            revision => Encoding.UTF8.GetString(revision.Body.Span).Contains("Round 0", StringComparison.Ordinal));
        await database.Revisions.RevertAsync(new Dictionary<string, string> { ["films/1"] = first.ChangeVector }, Cancel);
        Assert.Contains(
            "Round 0", Bodies(database).Single(body => body.StartsWith("films/1 ", StringComparison.Ordinal)),
            StringComparison.Ordinal);
        await database.Revisions.ConfigureAsync(new() { Default = new() { MinimumToKeep = 2 } }, Cancel);
        await database.Revisions.EnforceAsync(Cancel);
        using DatabaseSnapshot then = database.BeginRead();
        Assert.Equal(2, then.RevisionCount("films/1"));
        KindInvariants.Check(database);
    }

    private static long PackedRevisions(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return snapshot.Kinds.Revisions("films/1"u8).Count(
            key => snapshot.Kinds.TryGet(key, out KindRecord record) && new RevisionRecord(record.Value).IsPacked);
    }

    private static int Version(Database database)
    {
        using ReadTransaction read = database.Environment.BeginRead();
        Assert.True(read.FindTree(TreeNames.Meta)!.TryGet(TreeNames.MetaDatabase, out ReadOnlySpan<byte> value));
        return BitConverter.ToInt32(value);
    }

    private static bool IsDocumentOrBeside(string line) =>
        IsDocument(line) || line.StartsWith("beside ", StringComparison.Ordinal);

    private static bool IsDocument(string line) => line.StartsWith("document ", StringComparison.Ordinal);

    private static List<string> Dictionaries(Database database)
    {
        using ReadTransaction read = database.Environment.BeginRead();
        var keys = new List<string>();
        using Storage.Trees.Cursor cursor = read.FindTree(TreeNames.Dictionaries)!.OpenCursor();
        for (bool found = cursor.MoveFirst(); found; found = cursor.MoveNext())
            keys.Add(Convert.ToHexString(cursor.Key));
        return keys;
    }

    private static (long Packed, long Plain) Packed(Database database, string collection)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        using DocumentCursor cursor = snapshot.ByCollection(collection);
        (long packed, long plain) = (0, 0);
        while (cursor.MoveNext())
            _ = cursor.Current.IsPacked ? packed++ : plain++;
        return (packed, plain);
    }

    private static List<string> Bodies(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return Bodies(snapshot);
    }

    private static List<string> Bodies(DatabaseSnapshot snapshot)
    {
        var bodies = new List<string>();
        using DocumentCursor cursor = snapshot.ByPrefix(new DocumentPrefix { StartsWith = "" });
        for (int i = 0; cursor.MoveNext(); i++)
        {
            bodies.Add($"{cursor.Current.IdText()} {Encoding.UTF8.GetString(cursor.Current.Body)}");
            if (i % 100 == 0)
                snapshot.ReleasePages();
        }

        return bodies;
    }

    private static async Task<string> AnswerAsync(Database database, string query)
    {
        var output = new ArrayBufferWriter<byte>();
        using QueryResults results = await database.QueryAsync(
            new QueryRequest { Text = query, WaitForNonStaleResults = true }, Cancel);
        while (results.MoveNext())
            output.Write(results.IsProjection ? Written(results) : results.Current.Body);
        return Encoding.UTF8.GetString(output.WrittenSpan);
    }

    private static byte[] Written(QueryResults results)
    {
        var output = new ArrayBufferWriter<byte>();
        results.WriteCurrent(output);
        string text = Encoding.UTF8.GetString(output.WrittenSpan);
        int metadata = text.IndexOf("\"@metadata\"", StringComparison.Ordinal); // of another time
        return Encoding.UTF8.GetBytes(metadata < 0 ? text : text[..metadata]);
    }

    private static byte[] Json(string collection, string members) =>
        Encoding.UTF8.GetBytes($"{{{members},\"@metadata\":{{\"@collection\":\"{collection}\"}}}}");

    private static async Task FillAsync(Database database, string collection, int from, int to, bool skipUnchanged = false)
    {
        using var batch = new WriteBatch(database.Options) { SkipUnchanged = skipUnchanged };
        int number = 0;
        foreach (string line in DataSets.Lines(DataSets.PathOf("movies.ndjson.gz")).Skip(20_000).Take(to)) // the first are short
            if (number++ >= from)
                batch.Put(
                    string.Create(System.Globalization.CultureInfo.InvariantCulture, $"{collection}/{number}").ToLowerInvariant(),
                    Json(collection, line.Trim()[1..^1]));
        await database.WriteAsync(batch, Cancel);
    }

    private Database Open(string name = "db") => Database.Open(
        Path.Combine(_directory.Path, name), new DatabaseOptions { TimeProvider = _clock, Indexing = new() });

    private sealed class Steps(List<CompressionReport> reports, Action? then = null) : IProgress<CompressionReport>
    {
        public void Report(CompressionReport value)
        {
            reports.Add(value);
            then?.Invoke();
        }
    }
}
