using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Indexes.Fields;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

/// <summary>What is found without a parser is what a parser finds.</summary>
public sealed class MemberFinderTests
{
    private static readonly string[] _names =
        ["a", "b", "year", "a\\b", "é", "x y", "", "\"", "year:", "aa"];

    private static readonly string[] _texts =
        ["", "a", ",\"a\":1", "{\"year\":2}", "}", "]", "\\", "\\\"", "é", "a,b", "[[{", "\n"];

    [Fact]
    public void Random_objects_have_what_a_parser_finds()
    {
        var random = new Random(Seed.Next());
        int known = 0, found = 0;
        for (int i = 0; i < 20_000; i++)
        {
            var text = new StringBuilder();
            WriteObject(text, random, 3, hasSpace: random.Next(10) == 0);
            byte[] json = Encoding.UTF8.GetBytes(text.ToString());
            string name = _names[random.Next(3)];
            FieldPath path = FieldPath.TryParse(random.Next(3) switch
            {
                0 => name,
                1 => $"{name}.{_names[random.Next(3)]}",
                _ => $"{name}.a.{_names[random.Next(3)]}",
            })!; // these are paths
            using var document = JsonDocument.Parse(json);
            string? expected = Expected(document.RootElement, path);
            bool? isFound = MemberFinder.TryFind(json, path, out ReadOnlySpan<byte> value);
            known += isFound is null ? 0 : 1;
            found += isFound is true ? 1 : 0;
            if (isFound is not null && expected != "array")
                Assert.True(expected == (isFound.Value ? Encoding.UTF8.GetString(value) : null), $"{path} in {text}");
            Assert.True(expected != "array" || isFound is null, $"{path} in {text}");

            var output = new ArrayBufferWriter<byte>();
            bool isWritten = JsonPathReader.TryWrite(json, path, output);
            if (expected != "array")
                Assert.True(
                    expected == (isWritten ? Encoding.UTF8.GetString(output.WrittenSpan) : null), $"{path} in {text}, written");
        }

        Assert.True(known > 10_000 && found > 1_500, $"{known} known, {found} found");
    }

    [Theory]
    [InlineData("""{"a":1""")]
    [InlineData("""{"a":"x""")]
    [InlineData("""{"a":{"b":1}""")]
    [InlineData("""{"a":[1,{"b":"]""")]
    [InlineData("""{"b":"\""")]
    [InlineData("""{"b\""")]
    [InlineData("""{"b""")]
    [InlineData("""{"b":""")]
    [InlineData("{")]
    [InlineData("")]
    [InlineData("[1]")]
    [InlineData("{]")]
    public void What_is_cut_is_left_to_the_parser(string json) =>
        Assert.NotEqual(true, MemberFinder.TryFind(Encoding.UTF8.GetBytes(json), FieldPath.TryParse("year")!, out _));

    /// <summary>The first member of each name counts; nothing is in what is no object.</summary>
    private static string? Expected(JsonElement at, FieldPath path)
    {
        for (int i = 0; i < path.Count; i++)
        {
            string name = Encoding.UTF8.GetString(path.NameOf(i));
            if (at.ValueKind == JsonValueKind.Array)
                return "array"; // to be expanded
            if (at.ValueKind != JsonValueKind.Object)
                return null;
            JsonProperty member = at.EnumerateObject().FirstOrDefault(member => member.Name == name);
            if (member.Value.ValueKind == JsonValueKind.Undefined)
                return null;
            at = member.Value;
        }

        return at.GetRawText();
    }

    private static void WriteObject(StringBuilder text, Random random, int depth, bool hasSpace)
    {
        text.Append('{');
        for (int i = random.Next(6); i > 0; i--)
        {
            WriteText(text, _names[random.Next(random.Next(3) == 0 ? _names.Length : 3)], random);
            Space();
            text.Append(':');
            Space();
            WriteValue(text, random, depth, hasSpace);
            Space();
            text.Append(i > 1 ? "," : "");
            Space();
        }

        text.Append('}');

        void Space() => text.Append(hasSpace && random.Next(3) == 0 ? " " : "");
    }

    private static void WriteValue(StringBuilder text, Random random, int depth, bool hasSpace)
    {
        switch (random.Next(depth == 0 ? 4 : 7))
        {
            case 0:
                WriteText(text, _texts[random.Next(_texts.Length)], random);
                break;
            case 1:
                text.Append(((string[])["0", "-0", "1", "1.0", "10e-1", "1E+2", "-12.50", "9007199254740993"])[random.Next(8)]);
                break;
            case 2:
                text.Append(((string[])["true", "false", "null"])[random.Next(3)]);
                break;
            case 3:
                text.Append(((string[])["{}", "[]"])[random.Next(2)]);
                break;
            case 4:
                text.Append('[');
                for (int i = random.Next(1, 4); i > 0; i--)
                {
                    WriteValue(text, random, depth - 1, hasSpace);
                    text.Append(i > 1 ? "," : "");
                }

                text.Append(']');
                break;
            default:
                WriteObject(text, random, depth - 1, hasSpace);
                break;
        }
    }

    /// <summary>Writes a string, any character of it escaped now and then.</summary>
    private static void WriteText(StringBuilder text, string value, Random random)
    {
        bool escapes = random.Next(12) == 0;
        text.Append('"');
        foreach (char c in value)
            text.Append(c switch
            {
                _ when escapes && random.Next(2) == 0 => $"\\u{(int)c:x4}",
                '"' => "\\\"",
                '\\' => "\\\\",
                '\n' => "\\n",
                _ => c.ToString(),
            });
        text.Append('"');
    }
}
