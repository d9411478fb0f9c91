using Treepie.Tests.Support;

namespace Treepie.Torture;

/// <summary>The short form of the torture test, as part of the test command.</summary>
public sealed class TortureTests
{
    [Fact]
    public void Nothing_acknowledged_is_lost_and_nothing_is_left_in_part()
    {
        var output = TestContext.Current.TestOutputHelper;
        var options = new TortureOptions
        {
            FirstSeed = Seed.Next(),
            Time = TimeSpan.FromSeconds(85),
            TimeOfSample = TimeSpan.FromSeconds(20),
            WritesPage = false,
            Modes = TortureProgram.ModeNames,
        };
        string? broken = TortureProgram.Torture(options, line => output?.WriteLine(line));
        Assert.True(broken is null, broken);
    }
}
