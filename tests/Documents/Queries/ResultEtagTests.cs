using Treepie.Queries;
using Treepie.Queries.Binding;
using Treepie.Rql;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>Answers that differ have different etags, so that no client takes one for another that it has kept.</summary>
public sealed class ResultEtagTests : IAsyncLifetime
{
    private const string Query = "from Things where Size > 0 order by Size as long select Size, Name";

    private readonly Database _database = Database.OpenInMemory();

    public async ValueTask InitializeAsync()
    {
        for (int i = 1; i <= 5; i++)
            await _database.PutAsync($"things/{i}", $$"""{"Size":{{i}},"Name":"a"}""", "Things");
    }

    public ValueTask DisposeAsync() => _database.DisposeAsync();

    [Fact]
    public async Task Each_option_of_a_request_that_changes_the_answer_changes_its_etag()
    {
        string position = await ContinuationAsync();
        Func<QueryRequest, QueryRequest>[] options =
        [
            request => request,
            request => request with { IndexEntries = true },
            request => request with { MetadataOnly = true },
            request => request with { CountsResults = false },
            request => request with { ProjectionBehavior = ProjectionBehavior.FromDocument },
            request => request with { WithTimings = true },
            request => request with { WithContinuation = true },
            request => request with { Continuation = position },
            request => request with { SkipDuplicateChecking = true },
            request => request with { PageSize = 1 },
            request => request with { Start = 1 },
        ];
        var etags = new Dictionary<long, int>();
        for (int i = 0; i < options.Length; i++)
        {
            long etag = await EtagAsync(options[i]);
            Assert.True(etags.TryAdd(etag, i), $"options {i} and {etags[etag]} have one etag");
            Assert.Equal(etag, await EtagAsync(options[i]));
        }
    }

    [Fact]
    public async Task A_sorter_that_changes_changes_the_etags_of_its_orders_alone()
    {
        const string Sorted = "from Things order by custom(Size, 'BySize')";
        long[] etags = new long[4];
        string[] codes = ["""{"Values":[1,2,3]}""", """{"Values":[3,2,1]}""", """{"Values":[3,2,1]}""", """{"Values":[1,2,3]}"""];
        long other = await EtagAsync(request => request);
        for (int i = 0; i < codes.Length; i++)
        {
            _database.Sorters.Put(new SorterDefinition("BySize", codes[i]));
            etags[i] = await EtagAsync(request => request with { Text = Sorted });
        }

        Assert.NotEqual(etags[0], etags[1]);
        Assert.Equal(etags[1], etags[2]);
        Assert.Equal(etags[0], etags[3]);
        Assert.Equal(other, await EtagAsync(request => request));
    }

    [Fact]
    public async Task An_answer_that_is_stale_and_one_that_is_not_have_different_etags()
    {
        await EtagAsync(request => request);
        _database.Indexes.Control.Pause();
        await _database.PutAsync("things/6", """{"Size":6}""", "Things");
        long stale = await EtagAsync(request => request with { WaitForNonStaleResults = false });
        long whole = await EtagAsync(request => request with { WaitForNonStaleResults = false, NeverStale = true });
        Assert.NotEqual(stale, whole);
    }

    [Theory]
    [InlineData("from Things select facet(id('setups/1'))", "{}")]
    [InlineData(
        "from Things where moreLikeThis('{\"Name\":\"a\"}', $o)",
        "{\"o\":{\"Fields\":[\"Name\"],\"StopWordsDocumentId\":\"setups/1\"}}")]
    public async Task A_document_that_says_what_to_look_for_is_part_of_the_etag(string query, string parameters)
    {
        await _database.PutAsync("setups/1", """{"Facets":[{"FieldName":"Name"}],"StopWords":["x"]}""", "Setups");
        long before = (await _database.AskAsync(query, parameters)).Etag;
        Assert.Equal(before, (await _database.AskAsync(query, parameters)).Etag);
        await _database.PutAsync("setups/1", """{"Facets":[{"FieldName":"Size"}],"StopWords":["a"]}""", "Setups");
        Assert.NotEqual(before, (await _database.AskAsync(query, parameters)).Etag);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Runs_share_an_etag_once_the_index_has_all_fields(bool isWhole)
    {
        using var store = new HeldBackIndexes(new DatabaseOptions());
        await store.WriteAsync(
            new WriteBatch().Put("things/1", """{"Size":1,"@metadata":{"@collection":"Things"}}"""u8.ToArray()));
        var request = new QueryRequest { Text = Query };
        (await store.Queries.ExecuteAsync(request, TestContext.Current.CancellationToken)).Dispose();
        var answer = new IndexAnswer(
            store.Indexes.Find("Auto/Things/BySize")!, IsStale: !isWhole, isWhole, MayMissHits: false, 1, null); // just made
        using DatabaseSnapshot snapshot = store.Database.BeginRead();
        long Etag(long started) => ResultEtags.Of(
            new QueryContext(
                request, QueryBinder.Bind(RqlParser.Parse(Query), default, TimeProvider.System), TimeProvider.System, started,
                TestContext.Current.CancellationToken)
            { Phases = new QueryPhases(TimeProvider.System, started) },
            snapshot, answer);
        Assert.Equal(isWhole, Etag(1) == Etag(2));
    }

    private async Task<long> EtagAsync(Func<QueryRequest, QueryRequest> change) =>
        (await _database.AskAsync(Query, change: request => change(request with { PageSize = 2 }))).Etag;

    private async Task<string> ContinuationAsync()
    {
        var request = new QueryRequest
        {
            Text = Query,
            WaitForNonStaleResults = true,
            WaitTimeout = Eventually.Patience,
            PageSize = 2,
            WithContinuation = true,
        };
        using QueryResults results = await _database.QueryAsync(request, TestContext.Current.CancellationToken);
        while (results.MoveNext())
        {
            // The position is that of the end.
        }

        return results.Continuation!; // not null: the page is full
    }
}
