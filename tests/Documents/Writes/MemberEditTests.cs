using System.Globalization;
using System.Text;
using System.Text.Json.Nodes;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Writes;

/// <summary>Changes of single values of documents.</summary>
public sealed class MemberEditTests
{
    private static readonly string[] _names = ["a", "b", "two words", "it's", "é"];

    [Theory]
    [InlineData("Set", "A.B", "1", """{"A":{"C":1.0}}""", """{"A":{"C":1.0,"B":1}}""")]
    [InlineData("Set", "A", "\"x\"", """{}""", """{"A":"x"}""")]
    [InlineData("Set", "A.'b c'.D", "[]", """{"A":null,"Z":1e2}""", """{"A":{"b c":{"D":[]}},"Z":1e2}""")]
    [InlineData("Set", "L[1].A", "2", """{"L":[{"A":1},{"A":1,"B":"\u00e9"}]}""", """{"L":[{"A":1},{"A":2,"B":"\u00e9"}]}""")]
    [InlineData("Increment", "N", "2", """{"N":9223372036854775805}""", """{"N":9223372036854775807}""")]
    [InlineData("Increment", "N", "0.1", """{"N":0.2}""", """{"N":0.3}""")]
    [InlineData("Increment", "N", "-1", """{"N":null}""", """{"N":-1}""")]
    [InlineData("Increment", "N", "1", """{"N":1e300}""", """{"N":1E+300}""")]
    [InlineData("Append", "L", "[3,4]", """{"L":[1, 2 ]}""", """{"L":[1, 2 ,3,4]}""")]
    [InlineData("Append", "L", "[3]", """{"L":[]}""", """{"L":[3]}""")]
    [InlineData("Append", "L", "[]", """{"L":[1]}""", """{"L":[1]}""")]
    [InlineData("RemoveAt", "L", "1", """{"L":[1,2,3]}""", """{"L":[1,3]}""")]
    [InlineData("RemoveEqual", "L", "{\"A\":1}", """{"L":[{"A":1.0},2,{"A":1}]}""", """{"L":[2]}""")]
    [InlineData("RemoveEqual", "L", "1", """{"M":1}""", """{"M":1,"L":[]}""")]
    public void An_edit_changes_one_value_and_leaves_the_rest_as_it_is_spelled(
        string kind, string path, string json, string before, string after) =>
        Assert.Equal(after, Apply(Enum.Parse<MemberEditKind>(kind), path, json, before));

    [Theory]
    [InlineData("Set", "A.B", "1", """{"A":5}""", "cannot be a member of a number")]
    [InlineData("Set", "L[2]", "1", """{"L":[1,2]}""", "there is no element 2")]
    [InlineData("Set", "L[0]", "1", """{"L":"x"}""", "there is no element 0")]
    [InlineData("Increment", "N", "1", """{"N":"x"}""", "cannot be added to a text")]
    [InlineData("Increment", "N", "1", """{"N":9223372036854775807}""", "64 bits")]
    [InlineData("Increment", "N", "1e308", """{"N":1.7e308}""", "no finite number")]
    [InlineData("Append", "L", "[1]", """{"L":{}}""", "an object has no elements")]
    [InlineData("RemoveAt", "L", "3", """{"L":[1,2,3]}""", "there is no element 3")]
    public void An_edit_that_cannot_be_done_says_why(string kind, string path, string json, string before, string message)
    {
        var error = Assert.Throws<ScriptException>(() => Apply(Enum.Parse<MemberEditKind>(kind), path, json, before));
        Assert.Contains($"At '{path}'", error.Message, StringComparison.Ordinal);
        Assert.Contains(message, error.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("")]
    [InlineData("a.")]
    [InlineData(".a")]
    [InlineData("a[]")]
    [InlineData("a[-1]")]
    [InlineData("a[0")]
    [InlineData("'a")]
    [InlineData("[0]")]
    [InlineData("a[0]b")]
    public void A_path_of_no_single_value_is_refused(string path) =>
        Assert.Throws<NotSupportedException>(() => MemberPath.Parse(path));

    [Fact]
    public void Random_edits_do_what_a_tree_of_nodes_does()
    {
        var random = new Random(Seed.Next());
        JsonObject expected = [];
        byte[] document = "{}"u8.ToArray();
        int done = 0;
        for (int i = 0; i < 2_000; i++)
        {
            if (i % 100 == 0)
                (expected, document) = ([], "{}"u8.ToArray());
            (string path, string[] names) = Path(random);
            MemberEditKind kind = (MemberEditKind)random.Next(3);
            string json = kind == MemberEditKind.Append
                ? $"[{random.Next(9)}]"
                : random.Next(9).ToString(CultureInfo.InvariantCulture);
            bool isDone = Change(expected, names, kind, int.Parse(json.Trim('[', ']'), CultureInfo.InvariantCulture));
            var edit = new MemberEdit(kind, MemberPath.Parse(path), Encoding.UTF8.GetBytes(json));
            if (!isDone)
            {
                Assert.Throws<ScriptException>(() => edit.Apply(document));
                continue;
            }

            document = edit.Apply(document);
            done++;
            Assert.True(
                JsonNode.DeepEquals(expected, JsonNode.Parse(document)),
                $"{kind} {path} {json}: {Encoding.UTF8.GetString(document)} instead of {expected.ToJsonString()}");
        }

        Assert.InRange(done, 200, 2_000);
    }

    private static string Apply(MemberEditKind kind, string path, string json, string before) => Encoding.UTF8.GetString(
        new MemberEdit(kind, MemberPath.Parse(path), Encoding.UTF8.GetBytes(json)).Apply(Encoding.UTF8.GetBytes(before)));

    private static (string Path, string[] Names) Path(Random random)
    {
        string[] names = [.. Enumerable.Range(0, random.Next(1, 4)).Select(_ => _names[random.Next(_names.Length)])];
        return (string.Join('.', names.Select(name => $"'{name.Replace("'", "''", StringComparison.Ordinal)}'")), names);
    }

    private static bool Change(JsonObject document, string[] names, MemberEditKind kind, int value)
    {
        JsonObject owner = document;
        for (int i = 0; i < names.Length - 1; i++)
        {
            if (owner[names[i]] is not null and not JsonObject)
                return false;
            if (owner[names[i]] is null)
            {
                // Whether the edit can be done is known at the end only, and it is undone as a whole.
                JsonObject made = [];
                if (!Change(made, names[(i + 1)..], kind, value))
                    return false;
                owner[names[i]] = made;
                return true;
            }

            owner = (JsonObject)owner[names[i]]!; // found above
        }

        JsonNode? now = owner[names[^1]];
        switch (kind)
        {
            case MemberEditKind.Set:
                owner[names[^1]] = value;
                return true;
            case MemberEditKind.Increment when now is null or JsonValue:
                owner[names[^1]] = (now is null ? 0 : now.GetValue<int>()) + value;
                return true;
            case MemberEditKind.Append when now is null:
                owner[names[^1]] = new JsonArray(value);
                return true;
            case MemberEditKind.Append when now is JsonArray array:
                array.Add(value);
                return true;
            default:
                return false;
        }
    }
}
