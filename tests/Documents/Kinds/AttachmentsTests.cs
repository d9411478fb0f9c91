using System.Security.Cryptography;
using Treepie.Documents.Tests.Backups;
using Treepie.Kinds;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Kinds;

public sealed class AttachmentsTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(ContentRecord.PieceBytes)]
    [InlineData(ContentRecord.PieceBytes + 1)]
    [InlineData(5_000_000)]
    public async Task A_content_comes_back_as_it_was_whatever_its_length_and_is_kept_once(int length)
    {
        byte[] content = new byte[length];
        new Random(Seed.Next()).NextBytes(content);
        await using Database database = Database.Open(_directory.Path);
        await database.WriteAsync(new WriteBatch().Put("d/1", "{}"u8.ToArray()).Put("d/2", "{}"u8.ToArray()), Cancel);
        foreach (string id in new[] { "d/1", "D/2" })
            await PutAsync(database, id, "Pic.PNG", content);
        using (DatabaseSnapshot snapshot = database.BeginRead())
        {
            AttachmentValue attachment = snapshot.Attachment("d/2", "pic.png")!;
            Assert.Equal(
                ("Pic.PNG", "image/png", (long)length, Convert.ToBase64String(SHA256.HashData(content))),
                (attachment.Name, attachment.ContentType, attachment.SizeBytes, attachment.Hash));
            Assert.Equal(content, Read(snapshot, attachment));
        }

        Assert.Equal((2, 1), (database.GetStatistics().AttachmentCount, database.GetStatistics().UniqueAttachmentCount));
        KindInvariants.Check(database);
        await database.WriteAsync(new WriteBatch().Delete("d/1"), Cancel);
        KindInvariants.Check(database);
        await database.WriteAsync(new WriteBatch().DeleteAttachment("d/2", "PIC.png"), Cancel);
        Assert.Equal(0, database.GetStatistics().UniqueAttachmentCount);
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task An_upload_that_is_not_put_leaves_nothing_also_when_the_process_ends_in_its_middle()
    {
        byte[] content = new byte[3_500_000];
        await using (Database database = Database.Open(_directory.Path))
        {
            await using (var dropped = database.BeginUpload())
                await dropped.WriteAsync(content, Cancel);
            KindInvariants.Check(database);
            var refused = database.BeginUpload();
            await using (refused)
            {
                await refused.WriteAsync(content, Cancel);
                await refused.CompleteAsync(Cancel);
                await Assert.ThrowsAsync<DocumentNotFoundException>(
                    () => database.WriteAsync(new WriteBatch().PutAttachment("none", "a", null, refused), Cancel));
            }

            KindInvariants.Check(database);
            await database.BeginUpload().WriteAsync(content, Cancel); // nobody disposes of it
            using ReadTransaction read = database.Environment.BeginRead();
            Assert.Equal(1, read.FindTree(TreeNames.ContentUploads)!.Count);
        }

        await using Database again = Database.Open(_directory.Path);
        KindInvariants.Check(again);
    }

    [Fact]
    public async Task Copies_moves_and_replacements_keep_the_contents_that_are_still_named()
    {
        await using Database database = Database.Open(_directory.Path);
        await database.WriteAsync(new WriteBatch().Put("d/1", "{}"u8.ToArray()).Put("d/2", "{}"u8.ToArray()), Cancel);
        await PutAsync(database, "d/1", "a", [1]);
        await PutAsync(database, "d/1", "b", [2]);
        await database.WriteAsync(
            new WriteBatch()
                .CopyAttachment("d/1", "a", "d/2", "c")
                .MoveAttachment("d/1", "a", "d/1", "b")
                .MoveAttachment("d/1", "B", "d/1", "b"),
            Cancel);
        using (DatabaseSnapshot snapshot = database.BeginRead())
        {
            Assert.Equal(["b"], snapshot.Attachments("d/1").Select(static attachment => attachment.Name));
            Assert.Equal([1], Read(snapshot, snapshot.Attachment("d/1", "b")!));
            Assert.Equal([1], Read(snapshot, snapshot.Attachment("d/2", "c")!));
        }

        KindInvariants.Check(database);
        await Assert.ThrowsAsync<AttachmentNotFoundException>(
            () => database.WriteAsync(new WriteBatch().CopyAttachment("d/1", "none", "d/2", "x"), Cancel));
        await Assert.ThrowsAsync<DocumentNotFoundException>(
            () => database.WriteAsync(new WriteBatch().MoveAttachment("d/1", "b", "d/3", "x"), Cancel));
        await Assert.ThrowsAsync<ConcurrencyException>(
            () => database.WriteAsync(new WriteBatch().DeleteAttachment("d/1", "b", "A:1-x"), Cancel));
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task Readers_keep_the_content_that_they_began_with_while_it_is_replaced()
    {
        byte[] first = new byte[2_500_000], second = new byte[2_500_000];
        Array.Fill(first, (byte)1);
        Array.Fill(second, (byte)2);
        await using Database database = Database.Open(_directory.Path);
        await database.WriteAsync(new WriteBatch().Put("d/1", "{}"u8.ToArray()), Cancel);
        await PutAsync(database, "d/1", "a", first);
        DatabaseSnapshot[] readers = [.. Enumerable.Range(0, 100).Select(_ => database.BeginRead())];
        await PutAsync(database, "d/1", "a", second);
        foreach (DatabaseSnapshot reader in readers)
        {
            Assert.Equal(first, Read(reader, reader.Attachment("d/1", "a")!));
            reader.Dispose();
        }

        using DatabaseSnapshot now = database.BeginRead();
        Assert.Equal(second, Read(now, now.Attachment("d/1", "a")!));
    }

    [Fact]
    public async Task What_a_salvage_brought_back_has_its_logs_counts_and_references_again()
    {
        List<string> before;
        await using (Database database = Database.Open(_directory.Path))
        {
            await RandomDatabase.FillAsync(database, new Random(Seed.Next()), 60, Cancel);
            await database.PurgeTombstonesAsync(long.MaxValue, Cancel); // deletions do not survive a salvage
            before = DatabaseText.Of(database);
        }

        Mark(Path.Combine(_directory.Path, "documents"));
        await using Database again = Database.Open(_directory.Path);
        Assert.Equal(Beside(before), Beside(DatabaseText.Of(again)));
        KindInvariants.Check(again);
    }

    private static void Mark(string path)
    {
        using var environment = StorageEnvironment.Open(path);
        environment.Write(transaction =>
        {
            foreach (string name in new[]
            {
                TreeNames.KindsByEtag, TreeNames.KindsDeleted, TreeNames.KindCounts, TreeNames.ContentsByHash,
                TreeNames.DocumentsByEtag
            })
                transaction.DropTree(name);
            transaction.GetOrCreateTree(SalvagedDocuments.Mark);
            return true;
        });
    }

    private static IEnumerable<string> Beside(List<string> lines) =>
        lines.Where(
            static line => line.StartsWith("document ", StringComparison.Ordinal)
                || line.StartsWith("beside ", StringComparison.Ordinal));

    private static async Task PutAsync(Database database, string id, string name, byte[] content)
    {
        await using var upload = database.BeginUpload();
        for (int at = 0; at < content.Length; at += 300_000)
            await upload.WriteAsync(content.AsMemory(at, Math.Min(300_000, content.Length - at)), Cancel);
        await upload.CompleteAsync(Cancel);
        await database.WriteAsync(new WriteBatch().PutAttachment(id, name, "image/png", upload), Cancel);
    }

    private static byte[] Read(DatabaseSnapshot snapshot, AttachmentValue attachment)
    {
        var bytes = new List<byte>();
        for (ReadOnlySpan<byte> piece; !(piece = snapshot.Content(attachment, bytes.Count)).IsEmpty;)
            bytes.AddRange(piece);
        return [.. bytes];
    }
}
