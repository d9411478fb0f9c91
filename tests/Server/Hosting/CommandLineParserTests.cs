using Treepie.Server.Hosting;
using Treepie.Server.Security;

namespace Treepie.Server.Tests.Hosting;

public sealed class CommandLineParserTests
{
    [Fact]
    public void Own_options_take_their_value_after_a_space_or_an_equals_sign()
    {
        ProgramOptions options = CommandLineParser.Parse(
            ["--data", "/tmp/a", "--urls=http://127.0.0.1:1;http://[::1]:2", "--demo"]);
        Assert.Equal("/tmp/a", options.DataDirectory);
        Assert.Equal(["http://127.0.0.1:1", "http://[::1]:2"], options.Urls);
        Assert.True(options.Demo);
    }

    [Fact]
    public void Settings_in_RavenDBs_form_are_done_or_named_as_ignored()
    {
        ProgramOptions options = CommandLineParser.Parse(
        [
            "--ServerUrl=http://127.0.0.1:0", "--DataDir=/tmp/b", "--Setup.Mode=None", "--License.Eula.Accepted=true",
            "--Security.UnsecuredAccessAllowed=PublicNetwork", "--Features.Availability=Experimental",
            "--ServerUrl.Tcp=tcp://127.0.0.1:0",
            "--Testing.ParentProcessId=1", "--non-interactive", "--no-setup-wizard",
        ]);
        Assert.Equal(["http://127.0.0.1:0"], options.Urls);
        Assert.Equal("/tmp/b", options.DataDirectory);
        Assert.Equal(1, options.ParentProcessId);
        Assert.Equal(
            ["--Setup.Mode", "--License.Eula.Accepted", "--Security.UnsecuredAccessAllowed", "--Features.Availability", "--ServerUrl.Tcp", "--non-interactive",
                "--no-setup-wizard"],
            options.Ignored);
        Assert.Null(CommandLineParser.Parse(["--RunInMemory=true"]).DataDirectory);
    }

    [Fact]
    public void Places_endpoints_and_keys_that_requests_may_name_are_given_by_name()
    {
        ProgramOptions options = CommandLineParser.Parse(
            ["--backup-folder", "a=/backups", "--backup-folder=b=s3://bucket/x?region=eu-west-1", "--s3-endpoint=https://minio:9000", "--key-source", "k=file:/keys/k"]);
        Assert.Equal([("a", "/backups"), ("b", "s3://bucket/x?region=eu-west-1")], options.BackupFolders);
        Assert.Equal([new Uri("https://minio:9000")], options.S3Endpoints);
        Assert.Equal(("k", "The key file '/keys/k'"), (options.KeySources[0].Name, options.KeySources[0].Source.Description));
    }

    [Theory]
    [InlineData("--dta", "dta")]
    [InlineData("data", "two dashes")]
    [InlineData("--data", "needs a value")]
    [InlineData("--max-request-bytes=many", "many")]
    [InlineData("--demo=perhaps", "perhaps")]
    [InlineData("--backup-folder=/backups", "nightly=/backups")]
    [InlineData("--backup-folder=../x=/backups", "'../x'")]
    [InlineData("--s3-endpoint=minio:9000", "minio:9000")]
    [InlineData("--s3-endpoint=https://name:secret@minio", "must be an address")]
    [InlineData("--key-source=offsite=AAAA", "where it is")]
    public void What_is_not_understood_is_named(string argument, string hint) =>
        Assert.Contains(
            hint, Assert.Throws<CommandLineException>(() => CommandLineParser.Parse([argument])).Message,
            StringComparison.Ordinal);

    [Theory]
    [InlineData("http://0.0.0.0:8080")]
    [InlineData("http://*:8080")]
    [InlineData("http://+:8080")]
    [InlineData("http://[::]:8080")]
    [InlineData("http://192.168.1.1:8080")]
    [InlineData("http://example.com:8080")]
    [InlineData("http://127.0.0.1.nip.io:8080")]
    public void Addresses_that_other_machines_reach_are_refused_with_the_reason(string url) =>
        Assert.Contains(
            "password", Assert.Throws<CommandLineException>(() => BindAddress.Parse(url)).Message, StringComparison.Ordinal);

    [Theory]
    [InlineData("https://127.0.0.1:8080/path")]
    [InlineData("https://db.example.com:8080")]
    [InlineData("ftp://127.0.0.1")]
    [InlineData("127.0.0.1:8080")]
    [InlineData("http://127.0.0.1:8080/path")]
    [InlineData("nonsense")]
    public void What_is_no_address_here_is_refused(string url) =>
        Assert.Throws<CommandLineException>(() => BindAddress.Parse(url));

    [Theory]
    [InlineData("http://127.0.0.1:8080", 8080)]
    [InlineData("http://127.0.0.53:0", 0)]
    [InlineData("http://[::1]:81/", 81)]
    [InlineData("http://LOCALHOST", 80)]
    public void Loopback_addresses_are_accepted(string url, int port) => Assert.Equal(port, BindAddress.Parse(url).Port);

    [Theory]
    [InlineData("https://0.0.0.0:8443", "0.0.0.0")]
    [InlineData("https://*:8443", "::")]
    [InlineData("https://192.0.2.7:8443", "192.0.2.7")]
    [InlineData("https://localhost:8443", null)]
    public void With_TLS_every_address_is_accepted(string url, string? address)
    {
        BindAddress parsed = BindAddress.Parse(url);
        Assert.Equal((address, 8443, true), (parsed.Address?.ToString(), parsed.Port, parsed.IsTls));
    }

    [Fact]
    public void Options_of_security_are_read_in_both_forms()
    {
        ProgramOptions own = CommandLineParser.Parse(
            ["--certificate", "/s.pem", "--certificate-key=/s.key", "--certificate-password", "env:SECRET", "--admin-certificate", "/a.crt", "--public-url=https://db.example.com:8443"]);
        Assert.Equal(
            ("/s.pem", "/s.key", "env:SECRET"), (own.Certificate, own.CertificateKey, own.CertificatePassword?.ToString()));
        Assert.Equal(["/a.crt"], own.AdminCertificates);
        Assert.Equal(new Uri("https://db.example.com:8443"), own.PublicUrl);
        ProgramOptions foreign = CommandLineParser.Parse(
            ["--Security.Certificate.Path=/s.pfx", "--Security.WellKnownCertificates.Admin=AA;BB", "--PublicServerUrl=https://db.example.com"]);
        Assert.Equal(("/s.pfx", "https://db.example.com/"), (foreign.Certificate, foreign.PublicUrl?.AbsoluteUri));
        Assert.Equal(["AA", "BB"], foreign.AdminCertificates);
    }

    [Theory]
    [InlineData("--certificate-password=hunter2")]
    [InlineData("--Security.Certificate.Password=hunter2")]
    public void A_password_itself_is_refused_and_not_repeated(string argument)
    {
        string message = Assert.Throws<CommandLineException>(() => CommandLineParser.Parse([argument])).Message;
        Assert.DoesNotContain("hunter2", message, StringComparison.Ordinal);
        Assert.Contains("env:NAME", message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("needs --certificate", "--urls=https://localhost:1")]
    [InlineData("beside https://", "--urls=https://localhost:1;http://localhost:2", "--certificate=/s.pem")]
    [InlineData("--urls https://", "--urls=http://localhost:1", "--certificate=/s.pem")]
    [InlineData("asks nobody", "--urls=http://localhost:1", "--admin-certificate=/a.crt")]
    public void Addresses_and_certificates_that_do_not_go_together_are_refused(string hint, params string[] arguments)
    {
        ProgramOptions options = CommandLineParser.Parse(arguments);
        BindAddress[] addresses = [.. options.Urls!.Select(BindAddress.Parse)];
        Assert.Contains(
            hint, Assert.Throws<CommandLineException>(() => ServerSecurity.Check(options, addresses)).Message,
            StringComparison.Ordinal);
    }
}
