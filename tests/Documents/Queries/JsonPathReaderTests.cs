using System.Buffers;
using System.Text;
using Treepie.Indexes.Fields;

namespace Treepie.Documents.Tests.Queries;

public sealed class JsonPathReaderTests
{
    private const string Order =
        """{"Company":"c\u00f6/1","Lines":[{"Product":"p/1","Tags":["a","b"]},{"Product":null},{"Other":1},"text",{"Product":"p/2","Tags":[]}],"Address":{"City":"Reims","Geo":{"Lat":49.250}},"Grid":[[1,2],[3,[4]]],"Empty":[],"None":null}""";

    [Theory]
    [InlineData("Company", "\"c\\u00f6/1\"")]
    [InlineData("Address", "{\"City\":\"Reims\",\"Geo\":{\"Lat\":49.250}}")]
    [InlineData("Address.Geo.Lat", "49.250")]
    [InlineData("Lines[].Product", "[\"p/1\",null,\"p/2\"]")]
    [InlineData("Lines.Product", "[\"p/1\",null,\"p/2\"]")]
    [InlineData("Lines[0].Product", "\"p/1\"")]
    [InlineData("Lines[4].Product", "\"p/2\"")]
    [InlineData("Lines[0].Tags", "[\"a\",\"b\"]")]
    [InlineData("Lines[].Tags", "[[\"a\",\"b\"],[]]")]
    [InlineData("Lines[].Tags[]", "[\"a\",\"b\"]")]
    [InlineData("Lines[].Tags[0]", "[\"a\"]")]
    [InlineData("Lines[].Missing", "[]")]
    [InlineData("Lines[1]", "{\"Product\":null}")]
    [InlineData("Grid", "[[1,2],[3,[4]]]")]
    [InlineData("Grid[]", "[[1,2],[3,[4]]]")]
    [InlineData("Grid[][]", "[1,2,3,[4]]")]
    [InlineData("Grid[1]", "[3,[4]]")]
    [InlineData("Grid[1][0]", "3")]
    [InlineData("Grid[][0]", "[1,3]")]
    [InlineData("Empty", "[]")]
    [InlineData("Empty[].X", "[]")]
    [InlineData("None", "null")]
    [InlineData("None.X", "nothing")]
    [InlineData("Missing", "nothing")]
    [InlineData("company", "nothing")]
    [InlineData("Company.X", "nothing")]
    [InlineData("Lines[9]", "nothing")]
    [InlineData("Lines[2].Product", "nothing")]
    public void What_stands_at_a_path_is_copied_as_it_is(string path, string expected)
    {
        var output = new ArrayBufferWriter<byte>();
        bool found = JsonPathReader.TryWrite(
            Encoding.UTF8.GetBytes(Order), FieldPath.TryParse(path) ?? throw new ArgumentException(path), output);
        Assert.Equal(expected, found ? Encoding.UTF8.GetString(output.WrittenSpan) : "nothing");
        Assert.True(found || output.WrittenCount == 0);
    }
}
