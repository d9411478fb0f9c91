using System.Text;
using Treepie.Queries;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>An answer about a field that no document has says so, wherever the query names it.</summary>
public sealed class FieldWarningTests : IAsyncLifetime
{
    private readonly Database _database = Database.OpenInMemory();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        await _database.PutAsync(
            "docs/1", """{"Name":"a","Ship To":"x","Ref":"docs/2","Lines":[{"P":1,"In":[{"Q":1}]}],"Tags":[],"None":null}""", "Docs");
        await _database.PutAsync("docs/2", """{"Name":"b","Only":{"Here":1}}""", "Docs");
        await _database.PutAsync("others/1", """{"Nmae":1,"Far":1}""", "Others");
    }

    public ValueTask DisposeAsync() => _database.DisposeAsync();

    [Theory]
    [InlineData("from Docs where Nmae = 1", "Nmae")]
    [InlineData("from Docs where length(Nmae) = 1", "Nmae")]
    [InlineData("from Docs where count(Nmae) = 0", "Nmae")]
    [InlineData("from Docs where Name = Nmae", "Nmae")]
    [InlineData("from Docs where Name = 'a' or Nmae = Name", "Nmae")]
    [InlineData("from Docs order by count(Nmae)", "Nmae")]
    [InlineData("from Docs order by Nmae", "Nmae")]
    [InlineData("from Docs select Nmae", "Nmae")]
    [InlineData("from Docs select 'Nmae' as N", "Nmae")]
    [InlineData("from Docs as d select d.Nmae, d.Name", "Nmae")]
    [InlineData("from Docs select distinct Nmae", "Nmae")]
    [InlineData("from Docs where Name = 'a' select length(Nmae) as L", "Nmae")]
    [InlineData("from Docs where id() = 'docs/1' select Nmae", "Nmae")]
    [InlineData("from Docs select Lines[].Pp", "Lines[].Pp")]
    [InlineData("from Docs select facet(Name, sum(Nmae))", "Nmae")]
    [InlineData("from Docs select facet(count(Nmae))", "Nmae")]
    [InlineData("from Docs where Name = 'a' filter Nmae = null select facet(Name)", "Nmae")]
    [InlineData("from Docs filter Nmae = 1 and Name = 'a'", "Nmae")]
    [InlineData("from Docs filter startsWith('Nmae', 'a')", "Nmae")]
    [InlineData("from Docs filter any(Lines as l, l.Pp = 1)", "Lines[].Pp")]
    [InlineData("from Docs filter any(Lines as l, any(l.In as i, i.Qq = 1 and l.P = 1))", "Lines[].In[].Qq")]
    [InlineData("from Docs where Nmae = null select Nmae", "Nmae")]
    [InlineData("from Docs as d load d.Rfe as r select r.Any, d.Name", "Rfe")]
    [InlineData("from Docs include Rfe", "Rfe")]
    [InlineData("from Docs as d include 'd.Rfe', 'docs/2'", "Rfe")]
    [InlineData("from Docs group by Nmae", "Nmae")]
    [InlineData("from Docs group by Name select Name, sum(Nmae) as S", "Nmae")]
    [InlineData("from Docs (Name = 'a') group by Nmae", "Nmae")]
    public async Task A_field_that_no_document_has_is_named(string query, string field)
    {
        for (int i = 0; i < 2; i++) // also of a query that is known
            Assert.StartsWith(
                $"No document of 'Docs' has a field '{field}'.",
                Assert.Single(await AskAsync(query), static one => !one.StartsWith("No index", StringComparison.Ordinal)),
                StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("from Docs as d select d.Name, d.Only.Here, d.None, d.Tags, d.'Ship To', d.Lines[].In[].Q, d.Lines[0].P, id()")]
    [InlineData("from Docs as d load d.Ref as r select r.Whatever, d.@metadata.Whatever, d")]
    [InlineData("from Docs filter any(Lines as l, any(l.In as i, i.Q = 1 and l.P = 1)) and count(Tags) = 0")]
    [InlineData("from Docs where Name = 'zz' select Only.Here, year(id()) include Ref, 'docs/2'")]
    [InlineData("from Docs group by Only.Here, array(Tags) select key(), sum(Lines[].P)")]
    [InlineData("from Docs as d select counter(d, 'Likes'), counter('Likes') as L include counters('Likes')")]
    [InlineData("from @all_docs select Far, Only.Here")]
    public async Task Fields_that_some_document_has_are_not_named(string query) => Assert.Empty(await AskAsync(query));

    [Theory]
    [InlineData("from index Named select Nmae", "Nmae")]
    [InlineData("from index Named where First = 'a' select First, Lines[].Pp", "Lines[].Pp")]
    [InlineData("from index Named filter Nmae = 1 select First", "Nmae")]
    [InlineData("from index Named order by year(Nmae)", "Nmae")]
    [InlineData("from index Named as n load n.Rfe as r select r.X", "Rfe")]
    [InlineData("from index Named select First, Second, Name, Only.Here, 'Ship To', Lines[].P, id()", null)]
    [InlineData("from index Named where First = 'a' filter Second != 1 and Ref != null include Ref", null)]
    public async Task Of_a_named_index_paths_that_are_no_fields_of_it_are_named(string query, string? field)
    {
        _database.Indexes.Put(new()
        {
            Name = "Named",
            Collections = ["Docs"],
            Fields = [new() { Name = "First", Path = "Name" }, new() { Name = "Second", Path = "Ref", Stored = true }],
        });
        IReadOnlyList<string> warnings = await AskAsync(query);
        if (field is null)
            Assert.Empty(warnings);
        else
            Assert.StartsWith(
                $"No document of 'Docs' has a field '{field}'.",
                Assert.Single(warnings, static one => !one.StartsWith("No index", StringComparison.Ordinal)),
                StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_name_that_was_meant_is_asked_for() => Assert.Equal(
        "No document of 'Docs' has a field 'Nmae'. Did you mean 'Name'?",
        Assert.Single(await AskAsync("from Docs select Nmae")));

    [Fact]
    public async Task Documents_that_come_later_are_looked_at_and_those_before_not_again()
    {
        Assert.Single(await AskAsync("from Docs select Later"));
        await _database.PutAsync("docs/3", """{"Name":"c"}""", "Docs");
        Assert.Single(await AskAsync("from Docs select Later"));
        await _database.PutAsync("docs/1", """{"Later":null}""", "Docs");
        Assert.Empty(await AskAsync("from Docs select Later"));
        await _database.PutAsync("docs/1", "{}", "Docs");
        Assert.Empty(await AskAsync("from Docs select Later")); // it was there
    }

    [Fact]
    public async Task Of_many_documents_each_query_looks_at_some_and_says_how_far_that_is()
    {
        var batch = new WriteBatch();
        for (int i = 0; i < 2_500; i++)
            batch.Put($"many/{i}", Encoding.UTF8.GetBytes($$$"""{"N":{{{i}}},"@metadata":{"@collection":"Many"}}"""));
        await _database.WriteAsync(batch, Cancel);
        Assert.Matches(@"^No document of 'Many' that was looked at \(the changes up to 1,\d+ of 2,503\) has a field 'M'\. Did",
            Assert.Single(await AskAsync("from Many select M limit 1")));
        Assert.Single(await AskAsync("from Many select M limit 1"));
        Assert.StartsWith(
            "No document of 'Many' has a field 'M'.", Assert.Single(await AskAsync("from Many select M limit 1")),
            StringComparison.Ordinal);
    }

    private async Task<IReadOnlyList<string>> AskAsync(string query)
    {
        using QueryResults results = await _database.QueryAsync(
            new QueryRequest { Text = query, WaitForNonStaleResults = true, WaitTimeout = Eventually.Patience }, Cancel);
        return results.Warnings;
    }
}
