using System.Reflection;
using Treepie.Linq;
using Treepie.Sessions;

namespace Treepie.Documents.Tests.Sessions;

/// <summary>Reads have both forms, the synchronous and the asynchronous one.</summary>
public sealed class TwinTests
{
    private static readonly string[] _reads =
    [
        "Get", "Load", "List", "Exists", "Find", "First", "Single", "Any", "Count", "ToList", "Execute", "Suggest", "Lazily",
        "Refresh", "Conditional",
    ];

    // What an entity or the session has is no read, and lambdas of the database's own take no wait.
    private static readonly string[] _ofTheSession =
        ["GetMetadataFor", "GetChangeVectorFor", "GetLastModifiedFor", "GetDocumentId", "GetAsyncEnumerator", "CountersFor"];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(typeof(SessionAdvanced))]
    [InlineData(typeof(SessionRevisions))]
    [InlineData(typeof(SessionAttachments))]
    [InlineData(typeof(SessionCounters))]
    [InlineData(typeof(SessionTimeSeries))]
    [InlineData(typeof(SessionClusterTransaction))]
    [InlineData(typeof(SessionLazily))]
    [InlineData(typeof(SessionEagerly))]
    [InlineData(typeof(RawDocumentQuery<>))]
    [InlineData(typeof(FacetQuery<>))]
    [InlineData(typeof(DocumentSession))]
    [InlineData(typeof(IncludeLoader<>))]
    public void Every_read_of_a_type_has_a_twin(Type type)
    {
        MethodInfo[] methods = type.GetMethods(BindingFlags.Public | BindingFlags.Instance | BindingFlags.DeclaredOnly);
        List<string> all = [.. methods.Select(method => Shape(method, method.Name))];
        List<string> alone =
        [
            .. methods
                .Where(method => Array.Exists(_reads, read => method.Name.StartsWith(read, StringComparison.Ordinal)))
                .Where(method => type == typeof(SessionRevisions) || !_ofTheSession.Contains(method.Name))
                .Where(method => !all.Contains(Shape(method, Twin(method.Name))))
                .Select(method => Shape(method, method.Name)),
        ];
        Assert.True(alone.Count == 0, $"without a twin: {string.Join("; ", alone)}");
    }

    [Fact]
    public async Task Texts_of_RQL_are_asked_in_both_ways()
    {
        using Database database = Database.OpenInMemory();
        using DocumentSession session = database.OpenSession();
        for (int i = 0; i < 3; i++)
            session.Store(new Box { Id = $"boxes/{i}", Size = i });
        await session.SaveChangesAsync(Token);
        session.Clear();
        RawDocumentQuery<Box> all = session.RawQuery<Box>("from Boxes order by Size as long"),
            none = session.RawQuery<Box>("from Boxes where Size > $size").AddParameter("size", 5),
            two = session.RawQuery<Box>("from Boxes limit 2");
        Assert.Equal(["boxes/0", "boxes/1", "boxes/2"], all.ToList().Select(box => box.Id));
        Assert.Equal(("boxes/0", "boxes/0"), (all.First().Id, (await all.FirstAsync(Token)).Id));
        Assert.Equal((3, 0, 2), (all.Count(), none.Count(), await two.CountAsync(Token)));
        Assert.Equal((true, false), (all.Any(), await none.AnyAsync(Token)));
        Assert.Null(none.FirstOrDefault());
        Assert.Null(none.SingleOrDefault());
        Assert.Throws<InvalidOperationException>(() => none.First());
        Assert.Throws<InvalidOperationException>(() => all.Single());
        Assert.Throws<InvalidOperationException>(() => all.SingleOrDefault());
        Assert.Equal(1, session.RawQuery<Box>($"from Boxes where Size = {1}").Single().Size);
        Assert.Equal(3, all.Lazily().Value.Count());
        Assert.Equal(3, (await all.LazilyAsync().Value).Count());

        IDocumentQueryable<Box> boxes = session.Query<Box>();
        Assert.Equal(1, (await boxes.SingleAsync(box => box.Size == 1, Token)).Size);
        Assert.Null(await boxes.SingleOrDefaultAsync(box => box.Size == 7, Token));
        Assert.Equal(2L, await boxes.LongCountAsync(box => box.Size > 0, Token));
        Assert.Equal(3, boxes.AggregateBy(box => box.Size).Execute()["Size"].Values.Count);
        Assert.Equal(
            await boxes.SuggestUsingAsync(box => box.Name!, "bok", cancellationToken: Token),
            boxes.SuggestUsing(box => box.Name!, "bok"));

        using DocumentSession other = database.OpenSession();
        var streamed = new List<StreamResult<Box>>();
        await foreach (StreamResult<Box> result in other.Advanced.StreamAsync(
            other.RawQuery<Box>("from Boxes order by Size as long"), Token))
            streamed.Add(result);
        Assert.Equal(["boxes/0", "boxes/1", "boxes/2"], streamed.Select(result => result.Id));
        Assert.False(other.IsLoaded("boxes/0"));
        await Assert.ThrowsAsync<NotSupportedException>(async () =>
        {
            await foreach (StreamResult<Box> result in other.Advanced.StreamAsync(
                other.RawQuery<Box>("from Boxes select Size"), Token))
                streamed.Add(result);
        });
        Assert.Equal(3, streamed.Count);
    }

    private static string Twin(string name) =>
        name.EndsWith("Async", StringComparison.Ordinal) ? name[..^5] : name + "Async";

    /// <summary>The name with the types of the parameters, but for the token that the synchronous form has not.</summary>
    private static string Shape(MethodInfo method, string name) =>
        $"{name}({string.Join(", ", method.GetParameters().Where(one => one.ParameterType != typeof(CancellationToken))
            .Select(one => one.ParameterType))})";

    private sealed class Box
    {
        public string? Id { get; set; }

        public string? Name { get; set; }

        public int Size { get; set; }
    }
}
