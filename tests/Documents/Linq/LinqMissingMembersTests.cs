using System.Linq.Expressions;
using Treepie.Linq;
using Treepie.Sessions;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Linq;

/// <summary>The least and greatest of members that some documents lack: LINQ in memory takes their default values.</summary>
public sealed class LinqMissingMembersTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;

    public LinqMissingMembersTests() => _database = Database.Open(_directory.Path);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _database.Dispose();
        _directory.Dispose();
    }

    [Theory]
    [InlineData(1, 2)]
    [InlineData(-1, 2)]
    [InlineData(1, 0)]
    [InlineData(-1, 0)]
    [InlineData(0, 2)]
    public async Task The_least_and_greatest_value_are_those_of_LINQ_in_memory(int sign, int lacking)
    {
        for (int i = 0; i < 2 && sign != 0; i++)
            await PutAsync(
                $"parts/{i}",
                $$"""
                {
                    "Stock": {{sign * (5 + i)}}, "Serial": {{sign * (5 + i)}}, "Weight": {{sign * (5 + i)}}.5,
                    "Price": {{sign * (5 + i)}}.25, "MadeAt": "202{{i}}-05-01T00:00:00", "Rating": {{sign * (5 + i)}},
                    "SeenAt": "202{{i}}-05-01T00:00:00+02:00", "Day": "202{{i}}-05-01", "In": { "Stock": {{sign * (5 + i)}} },
                    "@metadata": { "@collection": "Parts" }
                }
                """);
        for (int i = 0; i < lacking; i++)
            await PutAsync($"parts/old{i}", """{"In":{},"@metadata":{"@collection":"Parts"}}""");
        await SameAsync(part => part.Stock);
        await SameAsync(part => part.Serial);
        await SameAsync(part => part.Weight);
        await SameAsync(part => part.Price);
        await SameAsync(part => part.MadeAt);
        await SameAsync(part => part.SeenAt);
        await SameAsync(part => part.Day);
        await SameAsync(part => part.In.Stock);
        if (sign == 0)
            return;
        await SameAsync(part => part.Rating!.Value, part => part.Rating != null);
        await SameAsync(part => part.Stock, part => part.Rating != null);
        await SameAsync(part => part.Stock, part => part.Weight > 0 || part.Weight < 0);
    }

    [Fact]
    public async Task A_member_that_can_be_null_is_passed_over_where_it_is_missing()
    {
        await PutAsync("parts/1", """{"Rating":7,"@metadata":{"@collection":"Parts"}}""");
        await PutAsync("parts/2", """{"@metadata":{"@collection":"Parts"}}""");
        await PutAsync("parts/3", """{"Rating":null,"@metadata":{"@collection":"Parts"}}""");
        await SameAsync(part => part.Rating);
        await SameAsync(part => part.Rating, part => part.Stock > 0);
    }

    private async Task PutAsync(string id, string json)
    {
        using var batch = new WriteBatch();
        await _database.WriteAsync(batch.Put(id, System.Text.Encoding.UTF8.GetBytes(json)), Token);
    }

    private async Task SameAsync<T>(Expression<Func<Part, T>> member, Expression<Func<Part, bool>>? condition = null)
    {
        using DocumentSession session = _database.OpenSession();
        IDocumentQueryable<Part> query = session.Query<Part>();
        if (condition is not null)
            query = query.Where(condition);
        List<Part> all = await query.ToListAsync(Token);
        if (all.Count == 0 && Nullable.GetUnderlyingType(typeof(T)) is null)
        {
            await Assert.ThrowsAsync<InvalidOperationException>(() => query.MinAsync(member, Token));
            return;
        }

        Assert.Equal((member.ToString(), all.Min(member.Compile())), (member.ToString(), await query.MinAsync(member, Token)));
        Assert.Equal((member.ToString(), all.Max(member.Compile())), (member.ToString(), await query.MaxAsync(member, Token)));
    }

    private sealed class Part
    {
        public string? Id { get; set; }

        public int Stock { get; set; }

        public long Serial { get; set; }

        public double Weight { get; set; }

        public decimal Price { get; set; }

        public DateTime MadeAt { get; set; }

        public DateTimeOffset SeenAt { get; set; }

        public DateOnly Day { get; set; }

        public int? Rating { get; set; }

        public PartBox In { get; set; } = new();
    }

    private sealed class PartBox
    {
        public int Stock { get; set; }
    }
}
