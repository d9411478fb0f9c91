using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Computations;

namespace Treepie.Computing.Tests.JavaScript;

/// <summary>
/// What wants more than a script may have ends itself, wherever scripts run: in patches, in maps and in reduces, which have the
/// same limits.
/// </summary>
public sealed class HostileScriptTests
{
    /// <summary>Little time, so that those end soon that it is what ends.</summary>
    private static readonly ScriptLimits _limits = new() { MaxTime = TimeSpan.FromMilliseconds(100) };

    /// <summary>For what must end by another limit or not at all, on a busy machine too.</summary>
    private static readonly ScriptLimits _patient = new() { MaxTime = TimeSpan.FromSeconds(20) };

    /// <summary>Statements that end with an error of the script.</summary>
    public static TheoryData<string> Statements =>
    [
        "while (true) { }",
        "for (;;) ;",
        "do { } while (true)",
        "const f = n => f(n + 1); f(1);",
        "let s = 'aaaaaaaa'; while (true) s += s;",
        "let s = 'aaaaaaaa'; while (true) s = `${s}${s}`;",
        "let s = 'a'; while (true) s = s.concat(s);",
        "while (true) 'a'.concat('b');",
        "while (true) [1].fill(2);",
        "'a'.repeat(1 << 28);",
        "'a'.repeat(2 ** 31);",
        "'a'.padStart(1e9);",
        "'x'.repeat(1e6).replaceAll('x', 'y'.repeat(1e6));",
        "'x'.repeat(1e6).split('').map(x => 'y'.repeat(1e6)).join('');",
        "String.raw({ raw: { length: 1e9 } });",
        "String.fromCharCode.apply(null, { length: 1e9 });",
        "Math.max.apply(null, { length: 1e9 });",
        "new Array(1e9);",
        "const a = []; a.length = 4e9; a.join();",
        "const a = []; a[4e9] = 1; JSON.stringify(a);",
        "const a = []; a.length = 4e9; load(a, 'Orders');",
        "const a = []; a.push(a); include(a);",
        "let a = ['x']; for (let i = 0; i < 60; i++) a = [a, a]; include(a);",
        "const a = []; a.length = 4e9; include(a);",
        "const a = []; a.length = 4e9; a.slice().concat(a, a);",
        "const a = []; a[1e8] = 1; a.join();",
        "Array(1e6).fill('xxxxxxxxxx').join('yyyyyyyyyyyy');",
        "Array.from({ length: 1e9 });",
        "let a = [1]; while (true) a = [...a, ...a];",
        "let a = [1]; while (true) a = a.concat(a);",
        "let a = [1]; while (true) a.push(...a);",
        "Array.prototype.lastIndexOf.call({ length: 2 ** 50 }, 1);",
        "Array.prototype.includes.call({ length: 2 ** 50 }, 1);",
        "Array.prototype.forEach.call({ length: 2 ** 50 }, Boolean);",
        "Array.prototype.every.call({ length: 2 ** 50 }, Boolean);",
        "Array.prototype.reduce.call({ length: 2 ** 50 }, Math.max, 0);",
        "Array.prototype.find.call({ length: 2 ** 50 }, Boolean);",
        "Array.prototype.fill.call({ length: 2 ** 50 }, 1);",
        "Array.prototype.reverse.call({ length: 2 ** 50 });",
        "Array.prototype.join.call({ length: 2 ** 50 }, '');",
        "Array.prototype.join.call({ length: 2 ** 50 }, 'a');",
        "Array.prototype.shift.call({ length: 2 ** 50 });",
        "Array.prototype.splice.call({ length: 2 ** 50 }, 0, 1);",
        "Array.prototype.copyWithin.call({ length: 2 ** 50 }, 1, 0);",
        "Array.prototype.slice.call({ length: 2 ** 50 });",
        "Array.prototype.sort.call({ length: 2 ** 31 });",
        "Array.prototype.flat.call({ length: 2 ** 50 });",
        "Array.prototype.toSorted.call({ length: 2 ** 31 });",
        "Array.prototype.with.call({ length: 2 ** 31 }, 0, 1);",
        "Array.prototype.toLocaleString.call({ length: 2 ** 50 });",
        "const a = Array(1e6).fill(0); while (true) a.includes(1);",
        "const a = Array(1e6).fill(0); while (true) a.sort();",
        "const a = 'a'.repeat(1e6); while (true) a.indexOf('b');",
        "const i = { next: Object.prototype.valueOf, [Symbol.iterator]() { return i; } }; [...i];",
        "const i = { next: Object.prototype.valueOf, [Symbol.iterator]() { return i; } }; Array.from(i);",
        "const i = { next: Object.prototype.valueOf, [Symbol.iterator]() { return i; } }; new Set(i);",
        "const i = { next: Object.prototype.valueOf, [Symbol.iterator]() { return i; } }; for (const x of i);",
        "const i = { next: Object.prototype.valueOf, [Symbol.iterator]() { return i; } }; Math.max(...i);",
        "function* g() { while (true) yield 1; } [...g()];",
        "JSON.parse('['.repeat(1e6));",
        "let a = []; for (let i = 0; i < 30000; i++) a = [a]; JSON.stringify(a); throw 1;",
        "let a = []; for (let i = 0; i < 30000; i++) a = [a]; String(a); throw 1;",
        "let a = []; for (let i = 0; i < 30000; i++) a = [a]; a.flat(Infinity); throw 1;",
        "let a = {}; for (let i = 0; i < 30000; i++) a = { a }; JSON.stringify(a); throw 1;",
        "let f = () => 1; for (let i = 0; i < 30000; i++) f = f.bind(null); f(); throw 1;",
        "let p = {}; for (let i = 0; i < 30000; i++) p = Object.create(p); p.x; throw 1;",
        "let s = 'a'; for (let i = 0; i < 30000; i++) s = s + 'b'; s.length; throw 1;",
        "/^(a+)+$/.test('a'.repeat(40) + 'b');",
        "'a'.repeat(40).match(/^(a|aa)+$b/);",
        "regex('a'.repeat(40) + 'b', '^(a+)+$');",
        "new RegExp('('.repeat(20000) + ')'.repeat(20000)).test('a'); throw 1;",
        "new RegExp('(?:a{1000}){1000}'.repeat(100)).test('a'.repeat(1e5)); throw 1;",
        "'' + { toString() { while (true) {} } };",
        "({ get x() { while (true) {} } }).x;",
        "Object.prototype.x = 1;",
        "Array.prototype.map = 1;",
        "String.prototype.trim = () => 1;",
        "Object.getPrototypeOf([][Symbol.iterator]()).next = () => 1;",
        "Object.getPrototypeOf(function* () {}).x = 1;",
        "globalThis.x = 1;",
        "undeclared = 1;",
        "eval('1');",
        "new Function('return 1')();",
        "(() => {}).constructor('return 1')();",
        "(function* () {}).constructor('return 1')();",
        "(async () => {}).constructor('return 1')();",
        "new Uint8Array(1e9);",
        "BigInt(2);",
    ];

    [Theory]
    [MemberData(nameof(Statements))]
    public void A_patch_ends_itself(string statements) => Assert.Throws<ScriptException>(() => Patch(statements, _limits));

    /// <summary>What names documents and writes values is limited by itself, not by the number of statements.</summary>
    [Theory]
    [InlineData("const a = []; a.push(a); include(a);", "nested more than 2 deep")]
    [InlineData("const a = []; a.push(a); includes.document(a);", "nested more than 2 deep")]
    [InlineData("const a = []; a.push(a); load(a);", "nested more than 2 deep")]
    [InlineData("let a = ['x']; for (let i = 0; i < 60; i++) a = [a, a]; include(a);", "nested more than 2 deep")]
    [InlineData("let a = ['x']; for (let i = 0; i < 60; i++) a = [a, a]; load(a);", "nested more than 2 deep")]
    [InlineData("const a = []; a.length = 4e9; include(a);", "are the most of one call")]
    [InlineData("const a = Array(4000).fill('x'); include(a, a);", "8,000 names; 4,096 are the most of one call")]
    [InlineData("const a = Array(1000).fill('x'); load([a, a, a, a, a]);", "are the most of one call")]
    [InlineData("let a = {}; for (let i = 0; i < 60; i++) a = { l: a, r: a }; scalarToRawString(a, x => 1);", "bytes")]
    [InlineData("let a = {}; for (let i = 0; i < 60; i++) a = { l: a, r: a }; put('a', a);", "bytes")]
    public void One_call_of_a_function_of_the_database_ends_itself(string statements, string message) => Assert.Contains(
        message, Assert.Throws<ScriptException>(() => Patch(statements, _patient)).Message, StringComparison.Ordinal);

    [Fact]
    public void Arrays_within_an_array_are_included_and_loaded() =>
        Patch("include(['a', ['b', null]], 'c'); if (load(['a', ['b']])[1].length !== 1) throw 'lost';", _patient);

    [Theory]
    [MemberData(nameof(Statements))]
    public void A_map_ends_itself(string statements)
    {
        IndexMap map = new TextComputingEngine(_limits).CompileMap(Texts, $"map('Orders', o => {{ {statements} return {{ A: 1 }}; }})");
        Assert.Throws<ComputationException>(() => Map(map));
    }

    [Theory]
    [MemberData(nameof(Statements))]
    public void A_reduce_ends_itself(string statements)
    {
        IndexReduce reduce = new TextComputingEngine(_limits).CompileReduce(
            Texts, $"groupBy(x => ({{ A: x.A }})).aggregate(g => {{ {statements} return {{ A: g.key.A }}; }})");
        Assert.Throws<ComputationException>(() => reduce.Reduce(["{\"A\":1}"u8.ToArray()], new MapOutput()));
    }

    private static IndexTexts Texts => new("Test", new Dictionary<string, string>());

    private static void Map(IndexMap map) => MappedDocuments.Map(map, "orders/1", "Orders", """{"A":1}""", new MapOutput());

    private static void Patch(string statements, ScriptLimits limits)
    {
        using JsonDocument none = JsonDocument.Parse("{}");
        new TextComputingEngine(limits).CompileScript([new ScriptFunction("patch", ["args"], statements)]).Call(
            "patch", new ScriptCall(Encoding.UTF8.GetBytes("{}"), [none.RootElement], ReturnsThis: true), new NoHost(),
            new ArrayBufferWriter<byte>(), TestContext.Current.CancellationToken);
    }
}
