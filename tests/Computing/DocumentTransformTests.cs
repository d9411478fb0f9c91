using System.Text;
using System.Text.Json;
using Treepie.Backups;
using Treepie.Kinds;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Computing.Tests;

/// <summary>Scripts over the documents of exports and imports: what stays, what goes, and what lies beside both.</summary>
public sealed class DocumentTransformTests : IAsyncDisposable
{
    /// <summary>Drops every third document, one way or the other, and changes the others.</summary>
    private const string Thirds =
        """
        if (this.N % 6 === 0)
            throw 'skip';
        if (this.N % 6 === 3)
            return null;
        this.N += 0.5;
        this['@metadata']['@collection'] = this.N > 40 ? 'Late' : 'Early';
        """;

    private static readonly DateTime _moment = new(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc);

    private static readonly DatabaseOptions _options = new() { Computing = new TextComputingEngine() };

    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;

    public DocumentTransformTests() => _database = Database.Open(Path.Combine(_directory.Path, "from"), _options);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private static DocumentTransform Transform(string script) => DocumentTransform.Compile(script, _options);

    public async ValueTask DisposeAsync()
    {
        await _database.DisposeAsync();
        _directory.Dispose();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task What_a_script_drops_goes_with_what_lies_beside_it_and_the_rest_is_changed(bool exporting)
    {
        var random = new Random(Seed.Next());
        var expected = new SortedDictionary<string, (double N, string Collection, bool HasSeries)>(StringComparer.Ordinal);
        for (int i = 0; i < 200; i++)
        {
            string id = $"items/{i}";
            int number = random.Next(100);
            bool hasSeries = random.Next(2) == 0;
            using var batch = new WriteBatch(_options);
            batch.Put(id, Encoding.UTF8.GetBytes($$$"""{"N":{{{number}}},"@metadata":{"@collection":"Items"}}"""));
            batch.IncrementCounter(id, "n", number);
            if (hasSeries)
                batch.TimeSeries(id, "S", [new TimeSeriesPoint(_moment, [number])]);
            await _database.WriteAsync(batch, Cancel);
            if (number % 3 != 0)
                expected[id] = (number + 0.5, number + 0.5 > 40 ? "Late" : "Early", hasSeries);
        }

        var dump = new MemoryStream();
        BackupReport report = await _database.BackupAsync(
            dump, new BackupOptions { Transform = exporting ? Transform(Thirds) : null }, cancellationToken: Cancel);
        Assert.Equal((exporting ? expected.Count : 200, !exporting), ((int)report.Counts.Documents, report.IsWhole));
        Assert.Equal(exporting, report.Link is null);
        await using (Database other = Database.Open(Path.Combine(_directory.Path, "other"), _options))
        {
            dump.Position = 0;
            var options = new ImportOptions { Transform = exporting ? null : Transform(Thirds) };
            await other.ImportAsync(dump, options, cancellationToken: Cancel);
            RequireSame(expected, other);
        }

        if (!exporting)
            return;
        dump.Position = 0;
        Assert.Equal(report.ContentHash, (await Database.VerifyBackupAsync(dump, cancellationToken: Cancel)).ContentHash);
        dump.Position = 0;
        string restored = Path.Combine(_directory.Path, "restored");
        await Database.RestoreAsync(dump, restored, cancellationToken: Cancel);
        await using Database again = Database.Open(restored, _options);
        RequireSame(expected, again);
    }

    [Theory]
    [InlineData("throw 'no'", "'a'. The script failed at line 1")]
    [InlineData("this['@metadata']['@id'] = 'b'", "gives 'a' another id, b")]
    [InlineData("this['@metadata']['@collection'] = 7", "makes 'a' a document that cannot be stored")]
    [InlineData("for (;;) { }", "statements")]
    [InlineData("del('a')", "only reads")]
    public async Task A_script_that_fails_ends_the_export_and_names_the_document(string script, string expected)
    {
        using (var batch = new WriteBatch(_options))
            await _database.WriteAsync(batch.Put("a", "{}"u8), Cancel);
        BackupException error = await Assert.ThrowsAsync<BackupException>(
            () => _database.BackupAsync(
                new MemoryStream(), new BackupOptions { Transform = Transform(script) }, cancellationToken: Cancel));
        Assert.Equal(BackupFault.DocumentRefused, error.Fault);
        Assert.Contains(expected, error.Message, StringComparison.Ordinal);
        Assert.Contains("'a'", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Nothing_goes_on_from_a_transformed_export_and_no_snapshot_is_one()
    {
        BackupReport whole = await _database.BackupAsync(new MemoryStream(), cancellationToken: Cancel);
        DocumentTransform transform = Transform("this.N = 1");
        foreach (BackupOptions options in (BackupOptions[])
        [
            new BackupOptions { Since = whole.Link, Transform = transform },
            new BackupOptions { Kind = BackupKind.Snapshot, Transform = transform },
        ])
            await Assert.ThrowsAsync<ArgumentException>(
                () => _database.BackupAsync(new MemoryStream(), options, cancellationToken: Cancel));
        Assert.Throws<ScriptException>(() => DocumentTransform.Compile("if (", _options));
        Assert.Throws<ScriptException>(() => DocumentTransform.Compile("this.N = 1", new DatabaseOptions()));
    }

    private static void RequireSame(
        SortedDictionary<string, (double N, string Collection, bool HasSeries)> expected, Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.Equal(expected.Count, snapshot.DocumentCount);
        foreach ((string id, (double number, string collection, bool hasSeries)) in expected)
        {
            Assert.True(snapshot.TryGet(id, out Document document), id);
            using var json = JsonDocument.Parse(document.Body.ToArray());
            Assert.Equal(
                (id, number, collection), (id, json.RootElement.GetProperty("N").GetDouble(), document.CollectionName));
            Assert.Equal((id, (long?)(number - 0.5)), (id, snapshot.Counter(id, "n")?.Value));
            Assert.Equal((id, hasSeries), (id, snapshot.TimeSeriesOf(id).Count > 0));
        }

        Assert.Null(snapshot.Counter("items/none", "n"));
    }
}
