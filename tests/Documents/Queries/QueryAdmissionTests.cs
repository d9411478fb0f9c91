using System.Globalization;
using Treepie.Queries;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// A query takes its turn before it works and has given it back when its results are there; and what it costs to understand it
/// counts too.
/// </summary>
public sealed class QueryAdmissionTests : IDisposable
{
    private readonly TemporaryDirectory _folder = new();
    private readonly Database _database;

    public QueryAdmissionTests() => _database = Database.Open(_folder.Path);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _database.Dispose();
        _folder.Dispose();
    }

    [Theory]
    [InlineData("from Users")]
    [InlineData("from Users where name = 'ada'")]
    [InlineData("from Users where name = 'ada' include neverStale()")]
    [InlineData("from Nobody where name = 'ada'")]
    public async Task The_turn_is_taken_before_the_work_and_kept_for_who_reads_the_results(string text)
    {
        await _database.WriteAsync(
            new WriteBatch().Put("users/1", """{"name":"ada","@metadata":{"@collection":"Users"}}"""u8.ToArray()), Cancelled);
        var turn = new Turn();
        using QueryResults results = await _database.QueryAsync(
            new QueryRequest { Text = text, WaitForNonStaleResults = true, Admission = turn }, Cancelled);
        Assert.InRange(turn.Taken, 1, int.MaxValue);
        Assert.True(turn.IsHeld);
    }

    [Fact]
    public async Task A_query_that_fails_gives_its_turn_back()
    {
        var turn = new Turn();
        await Assert.ThrowsAsync<InvalidQueryException>(
            () => _database.QueryAsync(new QueryRequest { Text = "from Users where", Admission = turn }, Cancelled));
        Assert.Equal(1, turn.Taken);
        Assert.False(turn.IsHeld);
    }

    [Fact]
    public async Task Shapes_are_not_read_once_the_query_is_cancelled()
    {
        using var stop = new CancellationTokenSource();
        await stop.CancelAsync();
        var request = new QueryRequest
        {
            Text = $"from Places where spatial.within(spatial.point(Lat, Lng), spatial.wkt('{Ring(500)}'))"
        };
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => _database.QueryAsync(request, stop.Token));
        Assert.ThrowsAny<OperationCanceledException>(() => _database.IndexChoices(request, stop.Token));
    }

    [Fact]
    public async Task Corners_of_all_shapes_of_a_query_count_together()
    {
        using var folder = new TemporaryDirectory();
        using var database = Database.Open(folder.Path, new DatabaseOptions { MaxShapeCorners = 1_000 });
        string Query(int times) =>
            "from Places where "
                + string.Join(
                    " or ", Enumerable.Repeat($"spatial.within(spatial.point(Lat, Lng), spatial.wkt('{Ring(199)}'))", times));
        using (QueryResults allowed = await database.QueryAsync(new QueryRequest { Text = Query(5) }, Cancelled))
            Assert.Equal(0, allowed.TotalResults);
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(
            () => database.QueryAsync(new QueryRequest { Text = Query(6) }, Cancelled));
        Assert.Contains("1,000 corners", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Rows_that_distinct_tells_apart_are_limited()
    {
        using var folder = new TemporaryDirectory();
        using var database = Database.Open(folder.Path, new DatabaseOptions { MaxDistinctResults = 2 });
        for (int i = 0; i < 6; i++)
            await database.WriteAsync(
                new WriteBatch().Put(
                    $"users/{i}",
                    System.Text.Encoding.UTF8.GetBytes(
                        $$$"""{"a":{{{i % 2}}},"b":{{{i}}},"@metadata":{"@collection":"Users"}}""")),
                Cancelled);
        using QueryResults two = await database.QueryAsync(new QueryRequest { Text = "from Users select distinct a" }, Cancelled);
        Assert.True(two.MoveNext() && two.MoveNext() && !two.MoveNext());
        using QueryResults six = await database.QueryAsync(new QueryRequest { Text = "from Users select distinct b" }, Cancelled);
        Assert.True(six.MoveNext() && six.MoveNext());
        Assert.Contains(
            "MaxDistinctResults", Assert.Throws<InvalidQueryException>(() => six.MoveNext()).Message, StringComparison.Ordinal);
    }

    /// <summary>A ring around the origin with so many corners, and the first again.</summary>
    private static string Ring(int corners)
    {
        IEnumerable<string> places = Enumerable.Range(0, corners + 1).Select(i =>
        {
            (double sine, double cosine) = Math.SinCos(2 * Math.PI * (i % corners) / corners);
            return string.Create(CultureInfo.InvariantCulture, $"{cosine:F6} {sine:F6}");
        });
        return $"POLYGON(({string.Join(", ", places)}))";
    }

    private sealed class Turn : IQueryAdmission
    {
        public int Taken { get; private set; }

        public bool IsHeld { get; private set; }

        public ValueTask TakeAsync(CancellationToken cancellationToken)
        {
            Taken += IsHeld ? 0 : 1;
            IsHeld = true;
            return default;
        }

        public void Release() => IsHeld = false;
    }
}
