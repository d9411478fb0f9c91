using Treepie.Queries;

namespace Treepie.Documents.Tests.Queries;

/// <summary>What is refused is told in words, with line and column. The sign » stands where the error is.</summary>
public sealed class RefusalWordsTests : IAsyncLifetime
{
    private readonly Database _database = Database.OpenInMemory();

    public async ValueTask InitializeAsync()
    {
        for (int i = 0; i < 50; i++)
            await _database.PutAsync($"docs/{i}", $$"""{"Name":"n{{i}}","Notes":"red fox","Age":{{i}},"Flag":true}""", "Docs");
        await _database.PutAsync("facets/none", "{}", "Facets");
    }

    public ValueTask DisposeAsync() => _database.DisposeAsync();

    [Theory]
    [InlineData("from Docs where Flag < »true", "Booleans have no order: compare them with = or !=.")]
    [InlineData("from Docs where Flag between »true and true", "Booleans have no order")]
    [InlineData("from Docs\nwhere search(Notes, 'x', »xor)", "Expected 'and' or 'or' as the operator of 'search()'.")]
    [InlineData("from Docs where Age = »1e400", "This number is too large.")]
    [InlineData("from Docs filter Age = »1e400", "This number is too large.")]
    [InlineData("»match (a)-[b]->(c)", "Graph queries ('with', 'match') are not part of this language.")]
    [InlineData("»with edges(x)", "Graph queries ('with', 'match') are not part of this language.")]
    [InlineData("from Docs limit 1 »limit 2", "'limit' is given twice.")]
    [InlineData("from Docs offset 1 »limit 2, 3", "How many results to skip is said twice")]
    [InlineData("from Docs filter Age > 1 filter_limit 1 »filter_limit 2", "'filter_limit' is given twice.")]
    [InlineData("from Docs select »suggest(Name)", "'suggest()' takes a field and a text")]
    [InlineData("from Docs select suggest(Name, »5)", "Expected the text to suggest for: a string, or an array of at most")]
    [InlineData(
        "from Docs select suggest(Name, 'x', »$o)",
        "The 'Accuracy' of 'suggest()' is a number from 0 to 1.",
        """{"Accuracy":2}""")]
    [InlineData(
        "from Docs select suggest(Name, 'x', »$o)",
        "The 'PageSize' of 'suggest()' is a whole number from 0 to",
        """{"PageSize":-1}""")]
    [InlineData("from Docs select suggest(Name, 'x', »$o)", "The 'Distance' of 'suggest()' is one of", """{"Distance":"Far"}""")]
    [InlineData("from Docs select suggest(Name, 'x', »$o)", "'suggest()' has no option 'Odd'; there are", """{"Odd":1}""")]
    [InlineData("from Docs select suggest(Name, 'x', »$o)", "The options of 'suggest()' are an object such as", "[1]")]
    [InlineData(
        "from Docs where search(Notes, 'x') include »highlight(Notes)",
        "'highlight()' takes a field, the length of a fragment")]
    [InlineData("from Docs where search(Notes, 'x') include highlight(Notes, »5, 1)", "is a whole number from 18 to")]
    [InlineData("from Docs where search(Notes, 'x') include highlight(»5, 20, 1)", "Expected the field to highlight.")]
    [InlineData(
        "from Docs where search(Notes, 'x') include highlight(Notes, 20, 1, »$o)",
        "The options of 'highlight()' are an object such as",
        "[1]")]
    [InlineData(
        "from Docs where »moreLikeThis(id() = 'docs/1', $o)",
        "'MaximumQueryTerms' of 'moreLikeThis()' is a number from 1 to",
        """{"Fields":["Notes"],"MaximumQueryTerms":0}""")]
    [InlineData(
        "from Docs where »moreLikeThis(id() = 'docs/1', $o)",
        "'BoostFactor' of 'moreLikeThis()' is a number of at least 0",
        """{"Fields":["Notes"],"BoostFactor":-1}""")]
    [InlineData(
        "from Docs where spatial.within(spatial.point(A, B), spatial.circle(1, 2, 3, »'leagues'))",
        "'leagues' is no unit of distance. There are: 'kilometers', 'miles'.")]
    [InlineData("from Docs where vector.search(V, »$o)", "The parameter $o is no vector", """{"x":1}""")]
    [InlineData("from Docs where vector.search(V, »$o)", "This is no vector: base64 of 32-bit floats", "\"?\"")]
    [InlineData(
        "from Docs where spatial.within(spatial.wkt(W), »spatial.wkt('SRID=1;POINT(1 2)'))",
        "Only coordinates of WGS 84 (SRID 4326) are supported")]
    [InlineData(
        "from Docs where spatial.within(spatial.wkt(W), »spatial.wkt('POINT Z (1 2 3)'))",
        "heights and measures are not supported")]
    [InlineData(
        "from Docs where spatial.within(spatial.wkt(W), »spatial.wkt('POINT EMPTY'))",
        "A geometry without points is nowhere")]
    [InlineData(
        "from Docs where spatial.within(spatial.wkt(W), »spatial.wkt('ENVELOPE(1, 2, 3, 4)'))",
        "its north lies below its south")]
    [InlineData("from Docs where lucene(Notes, »'[a TO b')", "a range ends with ']' or '}'")]
    [InlineData("from Docs where lucene(Notes, »$o)", "it ends with a '\\'", "\"fox\\\\\"")]
    [InlineData("from Docs where lucene(Notes, »'Name:')", "nothing follows 'Name:'")]
    [InlineData("from Docs where »regex(Name, 'a{3,2}')", "the least number of a repetition is greater than the most")]
    [InlineData("from Docs where »regex(Name, 'a{2000}')", "a repetition goes up to 1,000 times")]
    [InlineData("from Docs where »regex(Name, '[b-a]')", "the range is in reverse order")]
    [InlineData("from Docs where »regex(Name, $o)", "it ends with a '\\'", "\"a\\\\\"")]
    [InlineData("from Docs where »regex(Name, 'a)')", "there is no '(' before this ')'")]
    [InlineData(
        "from Docs where »regex(Name, '(?=a)')",
        "lookahead, lookbehind, options and other special groups are not supported")]
    [InlineData("from Docs where »lenght(Name) = 1", "There is no function 'lenght()'. Did you mean 'length'?")]
    [InlineData("from Docs where »frobnicate(Name) > 1 or Age = 1", "There is no function 'frobnicate()'. One of your own is")]
    [InlineData("from Docs where Name = »lenght(Name)", "There is no function 'lenght()'. Did you mean 'length'?")]
    [InlineData("from Docs order by »lenght(Name)", "There is no function 'lenght()'. Did you mean 'length'?")]
    [InlineData("from Docs select »yaer(At)", "There is no function 'yaer()'. Did you mean 'year'?")]
    [InlineData("from Docs select facet(»lenght(Name))", "There is no function 'lenght()'. Did you mean 'length'?")]
    [InlineData("from Docs include »timing()", "There is no function 'timing()'. Did you mean 'timings'?")]
    [InlineData("from Docs filter »lenght(Name) = 1", "There is no function 'lenght()'. Did you mean 'length'?")]
    [InlineData("from Docs filter »startWith(Name, 'a')", "There is no function 'startWith()'. Did you mean 'startsWith'?")]
    [InlineData(
        "declare function isLate(x) { return true; } from Docs where »isLate2(Name) = 1", "Did you mean 'isLate'?")]
    [InlineData("from Docs as d where »c.Name = 'x' load d.Ref as c", "is of a document that 'load' brings")]
    [InlineData("from Docs as d where d.Age > 1 or exact(»c.Name = 'x') load d.Ref as c select d.Age", "after 'filter'")]
    [InlineData("from Docs as d where search(»c.Name, 'x') load d.Ref as c", "where x.c.Name")]
    [InlineData("from Docs as d where »id(c) = 'x' load d.Ref as c", "Compare the field that has the id")]
    [InlineData("from Docs as d load d.Ref as c select facet(sum(»c.Name))", "is of a document that 'load' brings")]
    [InlineData("from Docs group by array(Tags) where »count(Age) > 1", "of a key it counts the elements")]
    [InlineData("from Docs group by »year(At)", "To group by a computed value, define an index")]
    [InlineData("declare function k(x) { return x; } from Docs group by »k(Name)", "To group by a computed value, define an index")]
    [InlineData("from Docs where »length() = 1", "'length()' takes a field or the id: length(Name).")]
    [InlineData("from Docs where lucene(»length(Name), 'x')", "without words, places and vectors to search")]
    [InlineData("from Docs where »cmpxchg('x')", "is a value and no condition")]
    [InlineData("from Docs order by »suggest(Name)", "'suggest()' cannot stand in 'order by'.")]
    [InlineData("from Docs select »search(Name, 'x')", "'search()' cannot stand where a value is expected.")]
    [InlineData("from Docs include »search(Name, 'x')", "'search()' cannot stand in 'include'.")]
    [InlineData("from Docs where »score() = 1", "'score()' cannot stand where a field is expected.")]
    [InlineData("from Docs as d where »d = 1", "'d' is the whole document, and a field is expected here: d.Name.")]
    [InlineData("from Docs where vector.search(»embedding.text(Name), 'x')", "which is not part of the engine")]
    [InlineData("from Docs filter Age »> 1 select suggest(Name, 'x')", "leave out 'filter'")]
    [InlineData("from Docs filter_limit »1", "there is no 'filter'")]
    [InlineData("from Docs order by »timeseries(from Prices select last())", "A time series gives entries and no value")]
    [InlineData("from Docs where Name = 'x' and »true = Flag", "The sides are swapped: a field stands left of '='")]
    [InlineData("from Docs where »null = Name", "Write 'Name = null'.")]
    [InlineData("from Docs filter »false != Flag", "Write 'Flag != false'.")]
    public async Task What_is_refused_is_told_where_it_stands(string marked, string words, string parameter = "null")
    {
        int position = marked.IndexOf('»', StringComparison.Ordinal);
        string query = marked.Remove(position, 1);
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync(query, $$"""{"o":{{parameter}}}"""));
        Assert.Contains(words, error.Message, StringComparison.Ordinal);
        string before = query[..position];
        Assert.Equal(
            (1 + before.Count(sign => sign == '\n'), position - before.LastIndexOf('\n')), (error.Line, error.Column));
    }

    [Fact]
    public async Task Patches_by_query_refuse_conditions_on_what_only_their_script_loads()
    {
        InvalidQueryException error = await RefusalAsync(
            "from Docs as d where c.Name = 'x' load d.Ref as c update { this.Of = c.Name; }",
            static request => request with { IgnoresUpdate = true });
        Assert.StartsWith("'c.Name' is of a document that 'load' brings", error.Message, StringComparison.Ordinal);
        Assert.Equal((1, 22), (error.Line, error.Column));
    }

    [Fact]
    public async Task Patches_by_query_say_why_a_condition_is_refused_before_its_limit()
    {
        InvalidQueryException error = await RefusalAsync(
            "from Docs where counter('Likes') > 3 filter_limit 5", static request => request with { ExaminesDocuments = false });
        Assert.StartsWith("Counters and time series are no fields of documents", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_field_with_the_name_of_what_is_loaded_is_asked_for_by_the_name_of_the_source()
    {
        await _database.PutAsync("own/1", """{"c":{"Name":"x"},"Ref":"own/2"}""", "Own");
        await _database.PutAsync("own/2", """{"c":{"Name":"y"}}""", "Own");
        foreach (string query in (string[])[
            "from Own where c.Name = 'x'", "from Own as o where o.c.Name = 'x' load o.Ref as c",
            "from Own as o where 'c.Name' = 'x' load o.Ref as c"])
            Assert.Equal(["own/1"], (await _database.AskAsync(query)).Ids);
    }

    [Fact]
    public async Task A_query_of_too_much_is_refused_by_its_limits()
    {
        InvalidQueryException error = await RefusalAsync("from Docs where " + new string(' ', 1 << 20));
        Assert.Contains("characters long; the limit is", error.Message, StringComparison.Ordinal);
        Assert.Equal((1, 1), (error.Line, error.Column));

        error = await RefusalAsync(
            $"from Docs where {string.Join(" or ", Enumerable.Range(0, 16_385).Select(static i => $"Age={i}"))}");
        Assert.StartsWith("The query is too complex: it has more than 16,384 ", error.Message, StringComparison.Ordinal);
        Assert.True(error.Column > 100_000);

        error = await RefusalAsync($"from Docs select {string.Join(", ", Enumerable.Repeat("facet(Name)", 1_025))}");
        Assert.StartsWith("A query has at most 1,024 facets", error.Message, StringComparison.Ordinal);
        Assert.True(error.Column > 10_000);

        error = await RefusalAsync("from Docs select facet(id('facets/none'))");
        Assert.StartsWith("The document 'facets/none' has no facets", error.Message, StringComparison.Ordinal);
        Assert.True(error.Column > 10);
    }

    [Fact]
    public async Task A_search_beyond_its_budget_is_refused_where_its_condition_stands()
    {
        const string Query = "from Docs where endsWith(Name, '7') and Age > 3 order by Notes";
        await _database.AskAsync(Query);
        InvalidQueryException error = await RefusalAsync(Query, request => request with { MaxEntries = 1 });
        Assert.Equal((1, 17), (error.Line, error.Column));
        Assert.Contains("1", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_index_that_does_not_exist_is_told_with_one_that_does()
    {
        await _database.AskAsync("from Docs where Name = 'x'");
        IndexNotFoundException error = await Assert.ThrowsAsync<IndexNotFoundException>(
            () => _database.AskAsync("from index 'Auto/Docs/ByNmae' where Name = 'x'"));
        Assert.StartsWith(
            "There is no index 'Auto/Docs/ByNmae' in this database. Did you mean 'Auto/Docs/ByName'? Names are",
            error.Message, StringComparison.Ordinal);
    }

    private Task<InvalidQueryException> RefusalAsync(string query, Func<QueryRequest, QueryRequest>? change = null) =>
        Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync(query, change: change));
}
