using System.Text;
using Treepie.CommandLine.Queries;

namespace Treepie.Clients.Tests.CommandLine;

/// <summary>What Tab offers in <c>treepie shell</c>.</summary>
public sealed class QueryCompletionTests
{
    private readonly Source _source = new();

    [Theory]
    [InlineData("", "fr", "from")]
    [InlineData("from ", "or", "Orders|'Order Lines'")]
    [InlineData("from ", "'or", "Orders|'Order Lines'")]
    [InlineData("from ", "ind", "index")]
    [InlineData("from index ", "", "'Orders/ByCity'|'it\\'s'")]
    [InlineData("from Orders where ", "Sh", "ShipTo|ShipTo.'Post Code'|ShipTo.City")]
    [InlineData("from Orders where length(Company) > 1 and ", "Lines[].P", "Lines[].Price")]
    [InlineData("from Orders where ", "length(Com", "length(Company")]
    [InlineData("from Orders order by ", "Freight,sco", "Freight,score()")]
    [InlineData("from index 'Orders/ByCity' where ", "Comp", "Company")]
    [InlineData("FROM 'Order Lines' WHERE ", "compa", "Company")]
    public void Tab_offers_what_may_come_next(string before, string typed, string offered)
    {
        var completion = new QueryCompletion(_source);
        string[] found = [.. completion.GetCompletions(before, typed, "")];
        Assert.Equal(offered, string.Join('|', found));
    }

    [Fact]
    public void A_second_Tab_offers_the_same_again_so_that_it_goes_on_to_the_next()
    {
        var completion = new QueryCompletion(_source);
        string[] first = [.. completion.GetCompletions("from ", "O", "")];
        Assert.Equal(first, completion.GetCompletions("from ", first[0], ""));
        Assert.Equal(first, completion.GetCompletions("from ", first[1], ""));
        Assert.Equal(["select"], completion.GetCompletions("from Orders ", "sel", ""));
    }

    [Fact]
    public void Names_are_read_once_and_fields_once_a_collection()
    {
        var completion = new QueryCompletion(_source);
        foreach (string word in (string[])["C", "Co", "Com", "Comp"])
            Assert.Contains("Company", completion.GetCompletions("from Orders where ", word, ""));
        _ = completion.GetCompletions("from ", "Ord", "");
        _ = completion.GetCompletions("from ", "Orde", "");
        Assert.Equal(["from Orders limit 20", "names"], _source.Asked);
    }

    [Fact]
    public void Words_of_the_language_remain_where_the_server_does_not_answer()
    {
        var completion = new QueryCompletion(new Source { Fails = true });
        Assert.Empty(completion.GetCompletions("from ", "Ord", ""));
        Assert.Equal(["where"], completion.GetCompletions("from Orders ", "wh", ""));
    }

    private sealed class Source : IQuerySource
    {
        public List<string> Asked { get; } = [];

        public bool Fails { get; init; }

        public Task<Stream> AnswerAsync(QueryText query, CancellationToken cancellationToken)
        {
            Asked.Add(query.Rql);
            return Fails
                ? Task.FromException<Stream>(new HttpRequestException("Nobody answers."))
                : Task.FromResult<Stream>(new MemoryStream(Encoding.UTF8.GetBytes("""
                    {"Results":[
                      {"Company":"c","ShipTo":{"City":"x","Post Code":1},"@metadata":{"@id":"orders/1"}},
                      {"Lines":[{"Price":1},{"Price":2}]}
                    ]}
                    """)));
        }

        public Task<Stream> LinesAsync(QueryText query, CancellationToken cancellationToken) => throw new NotSupportedException();

        public Task<QueryNames> NamesAsync(CancellationToken cancellationToken)
        {
            Asked.Add("names");
            return Fails
                ? Task.FromException<QueryNames>(new HttpRequestException("Nobody answers."))
                : Task.FromResult(new QueryNames(["Companies", "Orders", "Order Lines"], ["Orders/ByCity", "it's"]));
        }
    }
}
