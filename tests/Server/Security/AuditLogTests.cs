using System.Security.Cryptography.X509Certificates;
using Microsoft.AspNetCore.Http;
using Treepie.Server.Security;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Security;

/// <summary>What is written down of who did what, and what never is.</summary>
public sealed class AuditLogTests
{
    [Fact]
    public async Task Administration_refusals_and_certificates_are_written_down_without_what_they_said()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        using X509Certificate2 reader = server.Authority.Client("reader");
        await server.AdministerAsync(
            HttpMethod.Put, "/admin/databases?name=shop", """{"DatabaseName":"shop","Settings":{"Key":"a secret in a body"}}""");
        await server.RegisterAsync(reader, permissions: """{"shop":"Read"}""");
        Assert.Equal(403,
            (await server.SendAsync(reader, HttpMethod.Put, "/databases/shop/docs?id=a-secret-in-a-query", "{}")).Status);
        Assert.Equal(200, (await server.GetAsync(reader, "/databases/shop/stats")).Status);
        await server.AdministerAsync(HttpMethod.Delete, $"/admin/certificates?thumbprint={reader.Thumbprint}");
        await server.StopAsync();
        string[] lines = [.. server.Error.Split('\n').Where(static line =>
            line.StartsWith(AuditLog.Category, StringComparison.Ordinal))];
        string[] expected =
        [
            $"Passed PUT /admin/databases from 127.0.0.1 by {server.Admin.Thumbprint} on the server",
                $"Passed PUT /admin/certificates from 127.0.0.1 by {server.Admin.Thumbprint}",
            $"Certificate registered: {reader.Thumbprint} with clearance ValidUser",
                $"Refused PUT /databases/shop/docs from 127.0.0.1 by {reader.Thumbprint}",
            $"Passed DELETE /admin/certificates from 127.0.0.1 by {server.Admin.Thumbprint}",
                $"Certificate deleted: {reader.Thumbprint}",
        ];
        Assert.Equal(expected.Length, lines.Length);
        foreach ((string line, string start) in lines.Zip(expected))
            Assert.StartsWith($"{AuditLog.Category}: {start}", line, StringComparison.Ordinal);
        Assert.DoesNotContain("secret", server.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Refusals_beyond_twenty_a_second_are_counted_and_a_path_begins_no_line()
    {
        var clock = new TestClock();
        using var log = new WrittenLog();
        var audit = new AuditLog(log.CreateLogger("audit"), clock);
        var http = new DefaultHttpContext();
        http.Request.Method = "GET";
        http.Request.Path = "/a\r\naudit: forged";
        for (int i = 0; i < 50; i++)
            audit.Refused(http, null, "no");
        clock.Advance(TimeSpan.FromSeconds(1));
        audit.Refused(http, null, "no");
        string[] lines = log.Text.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(21, lines.Length);
        Assert.Contains("that are not told: 30", lines[^1], StringComparison.Ordinal);
        Assert.All(lines, static line =>
            Assert.StartsWith("audit: Refused GET /a??audit: forged", line, StringComparison.Ordinal));
    }
}
