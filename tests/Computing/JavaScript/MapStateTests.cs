using System.Text;
using Treepie.Computations;
using Treepie.Computing.JavaScript;

namespace Treepie.Computing.Tests.JavaScript;

/// <summary>What a map or a reduce remembers between two documents: nothing.</summary>
public sealed class MapStateTests
{
    private const string Outside = """
        let n = 0;
        var m = 0;
        const seen = [], set = new Set(), kept = { a: 1 };
        const next = (() => { let c = 0; return () => ++c; })();
        class Counter { static all = 0; }
        function memo() { return memo.calls = (memo.calls || 0) + 1; }
        function state() { seen.push(1); set.add(seen.length); kept.a++; return [++n, ++m, seen.length, set.size, kept.a, next(), ++Counter.all, memo()].join(); }
        """;

    [Theory]
    [InlineData(Outside, "")]
    [InlineData("", Outside)]
    public void A_map_gives_the_same_for_a_document_whatever_came_before(string text, string additional)
    {
        JavaScriptMap map = JavaScriptMap.Compile(
            IndexOf(additional), text + "\nmap('Users', u => ({ S: state() })) // the end", new ScriptLimits());
        string[] results = [.. Enumerable.Range(0, 3).Select(_ => Written(output => map.Map(default, new Host(), output)))];
        Assert.All(results, static result => Assert.Equal("""{"S":"1,1,1,1,2,1,1,1"}""", result));
    }

    [Theory]
    [InlineData("Math.max")]
    [InlineData("[].map")]
    [InlineData("Object.getPrototypeOf([].values()).next")]
    [InlineData("Object.getOwnPropertyDescriptor(RegExp.prototype, 'flags').get")]
    [InlineData("Object.getPrototypeOf(function* () {}())[Symbol.iterator]")]
    [InlineData("load")]
    [InlineData("JSON.stringify")]
    public void A_map_cannot_leave_something_with_a_function_of_the_language(string function)
    {
        JavaScriptMap map = JavaScriptMap.Compile(
            IndexOf(""),
            $"map('Users', u => {{ try {{ ({function}).n = 1; }} catch {{ }} return {{ S: ({function}).n || 0 }}; }})",
            new ScriptLimits());
        Assert.Equal("""{"S":0}""", Written(output => map.Map(default, new Host(), output)));
    }

    [Fact]
    public void A_reduce_gives_the_same_for_a_group_whatever_came_before()
    {
        JavaScriptReduce reduce = JavaScriptReduce.Compile(
            IndexOf(Outside), "groupBy(x => ({ A: x.A })).aggregate(g => ({ A: g.key.A, S: state() }))", new ScriptLimits());
        string[] results =
        [
            .. Enumerable.Range(0, 3).Select(
                _ => Written(output => reduce.Reduce([Encoding.UTF8.GetBytes("""{"A":1,"S":""}""")], output))),
        ];
        Assert.All(results, static result => Assert.Equal("""{"A":1,"S":"1,1,1,1,2,1,1,1"}""", result));
    }

    [Fact]
    public void A_text_does_not_end_the_function_that_it_is_put_into()
    {
        InvalidIndexDefinitionException error = Assert.Throws<InvalidIndexDefinitionException>(() => JavaScriptMap.Compile(
            IndexOf(""), "}\nlet n = 0;\nmap('Users', u => ({ N: ++n }));\nfunction rest() {", new ScriptLimits()));
        Assert.Contains("line 1, column 1", error.Message, StringComparison.Ordinal);
    }

    private static IndexTexts IndexOf(string additional) =>
        new("State", new Dictionary<string, string> { ["own.js"] = additional });

    private static string Written(Action<MapOutput> write)
    {
        var output = new MapOutput();
        write(output);
        Assert.Equal(1, output.Count);
        return Encoding.UTF8.GetString(output[0].Span);
    }

    private sealed class Host : IMapHost
    {
        public byte[]? Load(string id, string collection) => null;

        public byte[]? CompareExchange(string key) => null;

        public byte[]? Attachment(string id, string name) => null;

        public string? AttachmentText(string id, string name) => null;

        public byte[] WholeDocument() => "{}"u8.ToArray();
    }
}
