using Treepie.CommandLine.Queries;

namespace Treepie.Clients.Tests.CommandLine;

public sealed class QueryErrorTests
{
    [Fact]
    public void Place_is_marked_below_its_line()
    {
        string text = QueryError.Describe("from Orders\n\twhere Freight >< 3", "Expected a value. (line 2, column 17)");
        Assert.Equal(
            ["Expected a value. (line 2, column 17)", "   where Freight >< 3", "                  ^"],
            text.ReplaceLineEndings("\n").Split('\n'));
    }

    [Theory]
    [InlineData("There is no such thing.")]
    [InlineData("Something at line 9, column 1.")]
    [InlineData("Something at line 1, column 99.")]
    [InlineData("It shows\n  the place ^ itself (line 1, column 1)")]
    public void Messages_without_a_place_in_the_query_stay_as_they_are(string message) =>
        Assert.Equal(message, QueryError.Describe("from Orders", message));
}
