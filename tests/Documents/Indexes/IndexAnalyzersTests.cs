using System.Text;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Treepie.Backups;
using Treepie.Documents.Tests.Queries;
using Treepie.Indexes;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Indexes;

/// <summary>Analyzers that are kept with a database: what is done with them when they come, change and go.</summary>
public sealed class IndexAnalyzersTests : IDisposable
{
    private const string Folded = """{"Filters":["LowerCase","Accents"]}""";

    private static readonly IndexDefinition _index = Using("Plain");

    private readonly TemporaryDirectory _folder = new();
    private Database _database;

    public IndexAnalyzersTests() => _database = Database.Open(Source);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private string Source => Path.Combine(_folder.Path, "source");

    public void Dispose()
    {
        _database.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public async Task Fields_name_them_and_find_what_they_make()
    {
        await PutNotesAsync();
        _database.Indexes.Analyzers.Put(new AnalyzerDefinition("Plain", Folded));
        _database.Indexes.Put(Using("My.Own.Name.Space.plain, My.Assembly"));
        Assert.Equal(["notes/1"], await FindAsync("creme"));
        Assert.Equal(["notes/1"], await FindAsync("CRÈME"));
        Assert.Equal(["notes/1"], await FindAsync("crèm*"));
    }

    [Fact]
    public async Task They_survive_a_restart_with_the_index_that_they_built()
    {
        await PutNotesAsync();
        _database.Indexes.Analyzers.Put(new AnalyzerDefinition("Plain", Folded), new AnalyzerDefinition("Other", "{}"));
        _database.Indexes.Put(_index);
        Assert.Equal(["notes/1"], await FindAsync("creme"));
        string folder = Assert.Single(Directory.GetDirectories(Path.Combine(Source, "indexes")));
        Reopen();
        Assert.Equal(["Other", "Plain"], _database.Indexes.Analyzers.List().Select(static one => one.Name));
        Assert.Equal(Folded, _database.Indexes.Analyzers.List().Last().Code);
        Assert.Equal(["notes/1"], await FindAsync("creme"));
        Assert.Equal(folder, Assert.Single(Directory.GetDirectories(Path.Combine(Source, "indexes"))));
    }

    [Fact]
    public async Task A_changed_one_builds_its_indexes_anew_and_no_others()
    {
        await PutNotesAsync();
        _database.Indexes.Analyzers.Put(new AnalyzerDefinition("Plain", Folded), new AnalyzerDefinition("Other", Folded));
        _database.Indexes.Put(_index);
        _database.Indexes.Put(Using("Other") with { Name = "Others" });
        Assert.Equal(["notes/1"], await FindAsync("creme"));
        Assert.True(await _database.Indexes.WaitForNonStaleAsync(TimeSpan.FromSeconds(30), null, Cancel));
        string[] before = Folders();

        // blanks only
        _database.Indexes.Analyzers.Put(new AnalyzerDefinition("Plain", """{"Filters": [ "LowerCase", "Accents" ]}"""));
        Assert.Equal(before, Folders());
        _database.Indexes.Analyzers.Put(new AnalyzerDefinition("PLAIN", """{"Filters":["LowerCase"]}"""));
        await SwappedAsync();
        Assert.Empty(await FindAsync("creme"));
        Assert.Equal(["notes/1"], await FindAsync("crème"));
        Assert.Contains(Folders().Except(before), static folder => folder.Contains("Notes-", StringComparison.Ordinal));
        Assert.Equal(
            before.Where(static folder => folder.Contains("Others-", StringComparison.Ordinal)),
            Folders().Where(static folder => folder.Contains("Others-", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task A_change_that_was_not_built_before_the_end_is_built_after_the_start()
    {
        await PutNotesAsync();
        _database.Indexes.Analyzers.Put(new AnalyzerDefinition("Plain", Folded));
        _database.Indexes.Put(_index);
        Assert.Equal(["notes/1"], await FindAsync("creme"));
        _database.Indexes.Control.Pause();
        _database.Indexes.Analyzers.Put(new AnalyzerDefinition("Plain", """{"Filters":["LowerCase"]}"""));
        Assert.Equal(["Notes", "ReplacementOf/Notes"], _database.Indexes.List().Select(static index => index.Name));
        Reopen();
        await SwappedAsync();
        Assert.Empty(await FindAsync("creme"));
    }

    [Fact]
    public async Task One_that_an_index_uses_cannot_be_deleted()
    {
        await PutNotesAsync();
        _database.Indexes.Analyzers.Put(new AnalyzerDefinition("Plain", Folded));
        _database.Indexes.Put(_index);
        var error = Assert.Throws<InvalidAnalyzerException>(() => _database.Indexes.Analyzers.Delete("plain"));
        Assert.Contains("the index uses it: 'Notes'", error.Message, StringComparison.Ordinal);
        Assert.Single(_database.Indexes.Analyzers.List());
        _database.Indexes.Delete("Notes");
        Assert.True(_database.Indexes.Analyzers.Delete("PLAIN"));
        Assert.False(_database.Indexes.Analyzers.Delete("Plain"));
        Assert.Empty(_database.Indexes.Analyzers.List());
        Assert.Contains(
            "There is no analyzer 'Plain'",
            Assert.Throws<InvalidIndexDefinitionException>(() => _database.Indexes.Put(_index)).Message,
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("Plain", "public class Plain : Analyzer { }", "takes no code from clients")]
    [InlineData("Plain", "", "is no JSON")]
    [InlineData("Plain", "{\"Filters\":[}", "line 1, column 13")]
    [InlineData("Plain", "{\"Filters\":[\"LowerCas\"]}", "Did you mean 'LowerCase'?")]
    [InlineData("StandardAnalyzer", "{}", "has an analyzer of this name")]
    [InlineData("", "{}", "1 to 256 letters")]
    [InlineData("a b", "{}", "1 to 256 letters")]
    public void What_cannot_be_used_is_refused_and_nothing_of_the_command_kept(string name, string code, string reason)
    {
        var error = Assert.Throws<InvalidAnalyzerException>(
            () => _database.Indexes.Analyzers.Put(new AnalyzerDefinition("Good", "{}"), new AnalyzerDefinition(name, code)));
        Assert.Contains(reason, error.Message, StringComparison.Ordinal);
        Assert.Equal(name, error.AnalyzerName);
        Assert.Empty(_database.Indexes.Analyzers.List());
    }

    [Fact]
    public void There_are_not_more_than_64()
    {
        _database.Indexes.Analyzers.Put([.. Enumerable.Range(0, 64).Select(i => new AnalyzerDefinition($"a{i}", "{}"))]);
        _database.Indexes.Analyzers.Put(new AnalyzerDefinition("a1", Folded));
        Assert.Throws<InvalidAnalyzerException>(() => _database.Indexes.Analyzers.Put(new AnalyzerDefinition("b", "{}")));
        Assert.Equal(64, _database.Indexes.Analyzers.List().Count);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Backups_have_them_before_their_indexes(bool isImport)
    {
        await PutNotesAsync();
        _database.Indexes.Analyzers.Put(new AnalyzerDefinition("Plain", Folded));
        _database.Indexes.Put(_index);
        using var dump = new MemoryStream();
        await _database.BackupAsync(dump, cancellationToken: Cancel);
        dump.Position = 0;
        string target = Path.Combine(_folder.Path, "target");
        if (!isImport)
            await Database.RestoreAsync(dump, target, null, null, Cancel);
        _database.Dispose();
        _database = Database.Open(target);
        if (isImport)
        {
            _database.Indexes.Analyzers.Put(
                new AnalyzerDefinition("Mine", "{}"), new AnalyzerDefinition("Plain", """{"Filters":["LowerCase"]}"""));
            await _database.ImportAsync(dump, cancellationToken: Cancel);
        }

        Assert.Equal(
            isImport ? ["Mine", "Plain"] : ["Plain"], _database.Indexes.Analyzers.List().Select(static one => one.Name));
        Assert.Equal(["notes/1"], await FindAsync("creme"));
    }

    [Fact]
    public async Task A_dump_of_RavenDB_brings_those_of_parts_and_its_code_is_left_out()
    {
        const string Dump = """
            {"BuildVersion":60000,"DatabaseRecord":{"DatabaseName":"x","Analyzers":{
              "Plain":{"Name":"Plain","Code":"{\"Filters\":[\"LowerCase\",\"Accents\"]}"},
              "Sharp":{"Name":"Sharp","Code":"class Sharp {}"}}},
             "Docs":[{"Text":"Crème","@metadata":{"@id":"notes/1","@collection":"Notes"}}]}
            """;
        BackupReport report = await _database.ImportAsync(
            new MemoryStream(Encoding.UTF8.GetBytes(Dump)), cancellationToken: Cancel);
        Assert.Equal(["Plain"], _database.Indexes.Analyzers.List().Select(static one => one.Name));
        Assert.Contains("'Analyzers' of the database record", report.Skipped.Keys);
        _database.Indexes.Put(_index);
        Assert.Equal(["notes/1"], await FindAsync("creme"));
    }

    [Fact]
    public async Task A_document_that_an_analyzer_refuses_is_told_and_the_others_are_found()
    {
        await PutNotesAsync();
        await _database.PutAsync("notes/9", $$"""{"Text":"{{new string('a', 10_000)}}"}""", "Notes");
        string code = $$$"""{"Filters":["LowerCase",{"Replace":"a","With":"{{{new string('x', 128)}}}"}]}""";
        _database.Indexes.Analyzers.Put(new AnalyzerDefinition("Plain", code));
        _database.Indexes.Put(_index);
        Assert.Equal(["notes/2"], await FindAsync("tea"));
        IndexError error = Assert.Single(_database.Indexes.Errors("Notes"));
        Assert.Equal("notes/9", error.DocumentId);
        Assert.Contains("replace with less text", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_example_of_the_page_makes_the_words_that_stand_there()
    {
        string page = File.ReadAllText(Path.Combine(DataSets.RepositoryRoot, "docs", "reference", "indexes.md"));
        string section = page[page.IndexOf("### Analyzers from parts", StringComparison.Ordinal)..];
        Match example = Regex.Match(section, "```json\n(.*?)\n```\n\n`(.*?)` has the words ([^.]*)\\.", RegexOptions.Singleline);
        Assert.True(example.Success);
        _database.Indexes.Analyzers.Put(new AnalyzerDefinition("Plain", example.Groups[1].Value));
        _database.Indexes.Put(_index);
        await _database.PutAsync("notes/1", new JsonObject { ["Text"] = example.Groups[2].Value }.ToJsonString(), "Notes");
        Assert.True(await _database.Indexes.WaitForNonStaleAsync(TimeSpan.FromMinutes(1), null, Cancel));
        IndexContent content = _database.LookInto("Notes");
        Assert.Equal(
            Regex.Matches(example.Groups[3].Value, "`(.*?)`").Select(static word => word.Groups[1].Value)
                .Order(StringComparer.Ordinal),
            content.Terms("Text", null, 100, out _));
        Assert.Equal(["notes/1"], await FindAsync("CAFES"));
    }

    private static IndexDefinition Using(string analyzer) => new()
    {
        Name = "Notes",
        Collections = ["Notes"],
        Fields = [new IndexFieldDefinition { Name = "Text", Indexing = FieldIndexing.Search, Analyzer = analyzer }],
    };

    private async Task PutNotesAsync()
    {
        await _database.PutAsync("notes/1", """{"Text":"Crème Brûlée"}""", "Notes");
        await _database.PutAsync("notes/2", """{"Text":"Tea"}""", "Notes");
    }

    private async Task SwappedAsync()
    {
        Assert.True(await _database.Indexes.WaitForNonStaleAsync(TimeSpan.FromMinutes(1), null, Cancel));
        while (_database.Indexes.List()
            .Any(static index => index.Name.StartsWith(IndexCatalogue.ReplacementPrefix, StringComparison.Ordinal)))
            await Task.Yield(); // the thread that indexes is about to swap
    }

    private string[] Folders() =>
        [.. Directory.GetDirectories(Path.Combine(Source, "indexes")).Order(StringComparer.Ordinal)];

    private void Reopen()
    {
        _database.Dispose();
        _database = Database.Open(Source);
    }

    private async Task<IEnumerable<string>> FindAsync(string word)
    {
        Answer answer = await _database.AskAsync($"from index 'Notes' where search(Text, '{word}')");
        return answer.Ids.Order(StringComparer.Ordinal);
    }
}
