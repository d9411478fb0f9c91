using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Computations;

namespace Treepie.Computing.Tests.JavaScript;

/// <summary>
/// What a script gives is written outside of its statements: a value that takes much to read and little to write ends with the
/// limits of the script all the same, and a large one that is what it says does not.
/// </summary>
public sealed class WriteBudgetTests
{
    /// <summary>An object of 10,000 members that is written as {}; many of them take hours to read.</summary>
    private const string Void = "const o = {}; for (let i = 0; i < 10000; i++) o['a' + i] = undefined; ";

    private static readonly ScriptLimits _limits = new() { MaxTime = TimeSpan.FromMilliseconds(300) };

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(Void + "this.x = Array(1e5).fill(o);")]
    [InlineData(Void + "put('a', { x: Array(1e5).fill(o) });")]
    [InlineData(Void + "scalarToRawString({ x: Array(1e5).fill(o) }, x => 1);")]
    public async Task What_a_patch_gives_takes_no_more_than_a_script_may(string statements)
    {
        ScriptLimits limits = new() { MaxTime = TimeSpan.FromSeconds(20) }; // the memory is spent first, on a busy machine too
        ScriptException error = await Assert.ThrowsAsync<ScriptException>(() => PatchAsync(limits, statements, "{}", Cancel));
        Assert.Contains("Writing what the script gives took more than 16,777,216 bytes", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Writing_ends_when_the_time_of_the_script_is_over()
    {
        ScriptLimits limits = _limits with { MaxMemoryBytes = 1L << 40 };
        ScriptException error = await Assert.ThrowsAsync<ScriptException>(
            () => PatchAsync(limits, Void + "this.x = Array(1e5).fill(o);", "{}", Cancel));
        Assert.Contains("300 ms, the limit", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Writing_ends_when_the_call_is_canceled()
    {
        ScriptLimits limits = new() { MaxMemoryBytes = 1L << 40, MaxTime = TimeSpan.FromHours(1) };
        using var source = new CancellationTokenSource(TimeSpan.FromMilliseconds(200));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => PatchAsync(limits, Void + "this.x = Array(1e5).fill(o);", "{}", source.Token));
    }

    [Theory]
    [InlineData("return { A: Array(1e5).fill(o) };")]
    [InlineData("return Array(32768).fill({ A: o });")]
    public async Task What_a_map_gives_takes_no_more_than_a_script_may(string statements)
    {
        IndexMap map = new TextComputingEngine(_limits).CompileMap(
            new IndexTexts("Test", new Dictionary<string, string>()), $"map('Orders', x => {{ {Void}{statements} }})");
        await Assert.ThrowsAsync<ComputationException>(() => EndsAsync(
            () => MappedDocuments.Map(map, "orders/1", "Orders", """{"A":1}""", new MapOutput())));
    }

    /// <summary>The buffer of the output, which grows with a large document, is no memory that the script has taken.</summary>
    [Theory]
    [InlineData("this.a = 1;")]
    [InlineData("this.list[0] = 3;")]
    public async Task A_document_larger_than_the_memory_of_a_script_is_patched(string statements)
    {
        string list = string.Join(',', Enumerable.Range(0, 900_000).Select(static i => $"{i}.50"));
        string document = $"{{\"list\":[{list}],\"text\":\"{new string('x', 16 << 20)}\"}}";
        string after = await PatchAsync(new ScriptLimits { MaxTime = TimeSpan.FromMinutes(1) }, statements, document, Cancel);
        Assert.Equal(
            statements == "this.a = 1;"
                ? document[..^1] + ",\"a\":1}"
                : document.Replace("[0.50,", "[3,", StringComparison.Ordinal),
            after);
    }

    [Fact]
    public async Task A_million_computed_numbers_are_written()
    {
        ScriptLimits limits = new() { MaxTime = TimeSpan.FromMinutes(1) };
        string after = await PatchAsync(limits, "const a = Array(1e5).fill(7); this.list = Array(10).fill(a);", "{}", Cancel);
        Assert.Equal(2_000_030, after.Length);
    }

    private static async Task<string> PatchAsync(
        ScriptLimits limits, string statements, string document, CancellationToken cancellationToken)
    {
        var output = new ArrayBufferWriter<byte>();
        using JsonDocument none = JsonDocument.Parse("{}");
        var call = new ScriptCall(Encoding.UTF8.GetBytes(document), [none.RootElement], ReturnsThis: true);
        Script script = new TextComputingEngine(limits).CompileScript([new ScriptFunction("patch", ["args"], statements)]);
        await EndsAsync(() => script.Call("patch", call, new NoHost(), output, cancellationToken));
        return Encoding.UTF8.GetString(output.WrittenSpan);
    }

    /// <summary>Runs what might never end.</summary>
    private static Task EndsAsync(Action run) => Task.Run(run, Cancel).WaitAsync(TimeSpan.FromSeconds(30), Cancel);
}
