using System.Security.Cryptography;
using System.Text;
using Treepie.Backups;
using Treepie.Kinds;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Computing.Tests;

/// <summary>Imports that leave out documents which the database has: these stay, with all that lies beside them.</summary>
public sealed class DroppedOnImportTests : IDisposable
{
    private static readonly DateTime _moment = new(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc);
    private static readonly DatabaseOptions _options = new() { Computing = new TextComputingEngine() };

    private static readonly DocumentTransform _dropping = DocumentTransform.Compile("if (this.Left) throw 'skip';", _options);

    private readonly TemporaryDirectory _directory = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData("script")]
    [InlineData("collections")]
    [InlineData("archived")]
    public async Task What_lies_beside_a_document_that_an_import_leaves_out_does_not_come_to_the_one_that_is_here(string by)
    {
        using var dump = new MemoryStream();
        await using (Database from = await FillAsync("from", 3, isArchived: true))
            await from.BackupAsync(dump, new BackupOptions(), cancellationToken: Cancel);
        await using Database here = await FillAsync("here", 10, isArchived: false);
        string before = Text(here);
        dump.Position = 0;
        await here.ImportAsync(dump, LeavingOutUsers(by), cancellationToken: Cancel);
        Assert.Equal(before, Text(here));
        using DatabaseSnapshot snapshot = here.BeginRead();
        Assert.Equal("here 10", AttachmentOf(snapshot, "Users/1"));
        Assert.Equal(3, snapshot.Counter("Others/1", "n")?.Value); // which is not left out
        Assert.Equal("from 3", AttachmentOf(snapshot, "Others/1"));
    }

    /// <summary>A revision has the collection that its document had then.</summary>
    [Theory]
    [InlineData(true, true)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(false, false)]
    public async Task Revisions_are_selected_by_their_own_collection_whichever_their_document_has_now(
        bool exporting, bool isDocumentHere)
    {
        using var dump = new MemoryStream();
        await using (Database from = Database.Open(Path.Combine(_directory.Path, "from"), _options))
        {
            await from.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
            await PutAsync(from, "Users/1");
            await PutAsync(from, "Users/1", collection: "Others", deletesFirst: true);
            await PutAsync(from, "Others/1");
            await PutAsync(from, "Others/1", collection: "Users", deletesFirst: true);
            await from.BackupAsync(
                dump, exporting ? new() { Collections = ["Others"] } : new BackupOptions(), cancellationToken: Cancel);
        }

        dump.Position = 0;
        await using Database into = Database.Open(Path.Combine(_directory.Path, "into"), _options);
        if (isDocumentHere)
            await PutAsync(into, "Others/1", collection: "Users");
        await into.ImportAsync(
            dump, exporting ? new ImportOptions() : new() { Collections = ["Others"] }, cancellationToken: Cancel);
        using DatabaseSnapshot snapshot = into.BeginRead();
        Assert.True(snapshot.TryGet("Users/1", out Document _));
        Assert.Equal(isDocumentHere, snapshot.TryGet("Others/1", out Document _));
        Assert.Equal(["Others"], snapshot.Revisions("Users/1").Select(static one => one.Collection).Distinct());
        Assert.Equal(["Others"], snapshot.Revisions("Others/1").Select(static one => one.Collection).Distinct());
    }

    [Theory]
    [InlineData("script", true)]
    [InlineData("script", false)]
    [InlineData("collections", true)]
    [InlineData("collections", false)]
    [InlineData("archived", true)]
    [InlineData("archived", false)]
    public async Task Revisions_of_a_document_that_is_left_out_are_left_out_with_all_that_they_hold(string by, bool exporting)
    {
        ImportOptions leaving = LeavingOutUsers(by);
        using var dump = new MemoryStream();
        await using (Database from = await FillAsync("from", 3, isArchived: true))
        {
            await PutAsync(from, "Others/bin");
            await PutAsync(from, "Users/bin");
            using var deletes = new WriteBatch(_options);
            deletes.Delete("Others/bin");
            deletes.Delete("Users/bin");
            await from.WriteAsync(deletes, Cancel);
            await from.BackupAsync(
                dump,
                exporting
                    ? new()
                    {
                        Transform = leaving.Transform,
                        Collections = leaving.Collections,
                        LeftOut = leaving.LeftOut,
                    }
                    : new BackupOptions(),
                cancellationToken: Cancel);
        }

        dump.Position = 0;
        await using Database into = Database.Open(Path.Combine(_directory.Path, "into"), _options);
        await into.ImportAsync(dump, exporting ? new ImportOptions() : leaving, cancellationToken: Cancel);
        using DatabaseSnapshot snapshot = into.BeginRead();
        Assert.False(snapshot.TryGet("Users/1", out Document _));
        Assert.Empty(snapshot.Revisions("Users/1"));
        Assert.NotEmpty(snapshot.Revisions("Others/1"));
        Assert.NotEmpty(snapshot.Revisions("Others/bin"));
        Assert.Equal(leaving.Collections is null, snapshot.Revisions("Users/bin").Any()); // selected by collection alone
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Revisions_of_what_a_script_drops_are_left_out_where_documents_are_not_taken_at_all(bool exporting)
    {
        const BackupContent Beside = BackupContent.RevisionDocuments | BackupContent.Attachments;
        using var dump = new MemoryStream();
        await using (Database from = await FillAsync("from", 3, isArchived: false))
            await from.BackupAsync(
                dump, exporting ? new() { Transform = _dropping, Content = Beside } : new BackupOptions(),
                cancellationToken: Cancel);
        await using Database into = Database.Open(Path.Combine(_directory.Path, "into"), _options);
        dump.Position = 0;
        await into.ImportAsync(
            dump, exporting ? new ImportOptions() : new() { Transform = _dropping, Content = Beside }, cancellationToken: Cancel);
        using DatabaseSnapshot snapshot = into.BeginRead();
        Assert.Equal(0, snapshot.DocumentCount);
        Assert.Empty(snapshot.Revisions("Users/1"));
        Assert.NotEmpty(snapshot.Revisions("Others/1"));
    }

    [Fact]
    public async Task A_script_does_not_run_where_nothing_of_documents_is_taken()
    {
        DocumentTransform failing = DocumentTransform.Compile("throw 'no';", _options);
        const BackupContent Shared = BackupContent.Indexes | BackupContent.Identities;
        using var dump = new MemoryStream();
        await using Database database = await FillAsync("from", 3, isArchived: false);
        await database.BackupAsync(dump, new BackupOptions { Transform = failing, Content = Shared }, cancellationToken: Cancel);
        using var whole = new MemoryStream();
        await database.BackupAsync(whole, new BackupOptions(), cancellationToken: Cancel);
        whole.Position = 0;
        await database.ImportAsync(whole, new ImportOptions { Transform = failing, Content = Shared }, cancellationToken: Cancel);
    }

    [Fact]
    public async Task An_import_that_would_have_to_remember_too_many_ids_is_refused_with_what_to_do()
    {
        using var dump = new MemoryStream();
        await using (Database from = await FillAsync("from", 3, isArchived: true))
        {
            await PutAsync(from, "Users/2", "\"@archived\":true,");
            await from.BackupAsync(dump, new BackupOptions(), cancellationToken: Cancel);
        }

        await using Database into = Database.Open(Path.Combine(_directory.Path, "into"), _options);
        var options = new ImportOptions { LeftOut = LeftOutDocuments.Archived, MostLeftOut = 1 };
        dump.Position = 0;
        BackupException refused =
            await Assert.ThrowsAsync<BackupException>(() => into.ImportAsync(dump, options, cancellationToken: Cancel));
        Assert.Contains("Import without revisions", refused.Message, StringComparison.Ordinal);
        dump.Position = 0;
        BackupContent content = BackupContent.All & ~BackupContent.RevisionDocuments;
        await into.ImportAsync(dump, options with { Content = content }, cancellationToken: Cancel);
    }

    [Fact]
    public async Task What_is_imported_without_documents_comes_to_the_documents_that_are_here()
    {
        using var dump = new MemoryStream();
        await using (Database from = await FillAsync("from", 3, isArchived: true))
            await from.BackupAsync(dump, new BackupOptions(), cancellationToken: Cancel);
        await using Database here = await FillAsync("here", 10, isArchived: false);
        dump.Position = 0;
        await here.ImportAsync(dump, new ImportOptions { Content = BackupContent.Counters }, cancellationToken: Cancel);
        using DatabaseSnapshot snapshot = here.BeginRead();
        Assert.Equal(3, snapshot.Counter("Users/1", "n")?.Value);
    }

    private static ImportOptions LeavingOutUsers(string by) => by switch
    {
        "script" => new() { Transform = _dropping },
        "collections" => new() { Collections = ["Others"] },
        _ => new() { LeftOut = LeftOutDocuments.Archived },
    };

    private static async Task PutAsync(
        Database database, string id, string metadata = "", string? collection = null, bool deletesFirst = false)
    {
        using var batch = new WriteBatch(_options);
        if (deletesFirst)
            batch.Delete(id);
        batch.Put(
            id, Encoding.UTF8.GetBytes(
                $$$"""{"@metadata":{{{{metadata}}}"@collection":"{{{collection ?? id.Split('/')[0]}}}"}}"""));
        await database.WriteAsync(batch, Cancel);
    }

    private async Task<Database> FillAsync(string name, int number, bool isArchived)
    {
        Database database = Database.Open(Path.Combine(_directory.Path, name), _options);
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
        foreach (string collection in (string[])["Users", "Others"])
        {
            bool isLeft = collection == "Users";
            string id = $"{collection}/1", left = isLeft ? "true" : "false",
                archived = isLeft && isArchived ? ",\"@archived\":true" : "";
            await using AttachmentUpload upload = database.BeginUpload();
            await upload.WriteAsync(Encoding.UTF8.GetBytes($"{name} {number}"), Cancel);
            await upload.CompleteAsync(Cancel);
            using var batch = new WriteBatch(_options);
            batch.Put(
                id,
                Encoding.UTF8.GetBytes(
                    $$"""{"Left":{{left}},"@metadata":{"@collection":"{{collection}}"{{archived}} } }"""));
            batch.IncrementCounter(id, "n", number);
            batch.TimeSeries(id, "S", [new TimeSeriesPoint(_moment, [number])]);
            batch.PutAttachment(id, "a", "text/plain", upload);
            await database.WriteAsync(batch, Cancel);
        }

        return database;
    }

    /// <summary>The content of the document's one attachment, of which its hash is.</summary>
    private static string AttachmentOf(DatabaseSnapshot snapshot, string id)
    {
        AttachmentValue attachment = snapshot.Attachments(id).Single();
        byte[] content = snapshot.Content(attachment, 0).ToArray();
        Assert.Equal(attachment.SizeBytes, content.Length);
        Assert.Equal(attachment.Hash, Convert.ToBase64String(SHA256.HashData(content)));
        return Encoding.UTF8.GetString(content);
    }

    /// <summary>All of the document that is left out.</summary>
    private static string Text(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.True(snapshot.TryGet("Users/1", out Document document));
        return $"{document.Etag} {snapshot.Counter("Users/1", "n")?.Value} "
            + $"{snapshot.TimeSeries("Users/1", "S").Single().Values[0]} "
            + $"{AttachmentOf(snapshot, "Users/1")} {snapshot.Revisions("Users/1").Count()}";
    }
}
