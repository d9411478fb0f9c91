using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Treepie.CommandLine;
using Treepie.CommandLine.Certificates;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.CommandLine;

/// <summary><c>treepie secure</c>, and a server started with what it made.</summary>
public sealed class SecureCommandTests : IDisposable
{
    private readonly TemporaryDirectory _files = new();

    private string Data => Path.Combine(_files.Path, "data");

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task What_it_makes_secures_a_server_and_is_renewed_while_that_runs()
    {
        CommandLineProcess made = await CommandLineProcess.SucceedAsync("secure", Data, "--name", "localhost");
        Assert.Contains($"--certificate \"{File("server.pem")}\" --admin-certificate \"{File("admin.crt")}\"", made.Output,
            StringComparison.Ordinal);
        await using ServerProcess server = await ServerProcess.StartAsync(
            Data, "--urls", "https://127.0.0.1:0", "--certificate", File("server.pem"), "--admin-certificate", File("admin.crt"));
        string[] identity = ["--url", server.Url, "--certificate", File("admin.pem"), "--authority", File("authority.crt")];
        await CommandLineProcess.SucceedAsync(["databases", "create", "shop", .. identity]);
        string[] keys = [.. Directory.GetFiles(Path.Combine(Data, "security")).Order(StringComparer.Ordinal).Select(KeyOf)];
        string thumbprint = X509CertificateLoader.LoadCertificateFromFile(File("server.pem")).Thumbprint;

        await CommandLineProcess.SucceedAsync("secure", Data, "--renew");
        Assert.NotEqual(thumbprint, X509CertificateLoader.LoadCertificateFromFile(File("server.pem")).Thumbprint);
        Assert.Equal(keys, Directory.GetFiles(Path.Combine(Data, "security")).Order(StringComparer.Ordinal).Select(KeyOf));
        identity[3] = File("admin.pfx"); // the renewed one, whose key the server knows
        Assert.Equal("shop\n", (await CommandLineProcess.SucceedAsync(["databases", "list", .. identity])).Output);

        CommandLineProcess trustless = await CommandLineProcess.RunAsync(["databases", "list", .. identity[..4]]);
        Assert.Equal(1, trustless.ExitCode);
        Assert.Contains("--authority", trustless.Error, StringComparison.Ordinal);
        CommandLineProcess nobody = await CommandLineProcess.RunAsync(["databases", "list", .. identity[..2], .. identity[4..]]);
        Assert.Equal(1, nobody.ExitCode);
        Assert.Contains("requires a client certificate", nobody.Error, StringComparison.Ordinal);
        CommandLineProcess wrong = await CommandLineProcess.RunAsync("databases", "list", "--certificate", File("authority.crt"));
        Assert.Equal(2, wrong.ExitCode);
        Assert.Equal(0, await server.StopAsync());
    }

    [Fact]
    public void What_is_renewed_in_the_second_in_which_it_was_made_ends_later_as_servers_want_it()
    {
        var folder = new SecurityFolder(Data, new StandingClock());
        folder.Create(["localhost"]);
        DateTime before = End();
        for (int renewal = 1; renewal <= 2; renewal++)
        {
            folder.Renew(null);
            Assert.Equal(before.AddSeconds(renewal), End());
        }

        DateTime End()
        {
            using X509Certificate2 admin = X509CertificateLoader.LoadCertificateFromFile(File("admin.crt"));
            return admin.NotAfter;
        }
    }

    [Fact]
    public void Where_the_authority_ends_too_soon_for_a_renewal_nothing_is_written()
    {
        var clock = new StandingClock();
        var folder = new SecurityFolder(Data, clock);
        folder.Create(["localhost"]);
        clock.Years = 66;
        folder.Renew(null); // until the authority ends
        byte[] admin = System.IO.File.ReadAllBytes(File("admin.pem")), server = System.IO.File.ReadAllBytes(File("server.pem"));
        clock.Years = 67;
        UsageException error = Assert.Throws<UsageException>(() => folder.Renew(null));
        Assert.Contains("authority", error.Message, StringComparison.Ordinal);
        Assert.Equal(admin, System.IO.File.ReadAllBytes(File("admin.pem")));
        Assert.Equal(server, System.IO.File.ReadAllBytes(File("server.pem")));
    }

    [Fact]
    public async Task Files_are_for_their_owner_and_those_that_are_there_are_left_alone()
    {
        await CommandLineProcess.SucceedAsync("secure", Data, "--name", "db.example.com", "--name", "192.0.2.7");
        string[] files = Directory.GetFiles(Path.Combine(Data, "security"));
        Assert.Equal(["admin.crt", "admin.pem", "admin.pfx", "authority.crt", "authority.key", "server.pem"],
            files.Select(Path.GetFileName).Order(StringComparer.Ordinal));
        if (!OperatingSystem.IsWindows())
        {
            foreach (string file in files)
                Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, System.IO.File.GetUnixFileMode(file));
        }

        using X509Certificate2 server = X509CertificateLoader.LoadCertificateFromFile(File("server.pem"));
        Assert.All((string[])["db.example.com", "192.0.2.7", "localhost", "127.0.0.1"], name =>
            Assert.True(server.MatchesHostname(name), name));
        Assert.False(server.MatchesHostname("example.com"));
        string[] before = [.. files.Select(System.IO.File.ReadAllText)];
        CommandLineProcess again = await CommandLineProcess.RunAsync("secure", Data);
        Assert.Equal(2, again.ExitCode);
        Assert.Contains("already", again.Error, StringComparison.Ordinal);
        Assert.Equal(before, files.Select(System.IO.File.ReadAllText));
        Assert.Equal(2, (await CommandLineProcess.RunAsync("secure", Path.Combine(_files.Path, "other"), "--renew")).ExitCode);
        Assert.Equal(2,
            (await CommandLineProcess.RunAsync("secure", Path.Combine(_files.Path, "other"), "--name", "no name")).ExitCode);
        Assert.False(Directory.Exists(Path.Combine(_files.Path, "other")));
    }

    private sealed class StandingClock : TimeProvider
    {
        public int Years { get; set; } = 60;

        public override DateTimeOffset GetUtcNow() => DateTimeOffset.UnixEpoch.AddYears(Years);
    }

    private string File(string name) => Path.Combine(Data, "security", name);

    private static string KeyOf(string path) => path.EndsWith(".key", StringComparison.Ordinal)
        || path.EndsWith(".pfx", StringComparison.Ordinal)
        ? Path.GetFileName(path)
        : Convert.ToHexString(
        SHA256.HashData(X509CertificateLoader.LoadCertificateFromFile(path).PublicKey.ExportSubjectPublicKeyInfo()));
}
