using System.Text;
using Treepie.Backups;
using Treepie.Documents.Tests.BackupTasks;
using Treepie.Kinds;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Kinds;

public sealed class RevisionsTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly ManualClock _clock = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Every_state_is_kept_and_found_by_id_change_vector_and_time()
    {
        await using Database database = Open();
        await PutAsync(database, "d/1", 0);
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
        for (int i = 1; i < 4; i++)
        {
            _clock.Now += TimeSpan.FromMinutes(1);
            await PutAsync(database, "d/1", i);
        }

        using (DatabaseSnapshot snapshot = database.BeginRead())
        {
            // that of before they were configured too
            Assert.Equal(["{\"n\":3}", "{\"n\":2}", "{\"n\":1}", "{\"n\":0}"], snapshot.Revisions("D/1").Select(Body));
            Assert.Equal(4, snapshot.RevisionCount("d/1"));
            Assert.True(snapshot.TryGet("d/1", out Document document));
            Assert.Equal("{\"n\":3}", Body(snapshot.RevisionOf(document.ChangeVector)!));
            Assert.Equal("{\"n\":2}", Body(snapshot.RevisionBefore("d/1", _clock.Now.UtcDateTime.AddSeconds(-1))!));
            Assert.Null(snapshot.RevisionBefore("d/1", _clock.Now.UtcDateTime.AddDays(-1)));
            Assert.Null(snapshot.RevisionOf("A:1-AAAAAAAAAAAAAAAAAAAAAA"));
            var output = new System.Buffers.ArrayBufferWriter<byte>();
            document.WriteTo(output);
            Assert.Contains("\"@flags\":\"HasRevisions\"", Encoding.UTF8.GetString(output.WrittenSpan), StringComparison.Ordinal);
        }

        KindInvariants.Check(database);
    }

    [Fact]
    public async Task A_deleted_document_is_in_the_bin_until_it_comes_back()
    {
        await using Database database = Open();
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
        await PutAsync(database, "d/1", 1);
        await PutAsync(database, "d/10", 1);
        await database.WriteAsync(new WriteBatch().Delete("D/1"), Cancel);
        string before;
        using (DatabaseSnapshot snapshot = database.BeginRead())
        {
            Revision deletion = Assert.Single(snapshot.RevisionsBin());
            Assert.Equal(("d/1", true), (deletion.Id, deletion.IsDeletion));
            before = snapshot.Revisions("d/1").Last().ChangeVector;
        }

        KindInvariants.Check(database);
        await database.Revisions.RevertAsync(new Dictionary<string, string> { ["d/1"] = before }, Cancel);
        using (DatabaseSnapshot snapshot = database.BeginRead())
        {
            Assert.Empty(snapshot.RevisionsBin());
            Assert.Equal([false, true, false], snapshot.Revisions("d/1").Select(static revision => revision.IsDeletion));
            Assert.True(snapshot.TryGet("d/1", out Document document));
            Assert.Equal("{\"n\":1}", Encoding.UTF8.GetString(document.Body));
        }

        await Assert.ThrowsAsync<DocumentNotFoundException>(
            () => database.Revisions.RevertAsync(new Dictionary<string, string> { ["d/10"] = before }, Cancel));
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task A_rule_says_how_many_stay_and_whether_they_go_with_the_document()
    {
        await using Database database = Open();
        await database.Revisions.ConfigureAsync(
            new RevisionsConfiguration
            {
                Collections = new Dictionary<string, RevisionsRule>
                {
                    ["@EMPTY"] = new() { MinimumToKeep = 2, PurgeOnDelete = true }
                }
            }, Cancel);
        for (int i = 0; i < 5; i++)
            await PutAsync(database, "d/1", i);
        using (DatabaseSnapshot snapshot = database.BeginRead())
            Assert.Equal(["{\"n\":4}", "{\"n\":3}"], snapshot.Revisions("d/1").Select(Body));
        await database.WriteAsync(
            new WriteBatch()
                .Put("o/1", "{\"@metadata\":{\"@collection\":\"Others\"}}"u8)
                .Put("o/1", "{\"a\":1,\"@metadata\":{\"@collection\":\"Others\"}}"u8),
            Cancel);
        using (DatabaseSnapshot snapshot = database.BeginRead())
            Assert.Empty(snapshot.Revisions("o/1"));
        await database.WriteAsync(new WriteBatch().Delete("d/1"), Cancel);
        Assert.Equal(0, database.GetStatistics().RevisionCount);
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task Age_keeps_more_than_the_number_does_and_enforcing_deletes_the_rest()
    {
        await using Database database = Open();
        await database.Revisions.ConfigureAsync(
            new RevisionsConfiguration
            {
                Default = new RevisionsRule { MinimumToKeep = 1, MinimumAgeToKeep = TimeSpan.FromMinutes(10) }
            },
            Cancel);
        for (int i = 0; i < 4; i++)
        {
            await PutAsync(database, "d/1", i);
            _clock.Now += TimeSpan.FromMinutes(4);
        }

        Assert.Equal(3, Count(database, "d/1")); // the first was 12 minutes old when the last was written
        Assert.Equal(1, await database.Revisions.EnforceAsync(Cancel));
        await database.Revisions.ConfigureAsync(null, Cancel);
        Assert.Equal(2, await database.Revisions.EnforceAsync(Cancel));
        Assert.Equal(0, Count(database, "d/1"));
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task A_revision_that_was_asked_for_is_marked_and_stays_where_nothing_is_configured()
    {
        await using Database database = Open();
        await PutAsync(database, "d/1", 0);
        await database.WriteAsync(new WriteBatch().ForceRevision("d/1"), Cancel);
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
        await PutAsync(database, "d/1", 1);
        await database.WriteAsync(new WriteBatch().ForceRevision("d/1"), Cancel); // it is there
        Assert.Equal([false, true], Forced(database));
        var dump = new MemoryStream();
        await database.BackupAsync(dump, new BackupOptions(), null, Cancel);
        await database.Revisions.ConfigureAsync(null, Cancel);
        Assert.Equal(1, await database.Revisions.EnforceAsync(Cancel));
        Assert.Equal([true], Forced(database));
        await database.Compression.ConfigureAsync(
            new DocumentCompressionConfiguration { AllCollections = true, Revisions = true }, Cancel);
        Assert.Equal(0, await database.Revisions.EnforceAsync(["Others"], includesForced: true, cancellationToken: Cancel));
        Assert.Equal(1, await database.Revisions.EnforceAsync([], includesForced: true, cancellationToken: Cancel));
        Assert.Equal(0, Count(database, "d/1"));
        dump.Position = 0;
        await database.ImportAsync(dump, new ImportOptions(), null, Cancel);
        Assert.Equal([false, true], Forced(database));
        KindInvariants.Check(database);

        static bool[] Forced(Database database)
        {
            using DatabaseSnapshot snapshot = database.BeginRead();
            return
            [
                .. snapshot.Revisions("d/1")
                    .Select(revision =>
                    {
                        var output = new System.Buffers.ArrayBufferWriter<byte>();
                        revision.WriteTo(output);
                        Assert.Equal(
                            revision.IsForced,
                            Encoding.UTF8.GetString(output.WrittenSpan).Contains("ForceCreated", StringComparison.Ordinal));
                        return revision.IsForced;
                    })
            ];
        }
    }

    [Fact]
    public async Task Where_all_revisions_are_deleted_none_is_made_of_that()
    {
        await using Database database = Database.Open(_directory.Path);
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
        for (int i = 0; i < 3; i++)
            await database.WriteAsync(new WriteBatch().Put("d/1", "{}"u8.ToArray()).Put("d/2", "{}"u8.ToArray()), Cancel);
        Assert.Equal(3, await database.Revisions.DeleteAsync("d/1", null, Cancel));
        Assert.Equal(0, Count("d/1"));
        await database.Revisions.ConfigureAsync(
            new RevisionsConfiguration { Default = new RevisionsRule { MinimumToKeep = 0 } }, Cancel);
        Assert.Equal(3, await database.Revisions.EnforceAsync(Cancel));
        Assert.Equal(0, Count("d/2"));
        KindInvariants.Check(database);

        long Count(string id)
        {
            using DatabaseSnapshot snapshot = database.BeginRead();
            Assert.True(snapshot.TryGet(id, out Document document));
            Assert.Equal(snapshot.RevisionCount(id) > 0, document.Flags.HasFlag(DocumentFlags.HasRevisions));
            return snapshot.RevisionCount(id);
        }
    }

    [Fact]
    public async Task A_body_that_did_not_change_is_kept_once()
    {
        await using Database database = Open();
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
        string body = $"{{\"text\":\"{new string('x', 100_000)}\"}}";
        await database.WriteAsync(new WriteBatch().Put("d/1", Encoding.UTF8.GetBytes(body)), Cancel);
        for (int i = 0; i < 40; i++)
            await database.WriteAsync(new WriteBatch().IncrementCounter("d/1", $"c{i}"), Cancel);
        List<byte[]> keys;
        using (DatabaseSnapshot snapshot = database.BeginRead())
        {
            keys = snapshot.Kinds.Revisions("d/1"u8);
            Assert.Equal(41, keys.Count);
            Assert.All(snapshot.Revisions("d/1"), revision => Assert.Equal(body, Body(revision)));
            int copies = 0;
            foreach (byte[] key in keys)
                copies += snapshot.Kinds.TryGet(key, out KindRecord record) && record.Value.Length > 50_000 ? 1 : 0;
            Assert.Equal(3, copies);
        }

        string[] vectors;
        using (DatabaseSnapshot snapshot = database.BeginRead())
            vectors = [.. snapshot.Revisions("d/1", metadataOnly: true).Select(static revision => revision.ChangeVector)];
        var random = new Random(Seed.Next());
        random.Shuffle(vectors);
        foreach (string vector in vectors[..35])
        {
            Assert.Equal(1, await database.Revisions.DeleteAsync("d/1", [vector], Cancel));
            using DatabaseSnapshot snapshot = database.BeginRead();
            Assert.All(snapshot.Revisions("d/1"), revision => Assert.Equal(body, Body(revision)));
        }

        KindInvariants.Check(database);
    }

    [Fact]
    public async Task Forced_revisions_need_no_configuration()
    {
        await using Database database = Open();
        await PutAsync(database, "d/1", 1);
        IReadOnlyList<WriteResult> results = await database.WriteAsync(
            new WriteBatch().ForceRevision("D/1").ForceRevision("d/1"), Cancel);
        Assert.Equal([true, false], results.Select(static result => ((RevisionResult)result.Beside!).IsCreated));
        await database.WriteAsync(new WriteBatch().Put("d/1", "{\"n\":2}"u8, null, null, forceRevision: true), Cancel);
        await database.WriteAsync(new WriteBatch().Put("d/1", "{\"n\":3}"u8, null, null, forceRevision: true), Cancel);
        using (DatabaseSnapshot snapshot = database.BeginRead())
            Assert.Equal(["{\"n\":2}", "{\"n\":1}"], snapshot.Revisions("d/1").Select(Body));
        await Assert.ThrowsAsync<DocumentNotFoundException>(
            () => database.WriteAsync(new WriteBatch().ForceRevision("none"), Cancel));
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task Random_work_agrees_with_lists_of_states()
    {
        var random = new Random(Seed.Next());
        var states = new Dictionary<string, List<string?>>(StringComparer.Ordinal);
        var current = new Dictionary<string, string>(StringComparer.Ordinal);
        Database database = Open();
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
        for (int step = 0; step < 400; step++)
        {
            string id = $"d/{random.Next(12)}";
            if (!states.TryGetValue(id, out List<string?>? known))
                states[id] = known = [];
            bool exists = current.TryGetValue(id, out string? body);
            _clock.Now += TimeSpan.FromSeconds(1);
            switch (random.Next(8))
            {
                case 0 when exists:
                    await database.WriteAsync(new WriteBatch().Delete(id), Cancel);
                    known.Add(null);
                    current.Remove(id);
                    break;
                case 1 when exists:
                    await database.WriteAsync(new WriteBatch().IncrementCounter(id, $"c{step}"), Cancel);
                    known.Add(body);
                    break;
                case 2 when !exists:
                    await database.Revisions.DeleteAsync(id, null, Cancel);
                    known.Clear();
                    break;
                case 3 when known.Count > 1:
                    int index = random.Next(known.Count);
                    string vector;
                    using (DatabaseSnapshot snapshot = database.BeginRead())
                        vector = snapshot.Revisions(id).Reverse().ElementAt(index).ChangeVector;
                    await database.Revisions.DeleteAsync(id, [vector], Cancel);
                    known.RemoveAt(index);
                    break;
                case 4 when random.Next(5) == 0:
                    await database.DisposeAsync();
                    database = Open();
                    break;
                default:
                    int value = random.Next(3);
                    await PutAsync(database, id, value);
                    known.Add(current[id] = $"{{\"n\":{value}}}");
                    break;
            }

            if (step % 40 == 39)
                Compare(database, states);
        }

        Compare(database, states);
        KindInvariants.Check(database);
        await database.DisposeAsync();
    }

    [Fact]
    public async Task A_database_goes_back_to_what_it_was_at_a_time()
    {
        await using Database database = Open();
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
        await PutAsync(database, "d/1", 1);
        await PutAsync(database, "d/2", 1);
        await PutAsync(database, "d/3", 1);
        DateTime then = _clock.Now.UtcDateTime;
        _clock.Now += TimeSpan.FromMinutes(1);
        await PutAsync(database, "d/1", 2);
        await database.WriteAsync(new WriteBatch().Delete("d/2"), Cancel);
        await PutAsync(database, "d/4", 1);
        Assert.Equal(3, await database.Revisions.RevertToAsync(then, cancellationToken: Cancel));
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.Equal(3, snapshot.DocumentCount);
        foreach (string id in (string[])["d/1", "d/2", "d/3"])
        {
            Assert.True(snapshot.TryGet(id, out Document document));
            Assert.Equal("{\"n\":1}", Encoding.UTF8.GetString(document.Body));
        }
    }

    [Fact]
    public async Task A_document_whose_state_of_a_time_is_not_kept_stays_when_all_go_back()
    {
        await using Database database = Open();
        await PutAsync(database, "old", 1);
        _clock.Now += TimeSpan.FromMinutes(1);
        await database.Revisions.ConfigureAsync(
            new RevisionsConfiguration { Default = new RevisionsRule { MinimumToKeep = 1 } }, Cancel);
        await PutAsync(database, "d/1", 1);
        _clock.Now += TimeSpan.FromMinutes(1);
        DateTime then = _clock.Now.UtcDateTime;
        for (int i = 2; i < 4; i++)
        {
            _clock.Now += TimeSpan.FromMinutes(1);
            await PutAsync(database, "d/1", i);
            await PutAsync(database, "old", i);
        }

        await PutAsync(database, "new", 1);
        Assert.Equal(1, await database.Revisions.RevertToAsync(then, cancellationToken: Cancel));
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.False(snapshot.TryGet("new", out _));
        foreach (string id in (string[])["d/1", "old"])
        {
            Assert.True(snapshot.TryGet(id, out Document document), id);
            Assert.Equal("{\"n\":3}", Encoding.UTF8.GetString(document.Body));
        }
    }

    [Fact]
    public async Task A_document_that_had_a_life_without_revisions_stays_when_all_go_back()
    {
        await using Database database = Open();
        await PutAsync(database, "d/1", 1);
        DateTime then = _clock.Now.UtcDateTime;
        _clock.Now += TimeSpan.FromMinutes(1);
        await database.WriteAsync(new WriteBatch().Delete("d/1"), Cancel);
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
        await PutAsync(database, "d/1", 2);
        Assert.Equal(0, await database.Revisions.RevertToAsync(then, cancellationToken: Cancel));
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.True(snapshot.TryGet("d/1", out _));
    }

    [Fact]
    public async Task Imported_revisions_stand_where_their_time_is()
    {
        DateTimeOffset start = _clock.Now;
        using MemoryStream dump = new();
        await using (Database other = Open("other"))
        {
            await other.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
            await PutAsync(other, "d/1", 9);
            await PutAsync(other, "gone", 9);
            await other.BackupAsync(dump, cancellationToken: Cancel);
        }

        await using Database database = Open();
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
        await PutAsync(database, "gone", 10);
        for (int hour = 10; hour < 12; hour++)
        {
            _clock.Now = start.AddHours(hour - 9);
            await PutAsync(database, "d/1", hour);
        }

        await database.WriteAsync(new WriteBatch().Delete("gone"), Cancel);
        _clock.Now = start.AddHours(4);
        dump.Position = 0;
        await database.ImportAsync(
            dump, new ImportOptions { Content = BackupContent.RevisionDocuments }, null, Cancel);
        using (DatabaseSnapshot snapshot = database.BeginRead())
        {
            Assert.Equal(["{\"n\":11}", "{\"n\":10}", "{\"n\":9}"], snapshot.Revisions("d/1").Select(Body));
            Assert.Equal("{\"n\":11}", Body(snapshot.RevisionBefore("d/1", start.AddHours(3).UtcDateTime)!));
            Assert.Equal("{\"n\":9}", Body(snapshot.RevisionBefore("d/1", start.AddMinutes(30).UtcDateTime)!));
            Assert.Equal("gone", Assert.Single(snapshot.RevisionsBin()).Id);
        }

        await database.Revisions.ConfigureAsync(
            new RevisionsConfiguration { Default = new RevisionsRule { MinimumToKeep = 2 } }, Cancel);
        Assert.Equal(2, await database.Revisions.EnforceAsync(Cancel));
        using (DatabaseSnapshot snapshot = database.BeginRead())
            Assert.Equal(["{\"n\":11}", "{\"n\":10}"], snapshot.Revisions("d/1").Select(Body));
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task Only_revisions_of_the_document_are_deleted_and_each_counts_once()
    {
        await using Database database = Open();
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
        await PutAsync(database, "d/1", 1);
        await PutAsync(database, "d/2", 1);
        await PutAsync(database, "d/2", 2);
        string vector;
        using (DatabaseSnapshot snapshot = database.BeginRead())
            vector = snapshot.Revisions("d/2").First().ChangeVector;
        Assert.Equal(0, await database.Revisions.DeleteAsync("d/1", [vector], Cancel));
        Assert.Equal(1, await database.Revisions.DeleteAsync("D/2", [vector, vector], Cancel));
        Assert.Equal((1, 1), (Count(database, "d/1"), Count(database, "d/2")));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task What_would_go_with_a_change_of_the_collection_is_not_lost_by_going_back(bool hasCounter)
    {
        await using Database database = Open();
        await database.Revisions.ConfigureAsync(
            new RevisionsConfiguration
            {
                Default = new RevisionsRule(),
                Collections = new Dictionary<string, RevisionsRule> { ["B"] = new() { PurgeOnDelete = !hasCounter } },
            },
            Cancel);
        await database.WriteAsync(new WriteBatch().Put("d/1", "{\"@metadata\":{\"@collection\":\"A\"}}"u8), Cancel);
        DateTime then = _clock.Now.UtcDateTime;
        _clock.Now += TimeSpan.FromMinutes(1);
        WriteBatch batch = new WriteBatch().Delete("d/1").Put("d/1", "{\"@metadata\":{\"@collection\":\"B\"}}"u8);
        await database.WriteAsync(hasCounter ? batch.IncrementCounter("d/1", "likes", 3) : batch, Cancel);
        string vector;
        using (DatabaseSnapshot snapshot = database.BeginRead())
            vector = snapshot.RevisionBefore("d/1", then)!.ChangeVector;
        long before = Count(database, "d/1");

        InvalidDocumentException refused = await Assert.ThrowsAsync<InvalidDocumentException>(
            () => database.Revisions.RevertAsync(new Dictionary<string, string> { ["d/1"] = vector }, Cancel));
        Assert.Contains(hasCounter ? "counters" : "revisions", refused.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<InvalidDocumentException>(
            () => database.Revisions.RevertToAsync(then, cancellationToken: Cancel));
        Assert.Equal(before, Count(database, "d/1"));
    }

    [Fact]
    public async Task Many_documents_are_enforced_and_reverted_in_few_steps()
    {
        await using Database database = Open();
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
        const int Documents = 1_000;
        for (int round = 0; round < 3; round++)
        {
            using var batch = new WriteBatch();
            for (int i = 0; i < Documents; i++)
                batch.Put($"d/{i}", Encoding.UTF8.GetBytes($"{{\"n\":{round}}}"));
            await database.WriteAsync(batch, Cancel);
            _clock.Now += TimeSpan.FromMinutes(1);
        }

        long commits = database.Environment.GetStatistics().LastTransactionId;
        Assert.Equal(
            Documents, await database.Revisions.RevertToAsync(_clock.Now.UtcDateTime.AddMinutes(-2.5), cancellationToken: Cancel));
        Assert.InRange(database.Environment.GetStatistics().LastTransactionId - commits, 1, 20);
        await database.Revisions.ConfigureAsync(
            new RevisionsConfiguration { Default = new RevisionsRule { MinimumToKeep = 1 } }, Cancel);
        commits = database.Environment.GetStatistics().LastTransactionId;
        Assert.Equal(3 * Documents, await database.Revisions.EnforceAsync(Cancel));
        Assert.InRange(database.Environment.GetStatistics().LastTransactionId - commits, 1, 20);
        Assert.Equal(0, await database.Revisions.EnforceAsync(Cancel));
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task Backups_and_their_increments_bring_revisions_back()
    {
        using MemoryStream full = new(), increment = new();
        string data = Path.Combine(_directory.Path, "data"), restored = Path.Combine(_directory.Path, "restored");
        List<string> expected;
        await using (Database database = Open())
        {
            await database.Revisions.ConfigureAsync(
                new RevisionsConfiguration { Default = new RevisionsRule { MinimumToKeep = 3 } }, Cancel);
            for (int i = 0; i < 3; i++)
                await PutAsync(database, "d/1", 1);
            BackupReport report = await database.BackupAsync(full, cancellationToken: Cancel);
            for (int i = 0; i < 2; i++)
                await PutAsync(database, "d/1", 1); // the body's revision goes, those after it keep it
            await PutAsync(database, "d/2", 5);
            await database.WriteAsync(new WriteBatch().Delete("d/2"), Cancel);
            await database.BackupAsync(increment, new BackupOptions { Since = report.Link }, cancellationToken: Cancel);
            expected = All(database);
        }

        await Database.RestoreAsync(
            [new BackupPart("full", _ => ValueTask.FromResult<Stream>(new MemoryStream(full.ToArray()))), new BackupPart(
                "increment", _ => ValueTask.FromResult<Stream>(new MemoryStream(increment.ToArray())))],
            restored, cancellationToken: Cancel);
        await using (Database database = Database.Open(restored))
        {
            Assert.Equal(expected, All(database));
            Assert.Equal(3, database.Revisions.Configuration!.Default!.MinimumToKeep);
            KindInvariants.Check(database);
        }

        full.Position = 0;
        await using Database imported = Database.Open(Path.Combine(_directory.Path, "imported"));
        await imported.ImportAsync(full, cancellationToken: Cancel);
        Assert.Equal(3, Count(imported, "d/1"));
        KindInvariants.Check(imported);
    }

    [Theory]
    [InlineData("{\"Default\":5}")]
    [InlineData("{\"Default\":{\"MinimumRevisionsToKeep\":-1}}")]
    [InlineData("{\"Default\":{\"MinimumRevisionsToKeep\":\"a\"}}")]
    [InlineData("{\"Collections\":{\"Orders\":{\"MinimumRevisionAgeToKeep\":\"-1.00:00:00\"}}}")]
    [InlineData("{\"Collections\":{\"Orders\":{\"MaximumRevisionsToDeleteUponDocumentUpdate\":0}}}")]
    public void A_configuration_that_cannot_be_is_refused(string json)
    {
        using var parsed = System.Text.Json.JsonDocument.Parse(json);
        Assert.Contains(
            "configuration of revisions",
            Assert.Throws<InvalidDocumentException>(() => RevisionsConfiguration.Read(parsed.RootElement)).Message,
            StringComparison.Ordinal);
    }

    private static List<string> All(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return [
            .. ((string[])["d/1", "d/2"])
                .SelectMany(id => snapshot.Revisions(id))
                .Select(
                    static revision =>
                        $"{revision.Id} {revision.Etag} {revision.IsDeletion} {revision.LastModified:O} {Body(revision)}")];
    }

    private static void Compare(Database database, Dictionary<string, List<string?>> states)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        foreach ((string id, List<string?> known) in states)
            Assert.Equal(
                known, snapshot.Revisions(id).Reverse().Select(static revision => revision.IsDeletion ? null : Body(revision)));
    }

    private static long Count(Database database, string id)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return snapshot.RevisionCount(id);
    }

    private static string Body(Revision revision) => Encoding.UTF8.GetString(revision.Body.Span);

    private Database Open(string name = "data") =>
        Database.Open(Path.Combine(_directory.Path, name), new DatabaseOptions { TimeProvider = _clock });

    private static Task<IReadOnlyList<WriteResult>> PutAsync(Database database, string id, int n) =>
        database.WriteAsync(new WriteBatch().Put(id, Encoding.UTF8.GetBytes($"{{\"n\":{n}}}")), Cancel);
}
