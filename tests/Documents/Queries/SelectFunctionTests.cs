using Treepie.Indexes;
using Treepie.Queries;

namespace Treepie.Documents.Tests.Queries;

/// <summary>What <c>select</c> computes of values. The database of these tests has no engine for scripts.</summary>
public sealed class SelectFunctionTests : IAsyncLifetime
{
    private readonly Database _database = Database.OpenInMemory();

    public async ValueTask InitializeAsync()
    {
        await _database.PutAsync(
            "orders/1",
            """
            {"Name":"Ada","At":"2024-02-29T23:30:15.5000000","Days":["2023-01-31","soon",null,["2022-05-01"]],"Empty":[],"N":17,
             "Lines":[{"N":1,"In":["a","bcd"],"P":"tea"},{"N":5,"P":"salt"}],"None":null,"Ship To":"x","Company":"c/1","Sub":{"A":1}}
            """,
            "Orders");
        await _database.PutAsync("orders/2", """{"Name":"ÉMILE","At":"2024-03-01T01:00:00+02:00","Company":"c/2"}""", "Orders");
        await _database.PutAsync("c/1", """{"Title":"Acme","Since":"1999-12-31","Tags":["a","b",null]}""", "Companies");
    }

    public ValueTask DisposeAsync() => _database.DisposeAsync();

    [Theory]
    [InlineData("year(At) as Y, MONTH(o.At) as M, day(At) as D", """{"Y":2024,"M":2,"D":29}""")]
    [InlineData("hour(At) as H, minute(At) as M, second(At) as S, millisecond(At) as F", """{"H":23,"M":30,"S":15,"F":500}""")]
    [InlineData("dayOfYear(At) as Y, dayOfWeek(At) as W, date(At) as D", """{"Y":60,"W":4,"D":"2024-02-29"}""")]
    [InlineData("length(Name) as A, length('Ship To') as B, length(id(o)) as C, length(id()) as D", """{"A":3,"B":1,"C":8,"D":8}""")]
    [InlineData("utc(At), length(utc(o.At)) as L, utc(Days) as D, utc(Name) as N, utc(Missing) as M",
        """{"utc(At)":"2024-02-29T23:30:15.5000000","L":27,"D":["2023-01-31T00:00:00.0000000",null,null,["2022-05-01T00:00:00.0000000"]],"N":null,"M":null}""")]
    [InlineData("length(Missing) as A, length(None) as B, length(N) as C, length(Sub) as D",
        """{"A":null,"B":null,"C":null,"D":null}""")]
    [InlineData("year(Name) as A, year(Days) as B, length(Empty) as C", """{"A":null,"B":[2023,null,null,[2022]],"C":[]}""")]
    [InlineData("length(Lines[].P) as A, length(Lines[1].P) as B", """{"A":[3,4],"B":4}""")]
    [InlineData("length(date(At)) as A", """{"A":10}""")]
    [InlineData("count(Lines) as A, count(Lines[].In) as B, count(Empty) as C, count(Missing) as D, count(Name) as E",
        """{"A":2,"B":2,"C":0,"D":0,"E":1}""")]
    [InlineData("count(Lines as l, l.N > 4) as A, count(Lines as l, l.P = 'TEA' and Name = 'ada') as B", """{"A":1,"B":1}""")]
    [InlineData("year(o.At), length(Lines[].P), count(o.Lines), length(id())",
        """{"year(At)":2024,"length(Lines[].P)":[3,4],"count(Lines)":2,"length(id())":8}""")]
    [InlineData("Name, year(At) as Y, N", """{"Name":"Ada","Y":2024,"N":17}""")]
    [InlineData("length(@metadata.@collection) as A", """{"A":6}""")]
    public async Task Values_are_computed_of_what_is_selected(string items, string expected)
    {
        foreach (string source in (string[])["where id() = 'orders/1'", "where Name = 'Ada'", "filter Name = 'Ada'"])
            Assert.Equal(expected, await OneAsync($"from Orders as o {source} select {items}"));
    }

    [Fact]
    public async Task Texts_are_computed_as_they_stand_and_rows_differ_by_what_is_computed()
    {
        // compared with others, such a time loses its 'Z'
        await _database.PutAsync("orders/3", """{"Name":"2024-01-01T00:00:00.0000000Z","At":"2024-12-31"}""", "Orders");
        Answer answer = await _database.AskAsync("from Orders order by id() select length(Name) as L");
        Assert.Equal(["""{"L":3}""", """{"L":5}""", """{"L":28}"""], answer.Bodies);
        answer = await _database.AskAsync("from Orders order by id() select distinct year(At) as Y");
        Assert.Equal(["""{"Y":2024}"""], answer.Bodies);
        Assert.Equal(2, answer.Skipped);
        answer = await _database.AskAsync("from Orders select distinct month(At)");
        Assert.Equal(3, answer.Rows.Count);
    }

    [Fact]
    public async Task Values_are_computed_of_loaded_documents()
    {
        Answer answer = await _database.AskAsync(
            "from Orders as o order by id() load o.Company as c select length(c.Title), year(c.Since) as Y, count(c.Tags) as N");
        Assert.Equal(
            ["""{"length(Title)":4,"Y":1999,"N":3}""", """{"length(Title)":null,"Y":null,"N":0}"""], answer.Bodies);
        Assert.NotEqual(answer.Etag, await ChangedAsync());

        async Task<long> ChangedAsync()
        {
            await _database.PutAsync("c/1", """{"Title":"Acme Ltd"}""", "Companies");
            return (await _database.AskAsync(
                "from Orders as o order by id() load o.Company as c select length(c.Title), year(c.Since) as Y, "
                    + "count(c.Tags) as N")).Etag;
        }
    }

    [Fact]
    public async Task Values_are_computed_of_groups()
    {
        Answer answer = await _database.AskAsync(
            "from Orders group by At order by At select year(At), month(At) as M, length(key()) as L, count() as N");
        Assert.Equal(
            ["""{"year(At)":2024,"M":2,"L":27,"N":1}""", """{"year(At)":2024,"M":3,"L":25,"N":1}"""], answer.Bodies);
        foreach ((string item, string reason) in ((string, string)[])
            [("count(Lines)", "takes no field"), ("year(Name)", "is no key"), ("length(At, 3)", "cannot be selected")])
            Assert.Contains(reason, await RefusedAsync($"from Orders group by At select {item}"), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Values_are_computed_of_the_fields_of_an_index(bool isStored)
    {
        _database.Indexes.Put(new IndexDefinition
        {
            Name = "Named",
            Collections = ["Orders"],
            Fields =
            [
                new() { Name = "Who", Path = "Name", Stored = isStored },
                new() { Name = "Time", Path = "At", Stored = isStored },
                new() { Name = "Rows", Path = "Lines", Stored = isStored },
            ],
        });
        const string Query = "from index Named where Who = 'ada' select length(Who) as L, year(Time) as Y, count(Rows) as N, count("
            + "Rows as r, r.N > 4) as Big";
        Assert.Equal("""{"L":3,"Y":2024,"N":2,"Big":1}""", await OneAsync(Query));
        Assert.Equal("""{"L":3}""", await OneAsync("from index Named where Who = 'ada' select length(Who) as L"));
        Assert.Equal(
            """{"L":null,"Y":null,"N":0,"Big":0}""",
            await OneAsync(Query, request => request with { ProjectionBehavior = ProjectionBehavior.FromDocument }));
        Assert.Equal(
            isStored ? """{"L":3,"Y":2024,"N":2,"Big":1}""" : """{"L":null,"Y":null,"N":0,"Big":0}""",
            await OneAsync(Query, request => request with { ProjectionBehavior = ProjectionBehavior.FromIndex }));
        if (!isStored)
            Assert.Contains(
                "does not keep 'Who'",
                (await Assert.ThrowsAsync<InvalidQueryException>(
                    () => OneAsync(
                        Query, request => request with { ProjectionBehavior = ProjectionBehavior.FromIndexOrThrow }))).Message,
                StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("select »length(5) as L", "takes a field or the id: length(Name)")]
    [InlineData("select »year($p) as L", "takes a field or the id: year(OrderedAt)")]
    [InlineData("select »length(Name, 3) as L", "takes a field or the id")]
    [InlineData("select »length(o) as L", "takes a field or the id")]
    [InlineData("select »length(counter('Likes')) as L", "takes a field or the id")]
    [InlineData("select »count(o) as L", "takes an array")]
    [InlineData("select »count('Lines') as L", "takes an array")]
    [InlineData("select »count() as L", "takes an array")]
    [InlineData("select »count(Lines as l, l.N > 4)", "Name what is counted with 'as'")]
    [InlineData("select »count(Lines as l) as N", "takes an array with a name")]
    [InlineData("load o.Company as c select »count(c.Tags as t, t = 'a') as N", "count these in a script")]
    [InlineData("load o.Company as c select »count(Lines as l, l.P = c.Title) as N", "count these in a script")]
    [InlineData("select »count(Lines as l, counter(o, 'Likes') > 3) as N", "count these in a script")]
    [InlineData("load »year(o.At) as c select c.Title", "'year()' cannot stand where a value is expected")]
    [InlineData("select year(At) as A, »month(At) as A", "Two values are selected as 'A'")]
    public async Task What_computes_nothing_is_refused(string marked, string reason)
    {
        string query = "from Orders as o " + marked;
        int position = query.IndexOf('»', StringComparison.Ordinal);
        InvalidQueryException refused = await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.AskAsync(query.Remove(position, 1), """{"p":"2024-01-01"}"""));
        Assert.Contains(reason, refused.Message, StringComparison.Ordinal);
        Assert.Equal(position + 1, refused.Column);
    }

    private async Task<string> RefusedAsync(string query) =>
        (await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync(query))).Message;

    private async Task<string> OneAsync(string query, Func<QueryRequest, QueryRequest>? change = null) =>
        Assert.Single((await _database.AskAsync(query, change: change)).Bodies);
}
