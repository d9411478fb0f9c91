using System.Text;
using System.Text.Json;
using Treepie.Indexes.Fields;

namespace Treepie.Documents.Tests.Indexes;

public sealed class FieldPathTests
{
    private const string Order = """
        {"Company":"c/1","Lines":[{"Product":"p/1","Tags":["a","b"]},{"Product":null},{"Other":1},"text",{"Product":"p/2","Tags":[]}],
        "Address":{"City":"Reims","Geo":{"Lat":49.25}},"Grid":[[1,2],[3,[4]]],"Empty":[],"None":null,"Self":{},"Größe":true}
        """;

    [Theory]
    [InlineData("")]
    [InlineData(".")]
    [InlineData("a.")]
    [InlineData("a..b")]
    [InlineData("[]")]
    [InlineData("a[")]
    [InlineData("a[x]")]
    [InlineData("a[-1]")]
    [InlineData("a[]b")]
    [InlineData("'unclosed")]
    [InlineData("a.\"b")]
    [InlineData("'a'b")]
    [InlineData("''")]
    public void A_text_that_is_no_path_is_none(string text) => Assert.Null(FieldPath.TryParse(text));

    [Fact]
    public void A_path_of_too_many_members_is_none() =>
        Assert.Null(FieldPath.TryParse(string.Join('.', Enumerable.Repeat("a", FieldPath.MaxMembers + 1))));

    [Theory]
    [InlineData("Company", "\"c/1\"")]
    [InlineData("company", "")]
    [InlineData("Missing", "")]
    [InlineData("'Company'", "\"c/1\"")]
    [InlineData("'Address'.City", "\"Reims\"")]
    [InlineData("Address.\"City\"", "\"Reims\"")]
    [InlineData("'Address.City'", "\"Reims\"")]
    [InlineData("'Lines'[0].'Product'", "\"p/1\"")]
    [InlineData("Company[0]", "")]
    [InlineData("Company[7]", "")]
    [InlineData("None[0]", "")]
    [InlineData("Address[0].City", "")]
    [InlineData("Address[0]", "")]
    [InlineData("Grid[0][0][0]", "")]
    [InlineData("Company[]", "\"c/1\"")]
    [InlineData("Company.Name", "")]
    [InlineData("Address.City", "\"Reims\"")]
    [InlineData("Address.Geo.Lat", "49.25")]
    [InlineData("Address", "{}")]
    [InlineData("Lines[].Product", "\"p/1\" null \"p/2\"")]
    [InlineData("Lines.Product", "\"p/1\" null \"p/2\"")]
    [InlineData("Lines[0].Product", "\"p/1\"")]
    [InlineData("Lines[4].Product", "\"p/2\"")]
    [InlineData("Lines[9].Product", "")]
    [InlineData("Lines[].Tags", "\"a\" \"b\" []")]
    [InlineData("Lines[].Tags[1]", "\"b\"")]
    [InlineData("Lines", "{} {} {} \"text\" {}")]
    [InlineData("Grid", "1 2 3 4")]
    [InlineData("Grid[1]", "3 4")]
    [InlineData("Grid[0][1]", "2")]
    [InlineData("Grid[][0]", "1 3")]
    [InlineData("Empty", "[]")]
    [InlineData("None", "null")]
    [InlineData("Self", "{}")]
    [InlineData("Größe", "true")]
    public void A_path_leads_to_every_value(string path, string expected) =>
        Assert.Equal(expected, string.Join(' ', Visit([path])[0]));

    [Fact]
    public void Paths_walked_together_find_what_each_finds_alone()
    {
        string[] paths =
        [
            "Company", "Lines[].Product", "Lines.Product", "Lines[0].Product", "Lines", "Address", "Address.City", "Grid[0][1]",
            "Grid", "None"
        ];
        List<string>[] together = Visit(paths);
        for (int i = 0; i < paths.Length; i++)
            Assert.Equal(Visit([paths[i]])[0], together[i]);
    }

    private static List<string>[] Visit(string[] paths)
    {
        var found = paths.Select(_ => new List<string>()).ToArray();
        var tree = new PathTree([.. paths.Select((p, i) => (FieldPath.TryParse(p) ?? throw new ArgumentException(p), i))]);
        var sink = new Recorder(found);
        tree.Visit(Encoding.UTF8.GetBytes(Order), ref sink);
        return found;
    }

    private readonly struct Recorder(List<string>[] found) : IFieldSink
    {
        public void Value(int slot, ref Utf8JsonReader reader)
        {
            string text = Encoding.UTF8.GetString(reader.ValueSpan);
            found[slot].Add(reader.TokenType == JsonTokenType.String ? $"\"{text}\"" : text);
        }

        public void Object(int slot, ref Utf8JsonReader reader)
        {
            reader.Skip();
            found[slot].Add("{}");
        }

        public void StartOfArray(int slot, ref Utf8JsonReader reader)
        {
        }

        public void EmptyArray(int slot) => found[slot].Add("[]");
    }
}
