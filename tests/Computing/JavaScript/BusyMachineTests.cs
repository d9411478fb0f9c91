using System.Diagnostics;
using Treepie.Computations;
using Treepie.Computing.JavaScript;

namespace Treepie.Computing.Tests.JavaScript;

/// <summary>Limits of time are for scripts that are slow, not for machines that are busy for a moment.</summary>
public sealed class BusyMachineTests
{
    private const string Text =
        "map('Users', u => { load('a/1', 'A'); let n = 0; for (let i = 0; i < 5000; i++) n += i; return { n }; })";

    private static readonly ScriptLimits _limits = new() { MaxTime = TimeSpan.FromMilliseconds(100) };

    [Fact]
    public void A_document_that_is_mapped_at_a_bad_moment_is_mapped_again()
    {
        ScriptLimits limits = new() { MaxTime = TimeSpan.FromSeconds(1) }; // enough for the second document
        var host = new SlowHost(slowCalls: 1, limits.MaxTime * 1.5);
        var output = new MapOutput();
        JavaScriptMap map = Compile(limits);
        map.Map(default, host, output);
        Assert.Equal((1, 2), (output.Count, host.Calls));
        map.Map(default, host, output);
        Assert.Equal((2, 3), (output.Count, host.Calls));
    }

    [Fact]
    public void A_script_that_is_always_slow_is_an_error_of_its_document()
    {
        var host = new SlowHost(slowCalls: int.MaxValue, _limits.OfBusyMachine.MaxTime * 1.5);
        var output = new MapOutput();
        ComputationException error = Assert.Throws<ComputationException>(() => Compile(_limits).Map(default, host, output));
        Assert.Contains("1000 ms", error.Message, StringComparison.Ordinal);
        Assert.Equal((0, 2), (output.Count, host.Calls));
    }

    private static JavaScriptMap Compile(ScriptLimits limits) =>
        JavaScriptMap.Compile(new IndexTexts("Slow", new Dictionary<string, string>()), Text, limits);

    private sealed class SlowHost(int slowCalls, TimeSpan time) : IMapHost
    {
        public int Calls { get; private set; }

        public byte[]? Load(string id, string collection)
        {
            long began = Stopwatch.GetTimestamp();
            if (Calls++ < slowCalls)
                SpinWait.SpinUntil(() => Stopwatch.GetElapsedTime(began) > time);
            return null;
        }

        public byte[]? CompareExchange(string key) => null;

        public byte[]? Attachment(string id, string name) => null;

        public string? AttachmentText(string id, string name) => null;

        public byte[] WholeDocument() => "{}"u8.ToArray();
    }
}
