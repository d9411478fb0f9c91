using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Computations;
using Treepie.Kinds;

namespace Treepie.Computing.Tests.JavaScript;

/// <summary>What scripts give, and what ends them.</summary>
public sealed class ScriptTests
{
    private static readonly TextComputingEngine _engine = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("this.a = 3;", """{"a":1.0,"b":1.0}""", """{"a":3,"b":1.0}""")]
    [InlineData("this.c = this.b;", """{"b":1152921504606846977}""", """{"b":1152921504606846977,"c":1152921504606846977}""")]
    [InlineData(
        "this.list.push(2); this.list[0].x = 'é';", """{"list":[{"x":"","n":2.50}]}""", """{"list":[{"x":"é","n":2.50},2]}""")]
    [InlineData("delete this.a; this.n = null; this.u = undefined; this.f = () => 1;", """{"a":1}""", """{"n":null}""")]
    [InlineData(
        "this.d = new Date(0); this.half = 0.5; this.nan = 0 / 0; this.big = 1e300;", "{}",
        """{"d":"1970-01-01T00:00:00.0000000Z","half":0.5,"nan":null,"big":1E+300}""")]
    [InlineData(
        "this.i = id(this); this.c = getMetadata(this)['@collection'];", """{"@metadata":{"@id":"a/1","@collection":"A"}}""",
        """{"@metadata":{"@id":"a/1","@collection":"A"},"i":"a/1","c":"A"}""")]
    [InlineData("let s = 0; for (const l of this.l) s += l; this.s = s;", """{"l":[1,2,3]}""", """{"l":[1,2,3],"s":6}""")]
    [InlineData("this.r = load('b/1').x + load(['b/1', 'none']).length + args.y;", "{}", """{"r":52}""")]
    [InlineData("this.q = 'q\\u0000\\n\"'; this[''] = 1;", "{}", "{\"q\":\"q\\u0000\\n\\\"\",\"\":1}")]
    [InlineData(
        "this.km = Math.round(spatial.distance(52.52, 13.405, 48.8566, 2.3522)); this.miles = Math.round(spatial.distance(52.52, "
        + "13.405, "
            + "48.8566, 2.3522, 'miles')); this.none = spatial.distance(1, null, 2, 3);", "{}",
        """{"km":877,"miles":545,"none":null}""")]
    [InlineData(
        "this.c = [counterRaw('a/1', 'Likes'), counterRaw('a/1', 'none'), counter('a/1', 'Likes')];", "{}",
        """{"c":[{"A":7},null,7]}""")]
    [InlineData(
        "const raw = f => scalarToRawString(this, f); this.t = [raw(x => x.a), raw(x => x.l[1].n), raw(x => x.s), raw(x => x.y), "
            + "raw(x => x.none) === undefined, scalarToRawString(load('none'), x => x.a)];",
        """{"a":1.0,"l":[0,{"n":1152921504606846977}],"s":"2.50","y":true}""",
        "{\"a\":1.0,\"l\":[0,{\"n\":1152921504606846977}],\"s\":\"2.50\",\"y\":true,"
            + "\"t\":[\"1.0\",\"1152921504606846977\",\"2.50\",\"true\",true,null]}")]
    [InlineData("this.t = scalarToRawString(load('b/1'), x => x.x);", "{}", """{"t":"42"}""")]
    [InlineData("this.a = 2; this.t = scalarToRawString(this, x => x.a);", """{"a":1.0}""", """{"a":2,"t":"2"}""")]
    [InlineData("this.t = '{0}, {1}{9}'.format(this.a, 2.5, 'x')", """{"a":"Ann"}""", """{"a":"Ann","t":"Ann, 2.5{9}"}""")]
    [InlineData("this.t = '{1} {{0}} {x}{0'.format('{1}', null)", "{}", """{"t":" {{1}} {x}{0"}""")]
    [InlineData("this.t = [Raven_Max(3, 20), Raven_Min([3, null, 20]), Raven_Max('b', 'a'), Raven_Min([])]", "{}",
        """{"t":[20,3,"b",null]}""")]
    [InlineData("this.t = convertJsTimeToTimeSpanString(90061001);", "{}", """{"t":"1.01:01:01.0010000"}""")]
    [InlineData(
        "archived.archiveAt(this, '2030-01-01'); this.n = counterNamesFor(this).concat(attachmentsFor(this), "
            + "timeSeriesNamesFor(this));",
        """{"@metadata":{"@counters":["Likes"]}}""",
        """{"@metadata":{"@counters":["Likes"],"@archive-at":"2030-01-01"},"n":["Likes"]}""")]
    public void A_patch_gives_the_document_as_it_leaves_it(string script, string document, string expected) =>
        Assert.Equal(expected, Patch(script, document));

    [Theory]
    [InlineData("while (true) {}", "statements")]
    [InlineData("for (;;) ;", "statements")]
    [InlineData("function f() { return f(); } f();", "within each other")]
    [InlineData("let a = []; while (true) a.push('x'.repeat(1000));", "memory")]
    [InlineData("this.x = 'a'.repeat(1 << 28);", "'repeat' would make")]
    [InlineData("this.x = 'a'.padStart(1 << 28);", "'padStart' would make")]
    [InlineData("this.x = 'a'.padEnd(1e9, 'b');", "'padEnd' would make")]
    [InlineData("this.x = new Array(1e9).join('x');", "")]
    [InlineData("this.x = Array(1e6).fill('xxxxxxxxxx').join('yyyyyyyyyyyy');", "")]
    [InlineData("let s = 'x'.repeat(1000); while (true) s = s + s;", "memory")]
    [InlineData(
        "let s = 'x'.repeat(1e6); this.x = s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s+s;", "")]
    [InlineData("'x'.repeat(1e6).replaceAll('x', 'y'.repeat(1e6));", "'replaceAll' would make")]
    [InlineData("'x'.repeat(1e6).replace(/x/g, 'y'.repeat(1e6));", "'replace' would make")]
    [InlineData("'x'.repeat(1e4).replace(/x/g, '$\\''.repeat(100));", "'replace' would make")]
    [InlineData("const b = 'y'.repeat(1e5); 'x'.repeat(1e5).replace(/x/g, () => b);", "")]
    [InlineData("const b = 'y'.repeat(1e6); Array(1e5).fill(b).toString();", "'join' would make")]
    [InlineData("JSON.stringify(Array(1000).fill('y'.repeat(1e6)));", "'stringify' would make")]
    [InlineData("Array.from({ length: 1e9 });", "'from' would make")]
    [InlineData("let a = [1]; while (true) a = [...a, ...a];", "")]
    [InlineData("Array(1e5).fill(0).flatMap(() => Array(1e5).fill(0));", "")]
    [InlineData("new Uint8Array(1e9);", "Uint8Array")]
    [InlineData("BigInt(2);", "BigInt")]
    [InlineData("const b = 'y'.repeat(1e6); this.a = Array(1e5).fill(b);", "bytes")]
    [InlineData("this.__proto__.x = 1;", "")]
    [InlineData("Object.getPrototypeOf([]).map = 1;", "")]
    [InlineData("new Proxy({}, { get() { while (true) {} } }).x;", "statements")]
    [InlineData("/^(a+)+$/.test('a'.repeat(40) + 'b');", "regular expression")]
    [InlineData("regex('a'.repeat(40) + 'b', '^(a+)+$');", "regular expression")]
    [InlineData("this.self = this;", "levels")]
    [InlineData("Object.defineProperty(this, 'x', { enumerable: true, get() { while (true) {} } });", "statements")]
    [InlineData("this.x = { toJSON() { while (true) {} } }; JSON.stringify(this);", "statements")]
    [InlineData("'' + { toString() { while (true) {} } };", "statements")]
    [InlineData("eval('1');", "")]
    [InlineData("new Function('return 1')();", "")]
    [InlineData("(() => {}).constructor('return 1')();", "")]
    [InlineData("undeclared = 1;", "undeclared")]
    [InlineData("String.prototype.trim = () => 'mine';", "")]
    [InlineData("Object.prototype.x = 1;", "")]
    [InlineData("throw new Error('of its own');", "of its own")]
    [InlineData("put('a', 1);", "no object")]
    [InlineData("load(5);", "'load' wants the id")]
    [InlineData("spatial.distance(1, 2, 3, 4, 'feet');", "'kilometers' or 'miles'")]
    [InlineData("'{0}{0}'.format('x'.repeat(1000000));", "'format' would make a text")]
    [InlineData("convertJsTimeToTimeSpanString('1');", "milliseconds")]
    [InlineData("archived.archiveAt('users/1', '2030-01-01');", "no document")]
    public void A_script_that_goes_too_far_ends_itself_and_nothing_else(string script, string reason)
    {
        Script compiled = Compile(script);
        ScriptException error = Assert.Throws<ScriptException>(() => Run(compiled, "{}"));
        Assert.Contains(reason, error.Message, StringComparison.Ordinal);
        Assert.Equal("""{"a":" x "}""", Patch("this.a = ' x '; 'x'.trim();", "{}"));
    }

    [Theory]
    [InlineData("this.a = ;", 1, 10)]
    [InlineData("let a = 1;\n  this.b = }", 2, 12)]
    [InlineData("}", 1, 1)]
    [InlineData("let a =\n 2n ** 3n;", 2, 2)]
    [InlineData("with (this) { a = 1; }", 1, 1)]
    public void What_is_no_script_is_refused_with_its_place(string script, int line, int column)
    {
        ScriptException error = Assert.Throws<ScriptException>(() => Compile(script));
        Assert.True(error.IsSyntax, error.Message);
        Assert.Equal((line, column), (error.Line, error.Column));
    }

    [Theory]
    [InlineData("} while (true) { } {")]
    [InlineData("} function other() {")]
    [InlineData("} Object.prototype.a = 1; {")]
    public void A_body_does_not_leave_its_function(string body)
    {
        ScriptException error = Assert.Throws<ScriptException>(() => Compile(body));
        Assert.True(error.IsSyntax, error.Message);
        Assert.Contains("'}'", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void An_error_says_where_it_was_thrown()
    {
        ScriptException error = Assert.Throws<ScriptException>(() => Patch("let a = 1;\nthis.b.c.d = a;", "{}"));
        Assert.Equal(2, error.Line);
        Assert.False(error.IsSyntax);
    }

    [Fact]
    public void Calls_leave_nothing_behind_for_the_next()
    {
        Script script = Compile("this.n = (globalThis.n ?? 0) + 1; try { globalThis.n = 5; } catch {}");
        Assert.Equal("""{"n":1}""", Run(script, "{}"));
        Assert.Equal("""{"n":1}""", Run(script, "{}"));
    }

    [Fact]
    public void Callers_at_the_same_time_do_not_meet()
    {
        Script script = Compile("let s = 0; for (let i = 0; i < 100; i++) s += this.n; this.n = s;");
        Parallel.For(0, 200, i => Assert.Equal($$"""{"n":{{i * 100}}}""", Run(script, $$"""{"n":{{i}}}""")));
    }

    [Fact]
    public async Task A_script_ends_where_it_stands_when_it_is_cancelled()
    {
        Script script = new TextComputingEngine(new ScriptLimits { MaxTime = TimeSpan.FromHours(1) })
            .CompileScript([new ScriptFunction("patch", [], "while (true) { }")], takesAnyStatements: true);
        using var end = CancellationTokenSource.CreateLinkedTokenSource(Cancel);
        Task running = Task.Run(
            () => script.Call("patch", new ScriptCall(default, [], false), new FakeHost(), new ArrayBufferWriter<byte>(), end.Token),
            Cancel);
        end.CancelAfter(50);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => running);
    }

    private static Script Compile(string script) => _engine.CompileScript([new ScriptFunction("patch", ["args"], script)]);

    private static string Patch(string script, string document) => Run(Compile(script), document);

    private static string Run(Script script, string document)
    {
        var output = new ArrayBufferWriter<byte>();
        using var arguments = JsonDocument.Parse("""{"y":8}""");
        script.Call(
            "patch", new ScriptCall(Encoding.UTF8.GetBytes(document), [arguments.RootElement], ReturnsThis: true), new FakeHost(),
            output, Cancel);
        return Encoding.UTF8.GetString(output.WrittenSpan);
    }

    private sealed class FakeHost : IScriptHost
    {
        public byte[]? Load(string id) => id == "b/1" ? """{"x":42}"""u8.ToArray() : null;

        public byte[]? CompareExchange(string key) => null;

        public long? Counter(string id, string name) => name == "Likes" ? 7 : null;

        public string Put(string id, ReadOnlyMemory<byte> json, string? expectedChangeVector) => id;

        public void Delete(string id, string? expectedChangeVector)
        {
        }

        public void IncrementCounter(string id, string name, long delta)
        {
        }

        public void DeleteCounter(string id, string name)
        {
        }

        public IEnumerable<TimeSeriesPoint> TimeSeries(string id, string name, DateTime from, DateTime to) => [];

        public byte[] DeclaredTimeSeries(int declared, string? id) => throw new NotSupportedException();

        public void ChangeTimeSeries(
            string id, string name, IReadOnlyList<TimeSeriesPoint> points,
            IReadOnlyList<(DateTime From, DateTime To)> deletes) => throw new NotSupportedException();

        public void Include(ScriptIncludeKind kind, string name) => throw new ScriptException($"{kind} {name}");

        public void Write(string line)
        {
        }
    }
}
