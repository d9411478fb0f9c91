using System.Text.RegularExpressions;
using Treepie.Rql;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// Every row of the table in docs/reference/other-languages.md: what it says people know is refused, in the words that it says to
/// write.
/// </summary>
public sealed partial class AdvicePageTests : IAsyncLifetime
{
    private static readonly string[] _clauses = ["from ", "limit ", "offset ", "order by ", "select ", "update ", "where "];

    private readonly Database _database = Database.OpenInMemory();

    public static TheoryData<string, string> Rows()
    {
        var rows = new TheoryData<string, string>();
        foreach (string line in File.ReadLines(
                Path.Combine(DataSets.RepositoryRoot, "docs", "reference", "other-languages.md"))
            .SkipWhile(static line => line != "| You may know | Write here |").Skip(2)
            .TakeWhile(static line => line.StartsWith('|')))
        {
            string[] cells = CellEnd().Split(line);
            foreach (string query in CodeOf(cells[1]))
                rows.Add(query, string.Join('\n', CodeOf(cells[2])));
        }

        return rows;
    }

    public async ValueTask InitializeAsync() => await _database.PutAsync(
        "orders/1", """{"Company":"a","Freight":1,"At":"2024-01-01T00:00:00.0000000","Tags":["a"],"Lines":[]}""", "Orders");

    public ValueTask DisposeAsync() => _database.DisposeAsync();

    [Theory]
    [MemberData(nameof(Rows))]
    public async Task What_people_know_is_refused_with_what_to_write(string query, string advice)
    {
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(() => _database.AskAsync(query));
        string message = error.Message.Split('\n')[0];
        foreach (string part in advice.Split('\n'))
        {
            Assert.Contains(part, message, StringComparison.Ordinal);
            if (_clauses.Any(clause => part.StartsWith(clause, StringComparison.Ordinal)))
                RqlParser.Parse(part.StartsWith("from ", StringComparison.Ordinal) ? part : $"from Orders {part}");
        }

        Assert.EndsWith($" (line 1, column {error.Column})", message, StringComparison.Ordinal);
        Assert.InRange(error.Column, 1, query.Length + 1);
    }

    [Fact]
    public void The_table_is_read() => Assert.True(Rows().Count > 100);

    private static IEnumerable<string> CodeOf(string cell) =>
        Code().Matches(cell.Replace("\\|", "|", StringComparison.Ordinal))
            .Select(static code => code.Groups[1].Success ? code.Groups[1].Value.Trim() : code.Groups[2].Value);

    /// <summary>A bar between cells; one that belongs to a cell has a backslash before it.</summary>
    [GeneratedRegex(@"(?<!\\)\|")]
    private static partial Regex CellEnd();

    [GeneratedRegex("``(.+?)``|`([^`]+)`")]
    private static partial Regex Code();
}
