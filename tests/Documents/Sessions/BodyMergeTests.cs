using System.Text;
using System.Text.Json.Nodes;
using Treepie.Sessions;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Sessions;

public sealed class BodyMergeTests
{
    [Theory]
    [InlineData("""{"a":1.0,"x":2}""", """{"a":1}""", """{"a":1}""", """{"a":1.0,"x":2}""")]
    [InlineData("""{"a":1.0,"x":2}""", """{"a":1}""", """{"a":3}""", """{"a":3,"x":2}""")]
    [InlineData("""{"x":2}""", """{"a":0}""", """{"a":0}""", """{"x":2}""")] // the type's default is no change
    [InlineData("""{"x":2}""", """{"a":0}""", """{"a":5}""", """{"x":2,"a":5}""")]
    [InlineData("""{"a":1,"b":2}""", """{"a":1,"b":2}""", """{"a":1}""", """{"a":1}""")] // taken away, as from a dictionary
    [InlineData("""{"a":{"x":1}}""", """{"a":{"y":0}}""", """{"a":null}""", """{"a":null}""")]
    [InlineData("""{"a":[1.0,2]}""", """{"a":[1,2]}""", """{"a":[2,1]}""", """{"a":[2,1.0]}""")]
    [InlineData(
        """{"a":[{"x":1,"k":1}]}""", """{"a":[{"k":1}]}""", """{"a":[{"k":1},{"k":2}]}""", """{"a":[{"x":1,"k":1},{"k":2}]}""")]
    [InlineData("""{"a":[{"x":1,"k":1}]}""", """{"a":[{"k":1}]}""", """{"a":[{"k":2}]}""", """{"a":[{"x":1,"k":2}]}""")]
    [InlineData("""{"a":7}""", """{"a":"7"}""", """{"a":"8"}""", """{"a":"8"}""")]
    [InlineData("{}", "{}", """{"é\"":1}""", """{"é\"":1}""")]
    public void A_change_is_put_into_the_document(string stored, string before, string now, string merged) =>
        Assert.Equal(merged, Merge(stored, before, now));

    [Fact]
    public void Names_that_a_serializer_reads_without_case_are_one()
    {
        byte[] merged = new BodyMerge(ignoresCase: true).Merge(
            """{"name":"a","X":1}"""u8.ToArray(), """{"Name":"a"}"""u8.ToArray(), """{"Name":"b"}"""u8.ToArray());
        Assert.Equal("""{"name":"b","X":1}""", Encoding.UTF8.GetString(merged));
    }

    /// <summary>The type sees members a to d of every object. What it does not see stays, what it sees is as it says.</summary>
    [Fact]
    public void What_a_type_sees_is_as_it_says_and_the_rest_stays()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 3_000; round++)
        {
            JsonObject stored = Draw(random, 3);
            JsonObject before = Seen(stored);
            var now = (JsonObject)before.DeepClone();
            Change(now, random);
            string text = Merge(stored.ToJsonString(), before.ToJsonString(), now.ToJsonString());
            var merged = (JsonObject)JsonNode.Parse(text)!; // it was written as an object
            Assert.True(
                JsonNode.DeepEquals(now, Seen(merged)),
                $"{stored.ToJsonString()}\n{before.ToJsonString()}\n{now.ToJsonString()}\n{text}");
            AssertKept(stored, before, now, merged);
        }
    }

    private static void AssertKept(JsonObject stored, JsonObject before, JsonObject now, JsonObject merged)
    {
        foreach ((string name, JsonNode? value) in stored)
        {
            if (!IsSeen(name))
                Assert.True(JsonNode.DeepEquals(value, merged[name]));
            else if (value is JsonObject inner
                && before[name] is JsonObject then
                && now[name] is JsonObject later
                && merged[name] is JsonObject kept)
                AssertKept(inner, then, later, kept);
        }
    }

    private static bool IsSeen(string name) => name[0] <= 'd';

    private static JsonObject Seen(JsonObject all)
    {
        var seen = new JsonObject();
        foreach ((string name, JsonNode? value) in all)
            if (IsSeen(name))
                seen[name] = value is JsonObject inner ? Seen(inner) : value?.DeepClone();
        return seen;
    }

    private static JsonObject Draw(Random random, int depth)
    {
        var json = new JsonObject();
        for (int left = random.Next(6); left > 0; left--)
            json[((char)('a' + random.Next(8))).ToString()] = Value(random, depth);
        return json;
    }

    private static JsonNode? Value(Random random, int depth) => random.Next(depth > 0 ? 5 : 3) switch
    {
        0 => null,
        1 => random.Next(3),
        2 => "t" + random.Next(3),
        _ => Draw(random, depth - 1),
    };

    private static void Change(JsonObject json, Random random)
    {
        foreach (string name in json.Select(member => member.Key).ToArray())
        {
            if (json[name] is JsonObject inner && random.Next(3) > 0)
                Change(inner, random);
            else if (random.Next(4) == 0)
                json.Remove(name);
            else if (random.Next(4) == 0)
                json[name] = random.Next(100);
        }

        if (random.Next(3) == 0)
            json[((char)('a' + random.Next(4))).ToString()] = "new";
    }

    private static string Merge(string stored, string before, string now) =>
        Encoding.UTF8.GetString(
            new BodyMerge(ignoresCase: false).Merge(
                Encoding.UTF8.GetBytes(stored), Encoding.UTF8.GetBytes(before), Encoding.UTF8.GetBytes(now)));
}
