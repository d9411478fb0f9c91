using System.Net;
using Microsoft.AspNetCore.Http;
using Treepie.Server.Hosting;
using Treepie.Server.Limits;

namespace Treepie.Server.Tests.Limits;

public sealed class WorkShareTests
{
    [Fact]
    public void A_client_has_its_share_and_all_have_the_whole()
    {
        var share = new WorkShare("tests", most: 3, mostPerClient: 2);
        ClientKey ada = Client("10.0.0.1"), bob = Client("10.0.0.2");
        WorkShare.Place first = share.Enter(ada);
        WorkShare.Place second = share.Enter(ada);
        WireException own = Assert.Throws<WireException>(() => share.Enter(ada));
        Assert.Equal(429, own.StatusCode);
        WorkShare.Place third = share.Enter(bob);
        WireException full = Assert.Throws<WireException>(() => share.Enter(Client("10.0.0.3")));
        Assert.Equal(503, full.StatusCode);
        Assert.All([own, full], error => Assert.NotNull(error.RetryAfterSeconds));
        first.Dispose();
        first.Dispose();
        Assert.Equal(2, share.Taken);
        share.Enter(ada).Dispose();
        second.Dispose();
        third.Dispose();
        Assert.Equal(0, share.Taken);
    }

    [Theory]
    [InlineData("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true)]
    [InlineData("2001:db8:1:2::1", "2001:db8:1:3::1", false)]
    [InlineData("10.0.0.1", "10.0.0.2", false)]
    [InlineData("::ffff:10.0.0.1", "::ffff:10.0.0.2", false)]
    public void A_network_of_one_machine_is_one_client(string first, string second, bool isSame) =>
        Assert.Equal(isSame, Client(first) == Client(second));

    [Theory]
    [InlineData("Max open files            1024                 4096                 files     ", 1024)]
    [InlineData("Max open files            unlimited            unlimited            files     ", long.MaxValue)]
    [InlineData("nothing of the kind", OpenFiles.Unknown)]
    public void The_limit_of_open_files_is_read_from_the_systems_table(string line, long expected) =>
        Assert.Equal(
            expected,
            OpenFiles.Parse(
                $"Limit                     Soft Limit           Hard Limit           Units     \nMax stack size 1 2 "
                    + $"bytes\n{line}\n"));

    [Theory]
    [InlineData(0, 1_024, 512)]
    [InlineData(0, long.MaxValue, 100_000)]
    [InlineData(50, 1_024, 50)]
    [InlineData(5_000, 1_024, 512)]
    [InlineData(0, 600, 216)]
    [InlineData(0, 300, 37)]
    [InlineData(0, 1, 1)]
    public void Connections_leave_half_of_the_files_to_databases(int asked, long files, int expected) =>
        Assert.Equal(expected, ConnectionLimit.MostOf(asked, files));

    private static ClientKey Client(string address) =>
        ClientKey.Of(new DefaultHttpContext { Connection = { RemoteIpAddress = IPAddress.Parse(address) } });
}
