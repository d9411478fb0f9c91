using System.Globalization;
using System.Text;
using Treepie.Backups;
using Treepie.Kinds;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Backups;

/// <summary>What lies beside documents is imported in few commits, in its order, and counted as it is there.</summary>
public sealed class ImportBatchTests : IDisposable
{
    private const int Items = 10_000;

    private static readonly DateTime _start = new(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc);

    private readonly TemporaryDirectory _files = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task Many_items_are_imported_in_few_commits()
    {
        await using Database database = Open("many");
        long before = Commits(database);
        BackupReport report = await database.ImportAsync(Dump(Items), null, null, Cancel);
        Assert.InRange(Commits(database) - before, Items / 128 / 2, Items / 128 + 20); // identities, too
        Assert.Equal(
            [new BackupSection("CompareExchange", Items, 0), new BackupSection("Identities", Items, 0)],
            report.Sections.OrderBy(static section => section.Name, StringComparer.Ordinal));
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.Equal(Items, database.GetStatistics().CompareExchangeCount);
        Assert.Equal(Items, database.GetStatistics().IdentityCount);
        long last = 0;
        for (int i = 0; i < Items; i++)
        {
            CompareExchangeValue? value = snapshot.CompareExchange(Key(i));
            Assert.NotNull(value);
            Assert.True(value.Index > last, "later items have later indexes");
            last = value.Index;
            Assert.Equal($"{{\"Object\":{i}}}", Encoding.UTF8.GetString(value.Body.Span));
        }

        Assert.Equal(7 + Items, await database.NextIdentityAsync("i9999|", Cancel));
    }

    [Fact]
    public async Task Large_items_fill_a_commit_by_their_size()
    {
        await using Database database = Open("large");
        long before = Commits(database);
        string text = new('x', 200_000);
        var dump = new StringBuilder("{\"CompareExchange\":[");
        for (int i = 0; i < 60; i++)
            dump.Append(i == 0 ? "" : ",").Append(
                CultureInfo.InvariantCulture, $$$"""{"Key":"{{{Key(i)}}}","Value":{"Object":"{{{text}}}"}}""");
        await database.ImportAsync(Stream(dump.Append("]}").ToString()), null, null, Cancel);
        Assert.Equal(60, database.GetStatistics().CompareExchangeCount);
        Assert.InRange(Commits(database) - before, 10, 25);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(255)]
    [InlineData(256)]
    [InlineData(5_001)]
    public async Task An_import_that_breaks_says_what_is_in(int good)
    {
        await using Database database = Open("broken");
        string text = new StreamReader(Dump(Items)).ReadToEnd();
        string broken = text.Insert(text.IndexOf($"{{\"Key\":\"{Key(good)}\"", StringComparison.Ordinal), "{\"Key\":7},");
        BackupException error = await Assert.ThrowsAsync<BackupException>(
            () => database.ImportAsync(Stream(broken), null, null, Cancel));
        Assert.Contains($"imported and stays: {good:N0} compareexchange.", error.Message, StringComparison.Ordinal);
        Assert.Equal(good, database.GetStatistics().CompareExchangeCount);
    }

    [Fact]
    public async Task A_cancelled_import_ends_between_two_commits()
    {
        await using Database database = Open("cancelled");
        using var cancelled = CancellationTokenSource.CreateLinkedTokenSource(Cancel);
        await using var dump = new CancellingStream(Dump(Items).ToArray(), cancelled);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => database.ImportAsync(dump, null, null, cancelled.Token));
        long there = database.GetStatistics().CompareExchangeCount;
        Assert.InRange(there, 256, Items - 256);
        Assert.Equal(0, there % 256);
    }

    [Fact]
    public async Task Attachments_come_to_documents_that_were_just_imported()
    {
        const int Documents = 1_000;
        await using Database other = Open("other"), database = Open("here");
        for (int i = 0; i < Documents; i++)
        {
            await using AttachmentUpload upload = other.BeginUpload();
            await upload.WriteAsync(BitConverter.GetBytes(i % 10), Cancel);
            await upload.CompleteAsync(Cancel);
            await other.WriteAsync(
                new WriteBatch().Put($"d/{i}", "{}"u8).PutAttachment($"d/{i}", "a", "text/plain", upload), Cancel);
        }

        using var dump = new MemoryStream();
        await other.BackupAsync(dump, null, null, Cancel);
        dump.Position = 0;
        long before = Commits(database);
        BackupReport report = await database.ImportAsync(dump, null, null, Cancel);
        Assert.InRange(Commits(database) - before, 4, 60);
        Assert.Equal(Documents, report.Sections.Single(static s => s.Name == "TreepieAttachments").Taken);
        Assert.Equal((long)Documents, database.GetStatistics().AttachmentCount);
        Assert.Equal(10, database.GetStatistics().UniqueAttachmentCount);
    }

    [Theory]
    [InlineData(9)]
    [InlineData(10)]
    public async Task Of_damaged_items_those_before_stay(int series)
    {
        await using Database other = Open("other");
        for (int i = 1; i <= 10; i++)
            await other.WriteAsync(
                new WriteBatch().Put($"d/{i}", "{}"u8).TimeSeries(
                    $"d/{i}", "S",
                    [.. Enumerable.Range(0, 50).Select(n => new TimeSeriesPoint(_start.AddSeconds(n), [n * 1.1]))]),
                Cancel);
        using var dump = new MemoryStream();
        await other.BackupAsync(dump, new BackupOptions { Compression = BackupCompression.None }, null, Cancel);
        string json = Encoding.UTF8.GetString(dump.ToArray());
        const string Value = "\"Value\":\"";
        int at = json.IndexOf("\"TreepieTimeSeries\"", StringComparison.Ordinal);
        for (int i = 0; i < series; i++)
            at = json.IndexOf(Value, at + 1, StringComparison.Ordinal);
        int end = json.IndexOf('"', at + Value.Length), early = 0;
        for (int place = at + Value.Length; place < end; place += 11)
        {
            await using Database database = Open($"here{place}");
            string damaged = $"{json[..place]}{(json[place] == 'x' ? 'y' : 'x')}{json[(place + 1)..]}";
            BackupException error = await Assert.ThrowsAsync<BackupException>(
                () => database.ImportAsync(Stream(damaged), null, null, Cancel));
            Assert.Equal(BackupFault.Damaged, error.Fault);
            Assert.Contains("was imported and stays", error.Message, StringComparison.Ordinal);
            if (error.Message.Contains("TreepieTimeSeries", StringComparison.Ordinal))
                early++; // else at the end, by the hash
            using DatabaseSnapshot snapshot = database.BeginRead();
            for (int i = 1; i < series; i++)
                Assert.Equal(50, snapshot.TimeSeries($"d/{i}", "S", DateTime.MinValue, DateTime.MaxValue).Count());
        }

        Assert.True(early > 3, $"only {early} changes were noticed by what stores the item");
    }

    [Theory]
    [InlineData("|", "7")]
    [InlineData("i4|", "9223372036854775808")]
    [InlineData("i4|", "\"9223372036854775808\"")]
    public async Task Identities_before_a_bad_one_stay(string name, string value)
    {
        await using Database database = Open("identities");
        string good = string.Join(
            ",", Enumerable.Range(0, 4).Select(static i => $$"""{"Key":"i{{i}}|","Value":{{i + 7}}}"""));
        string dump = $$"""{"BuildVersion":72000,"Identities":[{{good}},{"Key":"{{name}}","Value":{{value}}}]}""";
        BackupException error = await Assert.ThrowsAsync<BackupException>(
            () => database.ImportAsync(Stream(dump), null, null, Cancel));
        Assert.Contains("stays: 4 identities", error.Message, StringComparison.Ordinal);
        Assert.Equal(4, database.GetStatistics().IdentityCount);
    }

    [Fact]
    public async Task An_attachment_without_its_content_is_refused_or_left_out()
    {
        const string Dump = """
            {"BuildVersion":72000,"Docs":[{"A":1,"@metadata":{"@id":"d/1","@collection":"D"}}],
            "TreepieAttachments":[{"DocId":"d/1","Name":"a.txt","Hash":"GCFrBXYzUr32oKgr9I516+e5TtOUMFgKGRVXzgujjE4=",
            "ContentType":"text/plain","Size":240,"TreepieEtag":7,"LastModified":"2026-11-28T09:09:37.9425329Z"}]}
            """;
        await using Database refuses = Open("refuses"), skips = Open("skips");
        BackupException error = await Assert.ThrowsAsync<BackupException>(
            () => refuses.ImportAsync(Stream(Dump), null, null, Cancel));
        Assert.Contains("its content is missing", error.Message, StringComparison.Ordinal);
        Assert.Equal(1, refuses.GetStatistics().DocumentCount);
        BackupReport report = await skips.ImportAsync(
            Stream(Dump), new ImportOptions { SkipInvalidDocuments = true }, null, Cancel);
        Assert.Contains(new BackupSection("TreepieAttachments", 0, 1), report.Sections);
    }

    private static string Key(int number) => string.Create(CultureInfo.InvariantCulture, $"k/{number:D5}");

    private static MemoryStream Dump(int items)
    {
        string values = string.Join(
            ",", Enumerable.Range(0, items).Select(static i => $$$"""{"Key":"{{{Key(i)}}}","Value":{"Object":{{{i}}}}}"""));
        string identities = string.Join(
            ",", Enumerable.Range(0, items).Select(static i => $$"""{"Key":"i{{i}}|","Value":{{i + 7}}}"""));
        return Stream($$"""{"BuildVersion":72000,"CompareExchange":[{{values}}],"Identities":[{{identities}}]}""");
    }

    private static MemoryStream Stream(string json) => new(Encoding.UTF8.GetBytes(json));

    private static long Commits(Database database) => database.Environment.GetStatistics().LastTransactionId;

    private Database Open(string name) => Database.Open(Path.Combine(_files.Path, name));

    /// <summary>Cancels when the first quarter has been read.</summary>
    private sealed class CancellingStream(byte[] bytes, CancellationTokenSource source) : MemoryStream(bytes)
    {
        public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            if (Position > Length / 4)
                await source.CancelAsync();
            return await base.ReadAsync(buffer[..Math.Min(buffer.Length, 4_096)], CancellationToken.None);
        }

        public override int Read(Span<byte> buffer) => base.Read(buffer[..Math.Min(buffer.Length, 4_096)]);
    }
}
