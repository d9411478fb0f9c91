using Treepie.Tests.Support;
using Treepie.Torture.Servers;

namespace Treepie.Torture;

/// <summary>
/// The short form of the torture test of the whole server, as part of the test command. Verifies what docs/reliability.md
/// promises.
/// </summary>
public sealed class ServerTortureTests
{
    private static readonly TimeSpan _time = TimeSpan.FromMinutes(2);

    [Fact]
    public void A_server_that_is_killed_under_every_kind_of_client_keeps_its_word()
    {
        var output = TestContext.Current.TestOutputHelper;
        string? broken = ServerTorture.Run(Seed.Next(), _time, line => output?.WriteLine(line));
        Assert.True(broken is null, broken);
    }
}
