using System.Text;
using System.Text.Json;
using Treepie.Backups;
using Treepie.Kinds;
using Treepie.Sessions;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Kinds;

/// <summary>Revisions keep the attachments that their document had, and their contents as long as one of them is there.</summary>
public sealed class RevisionAttachmentsTests : IDisposable
{
    private const int Steps = 700;

    private readonly TemporaryDirectory _directory = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private string Target => Path.Combine(_directory.Path, "second");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Random_work_leaves_every_revision_with_the_attachments_of_its_time()
    {
        var random = new Random(Seed.Next());
        var model = new RevisionModel();
        Database database = Database.Open(_directory.Path);
        for (int step = 0; step < Steps; step++)
        {
            await model.StepAsync(database, random, Cancel);
            if (step % 25 == 24)
                model.Compare(database);
            if (step % 100 != 99)
                continue;
            KindInvariants.Check(database);
            await database.DisposeAsync();
            database = Database.Open(_directory.Path);
        }

        Assert.True(model.Reverted > 5, $"only {model.Reverted} documents were reverted");
        foreach (string id in RevisionModel.Ids)
        {
            await database.WriteAsync(new WriteBatch().Delete(id), Cancel);
            await database.Revisions.DeleteAsync(id, null, Cancel);
        }

        KindInvariants.Check(database);
        Assert.Equal(0, database.GetStatistics().UniqueAttachmentCount); // the last that had them is gone
        await database.DisposeAsync();
    }

    [Fact]
    public async Task Metadata_of_a_revision_lists_its_attachments_and_sessions_read_their_contents()
    {
        await using Database database = Database.Open(_directory.Path);
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
        await database.WriteAsync(new WriteBatch().Put("d/1", "{}"u8.ToArray()), Cancel);
        await AttachAsync(database, "d/1", "Pic.PNG", "first");
        string vector = Newest(database, "d/1").ChangeVector;
        await AttachAsync(database, "d/1", "Pic.PNG", "second");
        await database.WriteAsync(new WriteBatch().DeleteAttachment("d/1", "pic.png"), Cancel);
        using (DatabaseSnapshot snapshot = database.BeginRead())
        {
            var output = new System.Buffers.ArrayBufferWriter<byte>();
            snapshot.RevisionOf(vector)!.WriteTo(output); // it is there
            using var json = JsonDocument.Parse(output.WrittenMemory);
            JsonElement metadata = json.RootElement.GetProperty("@metadata"),
                attachment = Assert.Single(metadata.GetProperty("@attachments").EnumerateArray());
            Assert.Equal("HasRevisions, Revision, HasAttachments", metadata.GetProperty("@flags").GetString());
            Assert.Equal(
                ("Pic.PNG", "text/plain", 5, snapshot.RevisionOf(vector)!.Attachments[0].Hash),
                (attachment.GetProperty("Name").GetString(), attachment.GetProperty("ContentType").GetString(),
                    attachment.GetProperty("Size").GetInt32(), attachment.GetProperty("Hash").GetString()));
            Assert.Empty(Newest(database, "d/1").Attachments);
        }

        using DocumentSession session = database.OpenSession();
        using (AttachmentContent? content = session.Advanced.Attachments.GetRevision("D/1", "pic.PNG", vector))
        using (var reader = new StreamReader(content!.Stream)) // as listed
            Assert.Equal("first", await reader.ReadToEndAsync(Cancel));
        using (AttachmentContent? content = await session.Advanced.Attachments.GetRevisionAsync("d/1", "Pic.PNG", vector, Cancel))
            Assert.Equal(vector, content!.Details.ChangeVector); // as above
        Assert.Equal(2, session.Advanced.NumberOfRequests);
        foreach ((string id, string name, string of) in new[]
        {
            ("d/2", "Pic.PNG", vector), ("d/1", "other", vector), ("d/1", "Pic.PNG", "nonsense"),
            ("d/1", "Pic.PNG", Newest(database, "d/1").ChangeVector),
        })
            Assert.Null(session.Advanced.Attachments.GetRevision(id, name, of));
    }

    [Fact]
    public async Task A_revert_brings_attachments_back_also_where_the_document_moves_and_its_revisions_go_with_it()
    {
        await using Database database = Database.Open(_directory.Path);
        await database.Revisions.ConfigureAsync(
            new RevisionsConfiguration { Default = new RevisionsRule { PurgeOnDelete = true } }, Cancel);
        await database.WriteAsync(new WriteBatch().Put("d/1", "{\"@metadata\":{\"@collection\":\"A\"}}"u8.ToArray()), Cancel);
        await AttachAsync(database, "d/1", "a", new string('x', 1_500_000));
        string vector = Newest(database, "d/1").ChangeVector;
        using (var batch = new WriteBatch())
        {
            batch.DeleteAttachment("d/1", "a");
            await database.WriteAsync(batch, Cancel);
        }

        await database.Revisions.RevertAsync(new Dictionary<string, string> { ["d/1"] = vector }, Cancel);
        Assert.Equal(["a"], Names(database, "d/1"));
        Assert.Single(Newest(database, "d/1").Attachments);
        KindInvariants.Check(database);

        // Its collection is another now, so that the revert deletes it first, and its revisions with it.
        byte[] restored = "{\"@metadata\":{\"@collection\":\"B\"}}"u8.ToArray();
        using (DatabaseSnapshot snapshot = database.BeginRead())
        using (var batch = new WriteBatch(database.Options))
        {
            Revision revision = snapshot.RevisionOf(vector)!; // it was reverted to
            batch.HoldContents(revision);
            batch.Delete("d/1").Put("d/1", restored);
            batch.RevertAttachments(CollectionName.Fold("d/1"u8), revision);
            await database.WriteAsync(batch, Cancel);
        }

        Assert.Equal(["a"], Names(database, "d/1"));
        KindInvariants.Check(database);
        DocumentNotFoundException error = await Assert.ThrowsAsync<DocumentNotFoundException>(
            () => database.Revisions.RevertAsync(new Dictionary<string, string> { ["d/1"] = vector }, Cancel));
        Assert.Contains("no revision", error.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(BackupContent.RevisionDocuments, 0)]
    [InlineData(BackupContent.RevisionDocuments | BackupContent.Attachments, 4)]
    [InlineData(BackupContent.Documents | BackupContent.RevisionDocuments | BackupContent.Attachments, 4)]
    public async Task A_part_of_a_dump_has_the_contents_of_its_revisions_and_comes_in_again_without_change(
        BackupContent content, int expected)
    {
        await using Database database = Database.Open(_directory.Path);
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
        await database.WriteAsync(new WriteBatch().Put("d/1", "{}"u8.ToArray()), Cancel);
        await AttachAsync(database, "d/1", "a", "one");
        await AttachAsync(database, "d/1", "b", new string('y', 1_200_000));
        await database.WriteAsync(new WriteBatch().DeleteAttachment("d/1", "a").DeleteAttachment("d/1", "b"), Cancel);
        using var dump = new MemoryStream();
        await database.BackupAsync(dump, new BackupOptions { Content = content }, null, Cancel);
        await using Database other = Database.Open(Target);
        for (int i = 0; i < 2; i++)
        {
            dump.Position = 0;
            await other.ImportAsync(dump, null, null, Cancel);
            using DatabaseSnapshot snapshot = other.BeginRead();
            Assert.Equal(5, snapshot.RevisionCount("d/1"));
            Assert.Equal(expected, snapshot.Revisions("d/1").Sum(static revision => revision.Attachments.Count));
            KindInvariants.Check(other);
        }
    }

    [Fact]
    public async Task An_import_that_leaves_attachments_out_leaves_out_those_of_revisions()
    {
        await using Database database = Database.Open(_directory.Path);
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
        await database.WriteAsync(new WriteBatch().Put("d/1", "{}"u8.ToArray()), Cancel);
        await AttachAsync(database, "d/1", "a", "one");
        using var dump = new MemoryStream();
        await database.BackupAsync(dump, null, null, Cancel);
        dump.Position = 0;
        await using Database other = Database.Open(Target);
        await AttachOtherAsync(other, "one");
        await other.ImportAsync(
            dump, new ImportOptions { Content = BackupContent.Documents | BackupContent.RevisionDocuments }, null, Cancel);
        using DatabaseSnapshot snapshot = other.BeginRead();
        Assert.Equal(2, snapshot.RevisionCount("d/1"));
        Assert.All(snapshot.Revisions("d/1"), static revision => Assert.Empty(revision.Attachments));
        KindInvariants.Check(other);
    }

    [Fact]
    public async Task A_salvage_keeps_what_is_whole_and_a_revision_without_what_is_lost()
    {
        await using (Database database = Database.Open(_directory.Path))
        {
            await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
            await database.WriteAsync(new WriteBatch().Put("d/1", "{}"u8.ToArray()), Cancel);
            await AttachAsync(database, "d/1", "a", "kept");
            await AttachAsync(database, "d/1", "b", "lost");
            await database.WriteAsync(new WriteBatch().DeleteAttachment("d/1", "a").DeleteAttachment("d/1", "b"), Cancel);
        }

        using (var environment = Storage.StorageEnvironment.Open(Path.Combine(_directory.Path, "documents")))
        {
            environment.Write(transaction =>
            {
                foreach (string name in new[] { TreeNames.KindsByEtag, TreeNames.KindCounts, TreeNames.ContentsByHash })
                    transaction.DropTree(name);
                transaction.GetOrCreateTree(TreeNames.Contents).Delete(ContentRecord.PieceKey(2, 0));
                transaction.GetOrCreateTree(SalvagedDocuments.Mark);
                return true;
            }, Cancel);
        }

        await using Database again = Database.Open(_directory.Path);
        using DatabaseSnapshot snapshot = again.BeginRead();
        Assert.All(
            snapshot.Revisions("d/1").SelectMany(static revision => revision.Attachments),
            static attachment => Assert.Equal("a", attachment.Name));
        Assert.Equal(2, snapshot.Revisions("d/1").Sum(static revision => revision.Attachments.Count));
        Assert.Equal(1, again.GetStatistics().UniqueAttachmentCount);
        KindInvariants.Check(again);
    }

    private static async Task AttachOtherAsync(Database database, string text)
    {
        await database.WriteAsync(new WriteBatch().Put("other/1", "{}"u8.ToArray()), Cancel);
        await AttachAsync(database, "other/1", "a", text);
    }

    private static string[] Names(Database database, string id)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return [.. snapshot.Attachments(id).Select(static attachment => attachment.Name)];
    }

    private static Revision Newest(Database database, string id)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return snapshot.Revisions(id).First();
    }

    internal static async Task AttachAsync(Database database, string id, string name, string text)
    {
        await using var upload = database.BeginUpload();
        await upload.WriteAsync(Encoding.UTF8.GetBytes(text), Cancel);
        await upload.CompleteAsync(Cancel);
        await database.WriteAsync(new WriteBatch().PutAttachment(id, name, "text/plain", upload), Cancel);
    }
}
