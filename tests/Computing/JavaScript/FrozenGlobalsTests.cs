using Jint;
using Jint.Native;
using Treepie.Computing.JavaScript;

namespace Treepie.Computing.Tests.JavaScript;

/// <summary>Nothing that a script can reach takes what it leaves there, and to see to that costs little of an engine.</summary>
public sealed class FrozenGlobalsTests
{
    /// <summary>Gives the paths of all that can be reached from the globals and is not frozen.</summary>
    private const string Unfrozen = """
        (() => {
            const seen = new Set(), left = [[globalThis, 'globalThis']], unfrozen = [];
            for (const made of [[].values(), ''[Symbol.iterator](), new Map().values(), new Set().values(), 'a'.matchAll(/a/g),
                Object.getPrototypeOf(function* () {}()), function* () {}, async () => {}, async function* () {}])
                left.push([Object.getPrototypeOf(made), '%' + made]);
            while (left.length > 0) {
                const [value, path] = left.pop();
                if (value === null || (typeof value !== 'function' && typeof value !== 'object') || seen.has(value))
                    continue;
                seen.add(value);
                if (!Object.isFrozen(value))
                    unfrozen.push(path);
                left.push([Object.getPrototypeOf(value), path + '.__proto__']);
                for (const key of Reflect.ownKeys(value)) {
                    const member = Object.getOwnPropertyDescriptor(value, key), at = path + '.' + String(key);
                    left.push([member.value, at], [member.get, at + ' get'], [member.set, at + ' set']);
                }
            }
            return seen.size + ' ' + unfrozen.join(', ');
        })()
        """;

    public static TheoryData<string> Made =>
    [
        "{}", "[]", "''", "0", "true", "Symbol.iterator", "/a/", "() => 1", "Object.groupBy([1], String)",
        "[].values()", "[].entries()", "''[Symbol.iterator]()", "'a'.matchAll(/a/g)", "[].values().map(String)",
        "[].values().filter(Boolean)", "function* () {}", "Object.getPrototypeOf((function* () {})())",
        "async () => {}", "(async () => {})()", "async function* () {}", "Object.getPrototypeOf((async function* () {})())",
        "(async function* () {})().next()", "Iterator.from({ next() {} })",
        "/a/.exec('a')", "Object.entries({ a: 1 })", "JSON.parse('{}')", "lastModified({ '@metadata': {} }) || new Date(0)",
        "new Map().entries()", "new Set().values()", "(function () { return arguments; })()", "new Proxy({}, {})",
        "(() => { try { null.x; } catch (e) { return e; } })()",
        "(() => { try { undeclared; } catch (e) { return e; } })()",
        "(() => { try { JSON.parse('{'); } catch (e) { return e; } })()",
        "(() => { try { [].reduce(String); } catch (e) { return e; } })()",
        "(() => { try { (1).toFixed(1000); } catch (e) { return e; } })()",
        "(() => { try { decodeURI('%'); } catch (e) { return e; } })()",
        "(() => { try { new RegExp('('); } catch (e) { return e; } })()",
    ];

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void All_that_is_reached_from_the_globals_is_frozen(bool maps)
    {
        using ScriptSandbox sandbox = Make(maps, "function own() { return 1; }", new ScriptLimits { MaxStatements = 1_000_000 });
        string[] found = sandbox.Engine.Evaluate(Unfrozen).AsString().Split(' ', 2);
        Assert.Equal("", found[1]);
        Assert.InRange(int.Parse(found[0], provider: null), 400, 1_000);
    }

    [Theory]
    [InlineData("noTracking", "load")]
    [InlineData("spatial", "distance")]
    public void Objects_among_the_globals_keep_their_functions(string of, string function)
    {
        using ScriptSandbox sandbox = Make(maps: true, "", new ScriptLimits());
        Assert.Equal("function", sandbox.Engine.Evaluate($"typeof {of}.{function}").AsString());
        Assert.Equal("function", sandbox.Engine.Evaluate($"typeof {of}['{function}']").AsString());
        Assert.Equal("function", sandbox.Engine.Evaluate($"typeof Object.values({of})[0]").AsString());
    }

    /// <summary>Also where nothing has been read of the globals before.</summary>
    [Theory]
    [MemberData(nameof(Made))]
    public void The_prototype_of_what_is_made_is_frozen(string expression)
    {
        using ScriptSandbox sandbox = Make(maps: false, $"function made() {{ return ({expression}); }}", new ScriptLimits());
        JsValue made = sandbox.Engine.Invoke("made");
        for (JsValue? next = sandbox.Engine.Invoke("probe", made); !next.IsNull(); next = sandbox.Engine.Invoke("probe", next))
            Assert.Equal("true", sandbox.Engine.Invoke("isFrozen", next).ToString());
    }

    [Fact]
    public void A_function_of_a_script_keeps_nothing()
    {
        using ScriptSandbox sandbox = Make(
            maps: false, "function count() { try { count.n = (count.n || 0) + 1; } catch {} return count.n; }",
            new ScriptLimits());
        sandbox.Engine.Invoke("count");
        Assert.True(sandbox.Engine.Invoke("count").IsUndefined());
    }

    /// <summary>Of some 190 KB; making and freezing all at once takes 0.8 MB, and 3 MB by a script.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void An_engine_is_made_in_less_than_400_KB(bool maps)
    {
        Make(maps, "", new ScriptLimits()).Dispose();
        long before = GC.GetAllocatedBytesForCurrentThread();
        Make(maps, "", new ScriptLimits()).Dispose();
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 1, 400_000);
    }

    private static ScriptSandbox Make(bool maps, string program, ScriptLimits limits) => new(
        limits, static _ => { }, maps ? MapPrelude.Program : null,
        [
            Engine.PrepareScript(
                $$"""
                {{program}}
                function probe(o) { return Object.getPrototypeOf(o); }
                function isFrozen(o) { return Object.isFrozen(o); }
                """,
                strict: true),
        ]);
}
