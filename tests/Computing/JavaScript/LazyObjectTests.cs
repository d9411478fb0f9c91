using System.Buffers;
using System.Text;
using System.Text.Json;
using Jint;
using Jint.Constraints;
using Jint.Native;
using Jint.Runtime;
using Treepie.Computing.JavaScript;
using Treepie.Tests.Support;

namespace Treepie.Computing.Tests.JavaScript;

/// <summary>Objects that are read when they are asked for do in scripts what those do that were read at once.</summary>
public sealed class LazyObjectTests
{
    private static readonly string[] _operations =
    [
        "out.push(o.a)", "out.push(o.n.b)", "out.push(o.n.list[1])", "out.push(o['ä\\n'])", "out.push(o.none)", "out.push(o[7])",
        "out.push('a' in o, 'none' in o, 'toString' in o)", "out.push(Object.keys(o))", "out.push(JSON.stringify(o.n))",
        "out.push(delete o.a)", "out.push(delete o.none)", "o.a = 1", "o.n.b = { c: 1 }", "o.n.more = [1]", "o.fresh = o.n",
        "out.push({ ...o })", "for (const k in o) out.push(k)", "out.push(Object.entries(o.n))", "Object.freeze(o)",
        "Object.freeze(o.n)", "out.push(Object.isFrozen(o), Object.isFrozen(o.n))", "out.push(o.hasOwnProperty('a'))",
        "out.push(Object.assign({}, o))", "{ const { a, ...rest } = o; out.push(a, rest); }", "o.list.push(3)",
        "out.push(String(o))", "out.push(Object.getOwnPropertyDescriptor(o, 'n'))", "out.push(Object.getOwnPropertyNames(o))",
        "Object.defineProperty(o, 'z', { get() { return 5; }, enumerable: true })",
        "Object.defineProperty(o, 'a', { value: 6, enumerable: false, configurable: true })",
        "out.push(Object.getPrototypeOf(o) === Object.prototype)", "out.push(Array.isArray(o.list), Array.isArray(o))",
        "o.a++", "out.push(o.n === o.n, o.list === o.list)", "Object.preventExtensions(o)", "out.push(o.valueOf() === o)",
        "Object.setPrototypeOf(o, { inherited: 1 }); out.push(o.inherited)", "out.push(o.n?.deep?.deeper?.[0])",
        "out.push(o.list.map(x => x && x.k))", "out.push(typeof o, typeof o.n, typeof o.a)", "o.n = null", "o.list.length = 1",
        "out.push(Object.values(o).length)", "out.push(o.propertyIsEnumerable('n'))", "o['0'] = 'zero'",
        "out.push(Reflect.ownKeys(o))",
        "out.push(o.constructor === Object)", "o.list[0].k = 'changed'", "out.push(o.__proto__ === Object.prototype)",
    ];

    private static readonly string[] _documents =
    [
        """{"a":1.5,"n":{"b":"x","list":[1,2,{"k":null}],"deep":{"deeper":[true]}},"list":[{"k":1},{"k":"two"},null,[1]]"""
            + ""","ä\n":"é","7":"seven","2":2}""",
        """{"n":{},"a":"text","list":[],"a":"again"}""",
        """{"list":[{"k":{"k":[]}}],"n":{"b":false,"list":[[],{}]},"a":{"a":{"a":0}}}""",
        "{}",
    ];

    [Fact]
    public void Random_scripts_do_with_lazy_objects_what_they_do_with_others()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var eager = new Engine();
        using var lazy = new Engine();
        for (int round = 0; round < 3_000; round++)
        {
            string json = _documents[random.Next(_documents.Length)];
            string script = string.Join(
                "; ", Enumerable.Range(0, random.Next(1, 7)).Select(_ => _operations[random.Next(_operations.Length)]));
            string expected = Run(eager, ScriptJson.Parse(eager, Encoding.UTF8.GetBytes(json)), script, out string writtenEager);
            string found = Run(lazy, Lazy(lazy, json), script, out string writtenLazy);
            Assert.True(expected == found, $"seed {seed}, {script} over {json}:\n{expected}\n{found}");
            Assert.True(
                JsonElement.DeepEquals(Element(writtenEager), Element(writtenLazy)),
                $"seed {seed}, {script} over {json}:\n{writtenEager}\n{writtenLazy}");
        }
    }

    [Fact]
    public void What_is_not_touched_is_written_as_it_stands()
    {
        using var engine = new Engine();
        JsValue value = Lazy(engine, """{"a":1.0,"b":1152921504606846977,"c":{"d":2.50,"e":"\u00e9"},"f":[1,2]}""");
        engine.SetValue("o", value);
        engine.Execute("o.a; o.c.d;");
        Assert.Equal("""{"a":1.0,"b":1152921504606846977,"c":{"d":2.50,"e":"\u00e9"},"f":[1,2]}""", Write(value));
        engine.Execute("o.c.x = 1; o.f.push(3);");
        Assert.Equal("""{"a":1.0,"b":1152921504606846977,"c":{"d":2.5,"e":"é","x":1},"f":[1,2,3]}""", Write(value));
    }

    private static LazyObject Lazy(Engine engine, string json) => Assert.IsType<LazyObject>(
        ScriptJson.Lazy(engine, Encoding.UTF8.GetBytes(json), new JsObject(engine).Prototype));

    private static string Run(Engine engine, JsValue document, string script, out string written)
    {
        engine.SetValue("o", document);
        string result;
        try
        {
            result = engine.Evaluate(
                $"(() => {{ 'use strict'; const out = []; {script}; return JSON.stringify([out, o, Object.keys(o)]); }})()")
                .ToString();
        }
        catch (JavaScriptException error)
        {
            result = error.Message;
        }

        written = Write(document);
        return result;
    }

    private static WriteBudget Budget() => new(new OperationDeadlineConstraint(), 1 << 24, 1 << 20);

    private static string Write(JsValue value)
    {
        var output = new ArrayBufferWriter<byte>();
        ScriptJson.Write(value, default, output, Budget());
        return Encoding.UTF8.GetString(output.WrittenSpan);
    }

    private static JsonElement Element(string json)
    {
        // Of a name that stands twice the last counts.
        using JsonDocument document = JsonDocument.Parse(json);
        var output = new ArrayBufferWriter<byte>();
        using var engine = new Engine();
        ScriptJson.Write(ScriptJson.Read(engine, document.RootElement), default, output, Budget());
        return JsonSerializer.Deserialize<JsonElement>(output.WrittenSpan);
    }
}
