using System.Diagnostics;
using System.Text;
using Treepie.Computations;
using Treepie.Computing.JavaScript;

namespace Treepie.Computing.Tests.JavaScript;

/// <summary>
/// Limits of time and memory are for scripts that are slow or large, not for machines that are busy or short of memory for a
/// moment.
/// </summary>
public sealed class BusyMachineTests
{
    private const string Text =
        "map('Users', u => { load('a/1', 'A'); let n = 0; for (let i = 0; i < 5000; i++) n += i; return { n }; })";

    private static readonly ScriptLimits _limits = new() { MaxTime = TimeSpan.FromMilliseconds(100) };

    [Fact]
    public void A_document_that_is_mapped_at_a_bad_moment_is_mapped_again()
    {
        ScriptLimits limits = new() { MaxTime = TimeSpan.FromSeconds(1) }; // enough for the second document
        var host = new BusyHost(1, () => Spin(limits.MaxTime * 1.5));
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
        var host = new BusyHost(int.MaxValue, () => Spin(_limits.OfBusyMachine.MaxTime * 1.5));
        var output = new MapOutput();
        ComputationException error = Assert.Throws<ComputationException>(() => Compile(_limits).Map(default, host, output));
        Assert.Contains("1000 ms", error.Message, StringComparison.Ordinal);
        Assert.Equal((0, 2), (output.Count, host.Calls));
    }

    [Fact]
    public void A_document_for_which_there_is_no_memory_for_a_moment_is_mapped_again()
    {
        var host = new BusyHost(1, static () => throw new OutOfMemoryException());
        var output = new MapOutput();
        Compile(_limits).Map(default, host, output);
        Assert.Equal((1, 2), (output.Count, host.Calls));
    }

    [Fact]
    public void A_lack_of_memory_is_no_error_of_a_document()
    {
        var host = new BusyHost(int.MaxValue, static () => throw new OutOfMemoryException());
        Assert.Throws<OutOfMemoryException>(() => Compile(_limits).Map(default, host, new MapOutput()));
    }

    [Fact]
    public void A_script_that_took_all_memory_itself_is_an_error_of_its_document()
    {
        var host = new BusyHost(int.MaxValue, () =>
        {
            _ = GC.AllocateUninitializedArray<byte>((int)_limits.MaxMemoryBytes + 1);
            throw new OutOfMemoryException();
        });
        ComputationException error =
            Assert.Throws<ComputationException>(() => Compile(_limits).Map(default, host, new MapOutput()));
        Assert.Contains("16,777,216 bytes of memory", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void The_results_of_the_first_attempt_are_gone_and_those_before_it_stay()
    {
        var output = new MapOutput();
        Compile(_limits, "map('Users', u => ({ A: 0 }))").Map(default, new BusyHost(0, static () => { }), output);
        JavaScriptMap map = Compile(
            _limits, "map('Users', u => [{ A: 1 }, { A: 2 }, { get A() { load('a/1', 'A'); return 3; } }])");
        map.Map(default, new BusyHost(1, static () => throw new OutOfMemoryException()), output);
        Assert.Equal(
            ["""{"A":0}""", """{"A":1}""", """{"A":2}""", """{"A":3}"""],
            Enumerable.Range(0, output.Count).Select(i => Encoding.UTF8.GetString(output[i].Span)));
    }

    private static JavaScriptMap Compile(ScriptLimits limits, string text = Text) =>
        JavaScriptMap.Compile(new IndexTexts("Slow", new Dictionary<string, string>()), text, limits);

    private static void Spin(TimeSpan time)
    {
        long began = Stopwatch.GetTimestamp();
        SpinWait.SpinUntil(() => Stopwatch.GetElapsedTime(began) > time);
    }

    /// <summary>Something is done while each of the first calls loads a document.</summary>
    private sealed class BusyHost(int busyCalls, Action busy) : IMapHost
    {
        public int Calls { get; private set; }

        public byte[]? Load(string id, string collection)
        {
            if (Calls++ < busyCalls)
                busy();
            return null;
        }

        public byte[]? CompareExchange(string key) => null;

        public byte[]? Attachment(string id, string name) => null;

        public string? AttachmentText(string id, string name) => null;

        public byte[] WholeDocument() => "{}"u8.ToArray();
    }
}
