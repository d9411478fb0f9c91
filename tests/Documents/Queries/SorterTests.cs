using Treepie.Backups;
using Treepie.Queries;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

/// <summary>Sorters stored in a database, and conditions behind the collection.</summary>
public sealed class SorterTests : IAsyncLifetime
{
    private readonly TemporaryDirectory _folder = new();
    private Database _database;

    public SorterTests() => _database = Database.Open(_folder.Path);

    public async ValueTask InitializeAsync()
    {
        string[] levels = ["Medium", "high", "LOW", "unknown", "apart"];
        for (int i = 0; i < levels.Length; i++)
            await _database.PutAsync($"tickets/{i}", $$"""{"Level":"{{levels[i]}}","Rank":{{i}} }""", "Tickets");
        await _database.PutAsync("tickets/9", """{"Level":null}""", "Tickets");
        string[] names = ["Zorn", "Ärla", "Arne", "Öberg", "a10", "a2"];
        for (int i = 0; i < names.Length; i++)
            await _database.PutAsync($"people/{i}", $$"""{"Name":"{{names[i]}}"}""", "People");
    }

    public ValueTask DisposeAsync()
    {
        _database.Dispose();
        _folder.Dispose();
        return ValueTask.CompletedTask;
    }

    [Theory]
    [InlineData("""{"Values":["low","Medium","HIGH"]}""", "", "9 2 0 1 4 3")]
    [InlineData("""{"Values":["low","Medium","HIGH"],"Others":"Last"}""", " desc nulls last", "3 4 1 0 2 9")]
    [InlineData("""{"Values":["low","Medium","HIGH","low"],"Others":"First"}""", " nulls last", "4 3 2 0 1 9")]
    public async Task Values_come_in_the_order_of_the_list(string code, string direction, string expected)
    {
        _database.Sorters.Put(new SorterDefinition("ByLevel", code));
        Answer answer = await _database.AskAsync($"from Tickets order by custom(Level, 'bylevel'){direction}");
        Assert.Equal(expected, string.Join(' ', answer.Ids.Select(static id => id["tickets/".Length..])));
    }

    [Fact]
    public async Task Numbers_come_in_the_order_of_the_list()
    {
        _database.Sorters.Put(new SorterDefinition("ByRank", """{"Values":[3,1,"4"]}"""));
        Answer answer = await _database.AskAsync("from Tickets where Rank >= 0 order by custom(Rank, 'ByRank')");
        Assert.Equal("3 1 4 0 2", string.Join(' ', answer.Ids.Select(static id => id["tickets/".Length..])));
    }

    [Theory]
    [InlineData("""{"Language":"sv"}""", "a10 a2 Arne Zorn Ärla Öberg")]
    [InlineData("""{"Language":"de"}""", "a10 a2 Ärla Arne Öberg Zorn")]
    [InlineData("""{"Language":"sv","Numbers":true}""", "a2 a10 Arne Zorn Ärla Öberg")]
    public async Task Texts_come_as_a_language_orders_them(string code, string expected)
    {
        _database.Sorters.Put(new SorterDefinition("ByName", code));
        Answer answer = await _database.AskAsync("from People order by custom(Name, 'ByName')");
        Assert.Equal(expected, string.Join(' ', answer.Rows.Select(static row => (string?)row["Name"])));
    }

    [Fact]
    public async Task A_language_with_accents_left_out_takes_letters_for_the_same()
    {
        await _database.PutAsync("people/8", """{"Name":"Arla"}""", "People");
        _database.Sorters.Put(new SorterDefinition("ByName", """{"Language":"de","Accents":false}"""));
        const string Query = "from People where Name in ('Arla', 'Ärla') order by custom(Name, 'ByName'), id() desc";
        Assert.Equal("people/8 people/1", string.Join(' ', (await _database.AskAsync(Query)).Ids));
        _database.Sorters.Put(new SorterDefinition("ByName", """{"Language":"de"}"""));
        Assert.Equal("people/8 people/1", string.Join(' ', (await _database.AskAsync(Query)).Ids));
        string descending = Query.Replace("'ByName')", "'ByName') desc", StringComparison.Ordinal);
        Assert.Equal("people/1 people/8", string.Join(' ', (await _database.AskAsync(descending)).Ids));
    }

    [Fact]
    public async Task Queries_use_a_changed_sorter_and_fail_without_it_and_it_is_kept()
    {
        const string Query = "from Tickets where Rank < 3 order by custom(Level, 'ByLevel')";
        _database.Sorters.Put(new SorterDefinition("ByLevel", """{"Values":["low","medium","high"]}"""));
        Assert.Equal("tickets/2 tickets/0 tickets/1", string.Join(' ', (await _database.AskAsync(Query)).Ids));
        _database.Sorters.Put(new SorterDefinition("BYLEVEL", """{"Values":["high","medium","low"]}"""));
        Assert.Equal("tickets/1 tickets/0 tickets/2", string.Join(' ', (await _database.AskAsync(Query)).Ids));

        _database.Dispose();
        _database = Database.Open(_folder.Path);
        Assert.Equal("BYLEVEL", Assert.Single(_database.Sorters.List()).Name);
        Assert.Equal("tickets/1 tickets/0 tickets/2", string.Join(' ', (await _database.AskAsync(Query)).Ids));

        Assert.True(_database.Sorters.Delete("bylevel"));
        Assert.False(_database.Sorters.Delete("ByLevel"));
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync(Query));
        Assert.Contains("no order 'ByLevel'", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_dump_brings_its_sorters_beside_those_that_are_there()
    {
        var cancel = TestContext.Current.CancellationToken;
        _database.Sorters.Put(
            new SorterDefinition("ByLevel", """{"Values":["low"]}"""), new SorterDefinition("ByName", """{"Language":"sv"}"""));
        using var dump = new MemoryStream();
        await _database.BackupAsync(dump, new BackupOptions { Compression = BackupCompression.None }, null, cancel);
        using var folder = new TemporaryDirectory();
        await using Database other = Database.Open(folder.Path);
        other.Sorters.Put(
            new SorterDefinition("bylevel", """{"Values":["high"]}"""), new SorterDefinition("Own", """{"Language":"de"}"""));
        dump.Position = 0;
        await other.ImportAsync(dump, null, null, cancel);
        Assert.Equal(
            ["""ByLevel {"Values":["low"]}""", """ByName {"Language":"sv"}""", """Own {"Language":"de"}"""],
            other.Sorters.List().Select(static one => $"{one.Name} {one.Code}"));

        // RavenDB's form: what is described is taken, what is C# is named and left out.
        byte[] foreign = """{"BuildVersion":60000,"DatabaseRecord":{"Sorters":{"Mine":{"Name":"Mine","Code":"class Mine {}"},"Ours":{"Name":"Ours","Code":"{\"Language\":\"fr\"}"}}},"Docs":[]}"""u8.ToArray();
        await other.ImportAsync(new MemoryStream(foreign), null, null, cancel);
        Assert.Equal(["ByLevel", "ByName", "Ours", "Own"], other.Sorters.List().Select(static one => one.Name));
    }

    [Theory]
    [InlineData("", "{}", "a name has 1 to 256")]
    [InlineData("a/b", """{"Language":"sv"}""", "a name has 1 to 256")]
    [InlineData("A", "class Mine {}", "takes no code from clients")]
    [InlineData("A", "{\n \"Values\": [1,]}", "line 2, column 15")]
    [InlineData("A", "{}", "either 'Values' or 'Language'")]
    [InlineData("A", """{"Values":["a"],"Language":"sv"}""", "either 'Values' or 'Language'")]
    [InlineData("A", """{"Value":["a"]}""", "Did you mean 'Values'?")]
    [InlineData("A", """{"Values":[]}""", "1 to 4,096")]
    [InlineData("A", """{"Values":["a",null]}""", "'Values[2]'")]
    [InlineData("A", """{"Values":["a"],"Others":"Middle"}""", "'First' or 'Last'")]
    [InlineData("A", """{"Values":["a"],"Numbers":true}""", "'Numbers' goes with 'Language'")]
    [InlineData("A", """{"Language":"sv","Others":"First"}""", "'Others' goes with 'Values'")]
    [InlineData("A", """{"Language":"xx-nowhere"}""", "no language 'xx-nowhere'")]
    [InlineData("A", """{"Language":7}""", "no language ''")]
    [InlineData("A", """{"Language":"sv","Accents":"no"}""", "'Accents' is true or false")]
    public void What_is_no_sorter_is_refused_and_nothing_is_changed(string name, string code, string reason)
    {
        InvalidSorterException error = Assert.Throws<InvalidSorterException>(
            () => _database.Sorters.Put(
                new SorterDefinition("Good", """{"Language":"sv"}"""), new SorterDefinition(name, code)));
        Assert.Contains(reason, error.Message, StringComparison.Ordinal);
        Assert.Equal(name, error.SorterName);
        Assert.Empty(_database.Sorters.List());
    }

    [Fact]
    public void A_database_has_64_sorters_and_one_of_64_KiB()
    {
        const string Swedish = """{"Language":"sv"}""";
        _database.Sorters.Put([.. Enumerable.Range(0, 64).Select(static i => new SorterDefinition($"s{i}", Swedish))]);
        AssertRefused("more", Swedish, "at most 64");
        _database.Sorters.Put(new SorterDefinition("S7", """{"Language":"de"}""")); // in the place of another
        AssertRefused("s0", $$"""{"Values":["{{new string('x', 70_000)}}"]}""", "65,536 bytes");
        void AssertRefused(string name, string code, string reason) => Assert.Contains(
            reason,
            Assert.Throws<InvalidSorterException>(() => _database.Sorters.Put(new SorterDefinition(name, code))).Message,
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("from Tickets (Rank >= 1) where Rank < 3 order by Rank as long", "tickets/1 tickets/2")]
    [InlineData("from Tickets (Rank = 1 or Rank = 3) order by Rank as long", "tickets/1 tickets/3")]
    [InlineData("from Tickets (Rank >= $least) as t where t.Rank < 3 order by t.Rank as long desc", "tickets/2 tickets/1")]
    public async Task A_condition_behind_the_collection_is_one_of_the_query(string text, string expected)
    {
        for (int i = 0; i < 2; i++) // as it is parsed, and as it is kept
            Assert.Equal(expected, string.Join(' ', (await _database.AskAsync(text, """{"least":1}""")).Ids));
    }
}
