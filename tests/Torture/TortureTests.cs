namespace Treepie.Torture;

/// <summary>The short form of the torture, as part of the test command.</summary>
public sealed class TortureTests
{
    [Fact]
    public void Nothing_acknowledged_is_lost_and_nothing_is_left_in_part()
    {
        var output = TestContext.Current.TestOutputHelper;
        string? broken = TortureProgram.Torture(new TortureOptions { Time = TimeSpan.FromSeconds(100), WritesPage = false, Modes = ["exhaustive", "seeds", "kills", "failing-calls", "bit-flips", "mixtures"] }, line => output?.WriteLine(line));
        Assert.True(broken is null, broken);
    }
}
