
namespace Treepie.Computing.Tests;

/// <summary>What queries select and filter of documents that <c>load</c> brings.</summary>
public sealed class LoadedSelectTests : IDisposable
{
    private readonly IndexRunner _run = new();

    [Theory]
    [InlineData("select id(c) as C, id(o) as O, id() as I", """{"C":"companies/1","O":"orders/1","I":"orders/1"}""")]
    [InlineData("filter id(c) = 'companies/1' select id(o) as O", """{"O":"orders/1"}""")]
    [InlineData("filter id(c) = 'orders/1' or id(o) = 'companies/1' select id(o) as O", "")]
    public async Task The_id_is_that_of_the_document_named(string query, string expected)
    {
        await FillAsync();
        Assert.Equal(expected, string.Join(' ', await _run.AskAsync($"from Orders as o load o.Company as c {query}")));
    }

    [Theory]
    [InlineData("from Orders as o filter id('x') = 'orders/1'")]
    [InlineData("from Orders as o filter id(o.Company) = 'orders/1'")]
    [InlineData("from Orders as o load o.Company as c select id('x') as X, c.Name")]
    public async Task An_id_of_what_is_no_document_is_refused(string query)
    {
        await FillAsync();
        await Assert.ThrowsAsync<InvalidQueryException>(() => _run.AskAsync(query));
    }

    public void Dispose() => _run.Dispose();

    private async Task FillAsync()
    {
        await _run.PutAsync(
            "orders/1",
            """{"Company":"companies/1","Ship To":"x","Order":7,"ShipTo":{"City":"Bern","Name":"Ann"},"Lines":[{"P":1},{"P":2}]}""",
            "Orders");
        await _run.PutAsync("companies/1", """{"Name":"Alfreds","Address":{"City":"Ulm"}}""", "Companies");
    }
}
