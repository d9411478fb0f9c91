using Treepie.Linq;
using Treepie.Sessions;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Linq;

/// <summary>Operators of queries that LINQ in memory does not have, and those that give one value.</summary>
public sealed class LinqOperatorTests : IAsyncLifetime
{
    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;
    private readonly DocumentSession _session;

    public LinqOperatorTests()
    {
        _database = Database.Open(_directory.Path);
        _session = _database.OpenSession();
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private IDocumentQueryable<Book> Books => _session.Query<Book>();

    public async ValueTask InitializeAsync()
    {
        using DocumentSession session = _database.OpenSession();
        session.Store(
            new Book
            {
                Id = "books/1",
                Title = "The red fox",
                Shop = "shops/1",
                Price = 10,
                Lat = 49.25,
                Lng = 4.03,
                Embedding = [1, 0]
            });
        session.Store(
            new Book
            {
                Id = "books/2",
                Title = "A red house in a red town",
                Shop = "shops/1",
                Price = 20,
                Lat = 48.85,
                Lng = 2.35,
                Embedding = [0.9f, 0.1f]
            });
        session.Store(
            new Book
            {
                Id = "books/3",
                Title = "The blue fox",
                Shop = "shops/2",
                Price = 30,
                Lat = 45.75,
                Lng = 4.85,
                Embedding = [0, 1]
            });
        session.Store(new Shop { Id = "shops/1", Name = "Left" });
        session.Store(new Shop { Id = "shops/2", Name = "Right" });
        await session.SaveChangesAsync(Token);
    }

    public ValueTask DisposeAsync()
    {
        _session.Dispose();
        _database.Dispose();
        _directory.Dispose();
        return ValueTask.CompletedTask;
    }

    [Fact]
    public async Task Words_are_searched_best_first()
    {
        Assert.Equal(
            ["books/2", "books/1"],
            (await Books.Search(b => b.Title, "red").ToListAsync(Token)).OrderByDescending(b => b.Id).Select(b => b.Id));
        Assert.Equal(
            ["books/1"], (await Books.Search(b => b.Title, "red fox", allWords: true).ToListAsync(Token)).Select(b => b.Id));
        List<Book> boosted = await Books.Where(
            b => RqlMethods.Search(b.Title, "red", false) || RqlMethods.Boost(RqlMethods.Search(b.Title, "blue", false), 100))
                .OrderByScore()
                .ToListAsync(Token);
        Assert.Equal("books/3", boosted[0].Id);
        Assert.Equal(3, boosted.Count);
    }

    [Fact]
    public async Task Places_are_found_and_sorted_by_distance()
    {
        IDocumentQueryable<Book> near = Books.Spatial(b => b.Lat, b => b.Lng, SpatialCriteria.WithinRadius(200, 49.2, 4));
        Assert.Equal(
            ["books/1", "books/2"],
            (await near.OrderByDistance(b => b.Lat, b => b.Lng, 49.2, 4).ToListAsync(Token)).Select(b => b.Id));
        Assert.Equal(
            ["books/2", "books/1"],
            (await near.OrderByDistance(b => b.Lat, b => b.Lng, 49.2, 4, descending: true).ToListAsync(Token)).Select(b => b.Id));
        Assert.Equal(
            2,
            await Books.Where(
                b => RqlMethods.Spatial(b.Lat, b.Lng, SpatialCriteria.Within(SpatialShape.Circle(200, 49.2, 4, false))))
                    .CountAsync(Token));
    }

    [Fact]
    public async Task Vectors_are_compared() =>
        Assert.Equal(
            ["books/1", "books/2"],
            (await Books.VectorSearch(b => b.Embedding, [1, 0], numberOfCandidates: 2, exact: true).ToListAsync(Token)).Select(
                b => b.Id));

    [Fact]
    public async Task Documents_like_one_are_found()
    {
        var options = new MoreLikeThisOptions { Fields = ["Title"], MinimumTermFrequency = 1, MinimumDocumentFrequency = 1 };
        List<Book> like = await Books.MoreLikeThis("books/1", options).ToListAsync(Token);
        Assert.Equal(["books/2", "books/3"], like.Select(b => b.Id).Order());
    }

    [Fact]
    public async Task Facets_count_and_sum_up()
    {
        IReadOnlyDictionary<string, FacetResult> facets = await Books.Where(b => b.Price > 5)
            .AggregateBy(b => b.Shop)
            .SumOn(b => b.Price)
            .MaxOn(b => b.Price)
            .AndAggregateBy(b => b.Price < 20, b => b.Price >= 20).ExecuteAsync(Token);
        FacetValue left = facets["Shop"].Values.Single(value => value.Range == "shops/1");
        Assert.Equal((2L, 30d, 20d), (left.Count, left.Sum, left.Max));
        Assert.Equal([1L, 2L], facets["Price"].Values.Select(value => value.Count));
    }

    [Fact]
    public async Task Suggestions_are_terms_that_may_have_been_meant() =>
        Assert.Contains("house", await Books.SuggestUsingAsync(b => b.Title, "hause", words: true, Token));

    [Fact]
    public async Task Highlights_timings_explanations_and_statistics_come_with_the_answer()
    {
        List<Book> books = await Books.Search(b => b.Title, "fox")
            .Highlight(b => b.Title, 64, 1, out QueryNotes highlights)
            .Timings(out QueryNotes timings)
            .Explain(out QueryNotes explanations).Statistics(out QueryStatistics statistics).Take(1).ToListAsync(Token);
        Assert.Contains("fox</b>", Assert.Single(highlights.Of("Title", books[0].Id!)), StringComparison.Ordinal); // loaded
        Assert.Empty(highlights.Of("Title", "books/none"));
        Assert.True(timings.Json.TryGetProperty("QueryPlan", out _));
        Assert.True(explanations.Json.TryGetProperty(books[0].Id!, out _)); // as above
        Assert.Equal(2, statistics.TotalResults);
        Assert.StartsWith("Auto/Books/", statistics.IndexName, StringComparison.Ordinal);
    }

    [Fact]
    public async Task What_is_included_is_loaded_from_the_same_snapshot()
    {
        List<Book> books = await Books.Include(b => b.Shop).OrderBy(b => b.Price).ToListAsync(Token);
        await Change("shops/1", "Changed");
        Assert.Equal("Left", _session.Load<Shop>(books[0].Shop!)!.Name); // stored above, as are all
        using DocumentSession other = _database.OpenSession();
        Book book = other.Include<Book>(b => b.Shop).Load<Book>("books/3")!;
        await Change("shops/2", "Changed");
        Assert.Equal("Right", other.Load<Shop>(book.Shop!)!.Name);
        other.Clear();
        Assert.Equal("Changed", other.Load<Shop>("shops/2")!.Name);
    }

    [Fact]
    public async Task Operators_with_one_value_give_what_LINQ_gives()
    {
        Assert.Equal("books/1", (await Books.OrderBy(b => b.Price).FirstAsync(Token)).Id);
        Assert.Equal("books/2", (await Books.Where(b => b.Price == 20).SingleAsync(Token)).Id);
        Assert.Null(await Books.Where(b => b.Price == 21).SingleOrDefaultAsync(Token));
        await Assert.ThrowsAsync<InvalidOperationException>(() => Books.SingleAsync(Token));
        await Assert.ThrowsAsync<InvalidOperationException>(() => Books.FirstAsync(b => b.Price > 100, Token));
        Assert.False(await Books.AnyAsync(b => b.Price > 100, Token));
        Assert.Equal(2, await Books.CountAsync(b => b.Price > 10, Token));
        Assert.Equal(1, await Books.Skip(2).CountAsync(Token));
        Assert.Equal(2, await Books.Take(2).LongCountAsync(Token));
        Assert.Equal(["books/2", "books/3"], (await Books.OrderBy(b => b.Price).Skip(1).ToArrayAsync(Token)).Select(b => b.Id));
    }

    [Fact]
    public void A_query_held_as_IQueryable_is_the_same_query()
    {
        IQueryable<Book> books = Books;
        Assert.Equal(["books/3", "books/2"], books.Where(b => b.Price > 10).OrderByDescending(b => b.Price).Select(b => b.Id));
        Assert.Equal(2, books.Count(b => b.Price > 10));
        Assert.Equal("books/1", books.OrderBy(b => b.Price).First().Id);
        Assert.Null(books.FirstOrDefault(b => b.Price > 100));
        Assert.True(books.Any());
        Assert.Equal(10, books.Single(b => b.Price < 20).Price);
    }

    [Fact]
    public async Task Results_come_one_after_another()
    {
        var seen = new List<string?>();
        await foreach (Book book in Books.Where(b => b.Price > 10).OrderBy(b => b.Price))
        {
            seen.Add(book.Id);
            Assert.Same(book, _session.Load<Book>(book.Id!)); // it has one
        }

        Assert.Equal(["books/2", "books/3"], seen);
    }

    [Fact]
    public async Task Documents_become_another_class_member_by_member()
    {
        BookCard card = await Books.Where(b => b.Price == 10).ProjectInto<BookCard>().SingleAsync(Token);
        Assert.Equal(("books/1", "The red fox"), (card.Id, card.Title));
    }

    [Fact]
    public async Task What_was_deleted_in_the_session_is_no_result()
    {
        _session.Delete("books/1");
        Assert.Equal(["books/2", "books/3"], (await Books.OrderBy(b => b.Price).ToListAsync(Token)).Select(b => b.Id));
        Assert.Equal(
            ["A red house in a red town!", "The blue fox!"],
            await Books.OrderBy(b => b.Price).Select(b => Shout(b)).ToListAsync(Token));
        Assert.Equal([1, 1, 1], await Books.Select(b => 1).ToListAsync(Token));
    }

    private static string Shout(Book book) => book.Title + "!";

    [Fact]
    public async Task An_interpolated_text_binds_its_holes_as_parameters()
    {
        string title = "x' or true or Title = 'x";
        Assert.Empty(await _session.RawQuery<Book>($"from Books where Title = {title}").ToListAsync(Token));
        int least = 10;
        string[] shops = ["shops/1"];
        List<Book> books = await _session.RawQuery<Book>($"from Books where Price > {least} and Shop in ({shops})")
            .Statistics(out QueryStatistics statistics)
            .ToListAsync(Token);
        Assert.Equal("books/2", Assert.Single(books).Id);
        Assert.Same(books[0], _session.Load<Book>("books/2"));
        Assert.Equal(1, statistics.TotalResults);
        // there is one
        Assert.Equal(
            "books/1",
            (await _session.RawQuery<Book>("from Books where Price = $price")
                .AddParameter("price", 10)
                .FirstOrDefaultAsync(Token))!.Id);
    }

    [Fact]
    public void A_hole_inside_quotes_is_refused_wherever_in_them_it_is()
    {
        const string Value = "x";
        Assert.Throws<ArgumentException>(() => _session.RawQuery<Book>($"from Books where Title = '{Value + 1}'"));
        string x = Value;
        Action[] refused =
        [
            () => _session.RawQuery<Book>($"from Books where Title = 'a{x}'"),
            () => _session.RawQuery<Book>($"from Books where Title = '%{x}%'"),
            () => _session.RawQuery<Book>($"from Books where Title = \"it's {x}\""),
            () => _session.RawQuery<Book>($"from Books where Title = 'it''s {x}'"),
            () => _session.RawQuery<Book>($@"from Books where Title = 'it\'s {x}'"),
            () => _session.RawQuery<Book>($"from Books as b select {{ Name: `a{x}` }}"),
            () => _session.RawQuery<Book>($"from Books where Title = {x}b"),
        ];
        Assert.All(refused, refuse => Assert.Throws<ArgumentException>(refuse));
        RawDocumentQuery<Book>[] taken =
        [
            _session.RawQuery<Book>($"from Books where Title != 'it''s' and Title = {x}"),
            _session.RawQuery<Book>($@"from Books where Title != 'a\n' and Title = {x}"),
            _session.RawQuery<Book>($"from Books where Title != \"it's\" and Title = {x}"),
            _session.RawQuery<Book>($"from Books // it's a comment\nwhere Title = {x}"),
            _session.RawQuery<Book>($"from Books /* it's a comment */ where Title = {x}"),
            _session.RawQuery<Book>($@"from Books as b where Title = {x} select {{ N: 'a\\' + {x} }}"),
        ];
        Assert.All(taken, query => Assert.Contains("Title = $p0", query.ToRql().Text, StringComparison.Ordinal));
        Assert.Throws<ArgumentException>(() => _session.RawQuery<Book>(default(RqlInterpolatedStringHandler)));
    }

    [Fact]
    public async Task Times_compare_as_times_whatever_their_fractions()
    {
        DateTime midnight = new(2024, 5, 1, 0, 0, 0, DateTimeKind.Utc);
        using DocumentSession session = _database.OpenSession();
        session.Store(new Event { Id = "events/1", At = midnight });
        session.Store(new Event { Id = "events/2", At = midnight.AddMilliseconds(500) });
        session.Store(new Event { Id = "events/3", At = midnight.AddSeconds(1) });
        await session.SaveChangesAsync(Token);
        IDocumentQueryable<Event> events = session.Query<Event>();
        Assert.Equal(2, await events.CountAsync(e => e.At > midnight, Token));
        Assert.Equal(2, await events.CountAsync(e => e.At <= midnight.AddMilliseconds(500), Token));
        Assert.Equal("events/1", (await events.Where(e => e.At == midnight).SingleAsync(Token)).Id);
        Assert.Equal(
            ["events/3", "events/2", "events/1"],
            (await events.OrderByDescending(e => e.At).ToListAsync(Token)).Select(e => e.Id));
        Assert.Single(
            await session.QueryAsync<Event>(
                "from Events where At = $at", new Dictionary<string, object?> { ["at"] = midnight }, cancellationToken: Token));
    }

    private async Task Change(string id, string name)
    {
        using DocumentSession session = _database.OpenSession();
        session.Load<Shop>(id)!.Name = name; // stored before
        await session.SaveChangesAsync(Token);
    }

    private sealed class Book
    {
        public string? Id { get; set; }

        public string? Title { get; set; }

        public string? Shop { get; set; }

        public double Price { get; set; }

        public double Lat { get; set; }

        public double Lng { get; set; }

        public float[] Embedding { get; set; } = [];
    }

    private sealed class Shop
    {
        public string? Id { get; set; }

        public string? Name { get; set; }
    }

    private sealed class Event
    {
        public string? Id { get; set; }

        public DateTime At { get; set; }
    }

    private sealed class BookCard
    {
        public string? Id { get; set; }

        public string? Title { get; set; }
    }
}
