using Treepie.Destinations;
using Treepie.S3;

namespace Treepie.Clients.Tests.S3;

/// <summary>Uploads to a real server of the S3 protocol: broken, resumed, refused, aborted, and read back byte by byte.</summary>
public sealed class S3DestinationTests : IAsyncLifetime
{
    private const int PartBytes = 5 << 20;
    private const string SlowDown =
        "HTTP/1.1 503 Slow Down\r\nContent-Type: application/xml\r\nContent-Length: 39\r\nConnection: "
            + "close\r\n\r\n<Error><Code>SlowDown</Code>    </Error>";

    private S3Server? _server;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private S3Server Server => _server ?? throw new InvalidOperationException("The server was not started.");

    public async ValueTask InitializeAsync()
    {
        await Node.NodeClientTests.InstallClientAsync();
        _server = await S3Server.StartAsync();
    }

    public ValueTask DisposeAsync() => _server?.DisposeAsync() ?? ValueTask.CompletedTask;

    [Fact]
    public async Task An_upload_goes_on_after_the_server_was_killed_and_parts_that_had_arrived_are_not_sent_again()
    {
        byte[] content = StoredContent.Draw((4 * PartBytes) + 1234);
        await using var proxy = new S3Proxy(Server.Port);
        int killed = 0;
        string[] begun = [];
        var clock = new HastyClock(async () =>
        {
            if (Interlocked.CompareExchange(ref killed, 2, 1) == 1)
                await Server.RestartAsync();
            while (Volatile.Read(ref killed) == 2 && !await AnswersAsync())
                await Task.Yield();
        });
        using BackupDestination place = Open(proxy.Url, clock);
        await using (BackupUpload upload = await place.CreateAsync("shop/one.full.backup", Cancel))
        {
            proxy.At = (3L * PartBytes, KillAsync);
            await upload.WriteAsync(content, Cancel);
            await upload.CommitAsync(Cancel);
        }

        async Task KillAsync()
        {
            begun = Parts(proxy);
            await Server.KillAsync();
            Volatile.Write(ref killed, 1);
        }

        Assert.True(clock.Waits > 0, "Nothing broke.");
        await StoredContent.AssertAsync(place, "shop/one.full.backup", content);
        // Two at most were on their way when it was killed: the others had arrived.
        string[] all = Parts(proxy);
        Assert.True(begun.Length > 2, "The server was killed too early.");
        Assert.True(begun.Count(part => all.Count(other => other == part) == 1) >= begun.Length - 2, string.Join(" ", all));
    }

    [Fact]
    public async Task What_is_small_what_is_empty_and_what_ends_with_a_part_come_back_as_they_were()
    {
        using BackupDestination place = Open($"http://127.0.0.1:{Server.Port}", TimeProvider.System);
        await place.ProbeAsync(0, Cancel);
        foreach (int length in (int[])[0, 1, 3_000_000, PartBytes, 2 * PartBytes])
        {
            byte[] content = StoredContent.Draw(length);
            await using (BackupUpload upload = await place.CreateAsync($"shop/{length}.full.backup", Cancel))
            {
                await upload.WriteAsync(content, Cancel);
                await upload.CommitAsync(Cancel);
            }

            await StoredContent.AssertAsync(place, $"shop/{length}.full.backup", content);
        }

        Assert.Equal(
            DestinationFault.NameTaken,
            (await Assert.ThrowsAsync<DestinationException>(() => place.CreateAsync("shop/1.full.backup", Cancel))).Fault);
        await place.DeleteAsync("shop/1.full.backup", Cancel);
        Assert.Equal(4, (await place.ListAsync("shop/", Cancel)).Count);
        Assert.Equal(
            DestinationFault.NotFound,
            (await Assert.ThrowsAsync<DestinationException>(() => place.OpenAsync("shop/1.full.backup", Cancel))).Fault);
    }

    [Fact]
    public async Task A_server_that_refuses_for_a_while_is_asked_again_and_reading_goes_on_where_it_broke()
    {
        byte[] content = StoredContent.Draw(3_000_000);
        var clock = new HastyClock();
        await using var proxy = new S3Proxy(Server.Port) { Refuses = (3, SlowDown) };
        using BackupDestination place = Open(proxy.Url, clock);
        await using (BackupUpload upload = await place.CreateAsync("slow.full.backup", Cancel))
        {
            await upload.WriteAsync(content, Cancel);
            await upload.CommitAsync(Cancel);
        }

        Assert.Equal(3, clock.Waits);
        await StoredContent.AssertAsync(place, "slow.full.backup", content);
    }

    [Fact]
    public async Task An_upload_that_is_given_up_is_aborted_and_nothing_is_there()
    {
        await using var proxy = new S3Proxy(Server.Port);
        using BackupDestination place = Open(proxy.Url, new HastyClock());
        await using (BackupUpload upload = await place.CreateAsync("lost.full.backup", Cancel))
            await upload.WriteAsync(StoredContent.Draw(PartBytes + 1), Cancel);
        Assert.Contains(
            proxy.Requests,
            static request => request.StartsWith("DELETE ", StringComparison.Ordinal)
                && request.Contains("uploadId=", StringComparison.Ordinal));
        Assert.Empty(await place.ListAsync("", Cancel));
    }

    [Fact]
    public async Task Wrong_keys_a_missing_bucket_a_closed_door_and_nobody_there_are_told_apart_before_the_work_begins()
    {
        string url = $"http://127.0.0.1:{Server.Port}";
        await FailAsync(Open(url, new HastyClock(), access: "wrong-5b1"), DestinationFault.KeysRefused);
        await FailAsync(Open(url, new HastyClock(), bucket: "nothing-here"), DestinationFault.Missing);
        await using (var closed = new S3Proxy(Server.Port)
        {
            Refuses = (
                int.MaxValue,
                "HTTP/1.1 403 Forbidden\r\nContent-Length: 40\r\nConnection: "
                    + "close\r\n\r\n<Error><Code>AccessDenied</Code></Error>")
        })
            await FailAsync(Open(closed.Url, new HastyClock()), DestinationFault.Forbidden);
        await Server.KillAsync();
        await FailAsync(Open(url, new HastyClock()), DestinationFault.Unreachable);
    }

    [Theory]
    [InlineData("RequestTimeTooSkewed", DestinationFault.ClockSkew)]
    [InlineData("SignatureDoesNotMatch", DestinationFault.KeysRefused)]
    [InlineData("ExpiredToken", DestinationFault.KeysRefused)]
    [InlineData("AuthorizationHeaderMalformed", DestinationFault.BadAddress)]
    [InlineData("XMinioStorageFull", DestinationFault.NoRoom)]
    [InlineData("SomethingNew", DestinationFault.Failed)]
    public void Codes_of_the_protocol_have_words(string code, DestinationFault fault)
    {
        DestinationException error = S3Errors.Explain(
            "s3://backups",
            new Amazon.S3.AmazonS3Exception("quoted-2d7") { ErrorCode = code, StatusCode = System.Net.HttpStatusCode.Forbidden },
            1);
        Assert.Equal(fault, error.Fault);
        Assert.DoesNotContain("quoted-2d7", error.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("s3://Up_per/x", "no name of a bucket")]
    [InlineData("s3://backups/x?endpoint=nowhere", "'endpoint'")]
    [InlineData("s3://backups/x?part-mb=4", "'part-mb'")]
    [InlineData("s3://backups/x?secret=hidden-3c2", "'secret'")]
    public void Addresses_that_are_none_are_refused_and_nothing_secret_is_said_again(string address, string expected)
    {
        DestinationException error = Assert.Throws<DestinationException>(
            () => new S3DestinationProvider().Open(new DestinationSettings { Address = address }));
        Assert.Equal(DestinationFault.BadAddress, error.Fault);
        Assert.Contains(expected, error.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("hidden-3c2", error.ToString(), StringComparison.Ordinal);
    }

    private static async Task FailAsync(BackupDestination place, DestinationFault fault)
    {
        using BackupDestination opened = place;
        DestinationException error = await Assert.ThrowsAsync<DestinationException>(() => opened.ProbeAsync(0, Cancel));
        Assert.True(fault == error.Fault, error.ToString());
        Assert.DoesNotContain("wrong-5b1", error.ToString(), StringComparison.Ordinal);
    }

    private static BackupDestination Open(
        string url, TimeProvider clock, string access = S3Server.AccessKey,
        string bucket = "backups") => new S3DestinationProvider(clock, static () => 0.5).Open(
        new DestinationSettings
        {
            Address = $"s3://{bucket}/of/tests?endpoint={url}&part-mb=5",
            AccessKey = access,
            SecretKey = S3Server.SecretKey
        });

    /// <summary>The parts whose sending was begun, in their order.</summary>
    private static string[] Parts(S3Proxy proxy) =>
        [.. proxy.Requests.Where(static request => request.Contains("partNumber=", StringComparison.Ordinal))
            .Select(static request => request.Split("partNumber=")[1].Split('&')[0])];

    private async Task<bool> AnswersAsync()
    {
        using var client = new System.Net.Sockets.TcpClient();
        try
        {
            await client.ConnectAsync(System.Net.IPAddress.Loopback, Server.Port, Cancel);
            return true;
        }
        catch (System.Net.Sockets.SocketException)
        {
            return false;
        }
    }
}
