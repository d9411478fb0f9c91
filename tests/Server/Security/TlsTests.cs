using System.Diagnostics.CodeAnalysis;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using System.Text.Json;
using Treepie.Server.Hosting;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Security;

/// <summary>TLS of the server's program: what it listens with, when it refuses to, and how its certificate is renewed.</summary>
public sealed class TlsTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(1, 1)]
    [InlineData(2, 0)]
    public async Task Both_versions_of_HTTP_are_spoken(int major, int minor)
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        using HttpClient client = server.Client(server.Admin, new Version(major, minor));
        using HttpResponseMessage response = await client.GetAsync("/databases", Cancelled);
        Assert.Equal((HttpStatusCode.OK, new Version(major, minor)), (response.StatusCode, response.Version));
    }

    [Fact]
    public async Task A_renewed_certificate_counts_from_the_next_connection_and_a_broken_one_never()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        Assert.Equal(server.Thumbprint, await ThumbprintAsync(server));
        string renewed = server.Authority.ServerPem(out string thumbprint);
        await File.WriteAllTextAsync(server.CertificatePath, renewed[..(renewed.Length / 2)], Cancelled);
        Assert.Equal(server.Thumbprint, await ThumbprintAsync(server));
        Assert.Equal(server.Thumbprint, await ThumbprintAsync(server));
        await File.WriteAllTextAsync(server.CertificatePath, renewed, Cancelled);
        Assert.Equal(thumbprint, await ThumbprintAsync(server));
        Assert.Equal(200, (await server.GetAsync(server.Admin, "/databases")).Status);
        await server.StopAsync();
        Assert.Equal(2, server.Error.Split("stays in use").Length); // told once
    }

    [Fact]
    public async Task A_PFX_with_a_password_and_a_key_in_a_file_of_its_own_are_taken()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        using X509Certificate2 own = X509Certificate2.CreateFromPemFile(server.CertificatePath);
        string pfx = server.CertificatePath + ".pfx", password = server.CertificatePath + ".password",
            key = server.CertificatePath + ".key";
        await File.WriteAllBytesAsync(pfx, own.ExportPkcs12(Pkcs12ExportPbeParameters.Pbes2Aes256Sha256, "open sesame"),
            Cancelled);
        await File.WriteAllTextAsync(password, "open sesame\n", Cancelled);
        string pem = await File.ReadAllTextAsync(server.CertificatePath, Cancelled);
        await File.WriteAllTextAsync(key, pem[pem.LastIndexOf("-----BEGIN", StringComparison.Ordinal)..], Cancelled);
        foreach (string secret in (string[])[pfx, password, key])
            SecuredServer.OwnOnly(secret);
        await server.RestartAsync("--admin-certificate", server.AdminPath, "--certificate", pfx, "--certificate-password",
            $"file:{password}");
        Assert.Equal(200, (await server.GetAsync(server.Admin, "/databases")).Status);
        await server.RestartAsync("--admin-certificate", server.AdminPath, "--certificate-key", key);
        Assert.Equal(200, (await server.GetAsync(server.Admin, "/databases")).Status);
    }

    [Fact]
    public async Task What_cannot_be_secured_does_not_start_and_creates_nothing()
    {
        using var authority = new TestAuthority();
        using var directory = new TemporaryDirectory();
        string data = Path.Combine(directory.Path, "data"), pem = Path.Combine(directory.Path, "s.pem"),
            pfx = Path.Combine(directory.Path, "s.pfx"), password = Path.Combine(directory.Path, "password");
        await File.WriteAllTextAsync(pem, authority.ServerPem(out _), Cancelled);
        SecuredServer.OwnOnly(pem);
        using X509Certificate2 own = X509Certificate2.CreateFromPemFile(pem);
        await File.WriteAllBytesAsync(pfx, own.ExportPkcs12(Pkcs12ExportPbeParameters.Pbes2Aes256Sha256, "right"), Cancelled);
        await File.WriteAllTextAsync(password, "wrong-but-secret", Cancelled);
        SecuredServer.OwnOnly(pfx);
        SecuredServer.OwnOnly(password);
        foreach ((string hint, string[] arguments) in ((string, string[])[])
                 [
                     ("no certificate of an administrator", ["--certificate", pem]),
                     ("cannot be used",
                         ["--certificate", pfx, "--certificate-password", $"file:{password}", "--admin-certificate", pem]),
                     ("cannot be used", ["--certificate", Path.Combine(directory.Path, "none.pem"), "--admin-certificate", pem]),
                     ("cannot be read", ["--certificate", pem, "--admin-certificate", Path.Combine(directory.Path, "none.crt")]),
                 ])
        {
            (int exitCode, string error) = await RunAsync(data, arguments);
            Assert.True(exitCode == ExitCodes.CannotStart, error);
            Assert.Contains(hint, error, StringComparison.Ordinal);
            Assert.DoesNotContain("wrong-but-secret", error, StringComparison.Ordinal);
            Assert.False(Directory.Exists(data), hint);
        }
    }

    [Fact]
    public async Task A_private_key_that_every_account_can_read_is_refused()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "Windows has no such modes.");
        using var authority = new TestAuthority();
        using var directory = new TemporaryDirectory();
        string pem = Path.Combine(directory.Path, "s.pem");
        await File.WriteAllTextAsync(pem, authority.ServerPem(out _), Cancelled);
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(pem, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.OtherRead);
        (int exitCode, string error) = await RunAsync(Path.Combine(directory.Path, "data"),
            ["--certificate", pem, "--admin-certificate", pem]);
        Assert.Equal(ExitCodes.CannotStart, exitCode);
        Assert.Contains("chmod o-rw", error, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(null, null)]
    [InlineData("https://db.example.com:8443/", "https://db.example.com:8443")]
    public async Task Clients_are_told_the_public_address_and_foreign_hosts_are_refused(string? publicUrl, string? told)
    {
        await using SecuredServer server = await SecuredServer.StartAsync(publicUrl is null ? [] : ["--public-url", publicUrl]);
        await server.AdministerAsync(HttpMethod.Put, "/admin/databases?name=shop");
        using var topology = JsonDocument.Parse(await server.AdministerAsync(HttpMethod.Get, "/topology?name=shop"));
        Assert.Equal(told ?? server.Url, topology.RootElement.GetProperty("Nodes")[0].GetProperty("Url").GetString());
        foreach ((string host, int expected) in ((string, int)[])[("db.example.com:8443", publicUrl is null ? 403 : 200),
            ("evil.example", 403), ("localhost", 200)])
        {
            await using SslStream tls = await ConnectAsync(server, server.Admin);
            await tls.WriteAsync(Encoding.ASCII.GetBytes($"GET /databases HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"),
                Cancelled);
            using var reader = new StreamReader(tls, Encoding.ASCII);
            Assert.Equal($"{host}: HTTP/1.1 {expected}", $"{host}: {(await reader.ReadLineAsync(Cancelled))?[..12]}");
        }
    }

    /// <summary>By bytes, because the system's own library may refuse to ask so.</summary>
    [Theory]
    [InlineData(0x0301, false)] // 1.0
    [InlineData(0x0302, false)] // 1.1
    [InlineData(0x0303, true)] // 1.2
    public async Task Old_versions_of_tls_are_refused(int version, bool isTaken)
    {
        const byte Handshake = 22, Alert = 21;
        await using SecuredServer server = await SecuredServer.StartAsync();
        var url = new Uri(server.Url);
        using var tcp = new TcpClient();
        await tcp.ConnectAsync(url.Host, url.Port, Cancelled);
        NetworkStream stream = tcp.GetStream();
        await stream.WriteAsync(ClientHello(version), Cancelled);
        byte[] header = new byte[7];
        int read = await stream.ReadAtLeastAsync(header, header.Length, throwOnEndOfStream: false, Cancelled);
        if (isTaken)
            Assert.Equal(Handshake, header[0]);
        else
            Assert.True(read == 0 || header[0] == Alert, $"The server answered with a record of type {header[0]}.");
    }

    private static byte[] ClientHello(int version)
    {
        byte[] suites = [0xC0, 0x2F, 0xC0, 0x2B, 0xC0, 0x13, 0xC0, 0x14, 0x00, 0x2F]; // ECDHE with GCM and with CBC, RSA
        byte[] extensions =
        [
            0x00, 0x0A, 0x00, 0x06, 0x00, 0x04, 0x00, 0x17, 0x00, 0x18, // groups: P-256, P-384
            0x00, 0x0B, 0x00, 0x02, 0x01, 0x00, // points: uncompressed
            // signatures: RSA, RSA-PSS and ECDSA with SHA-256
            0x00, 0x0D, 0x00, 0x08, 0x00, 0x06, 0x04, 0x01, 0x08, 0x04, 0x04, 0x03,
        ];
        byte[] body =
        [
            (byte)(version >> 8), (byte)version, .. RandomNumberGenerator.GetBytes(32), 0, 0, (byte)suites.Length, .. suites, 1,
            0, 0, (byte)extensions.Length, .. extensions,
        ];
        byte[] message = [1, 0, 0, (byte)body.Length, .. body];
        return [22, 3, 1, 0, (byte)message.Length, .. message];
    }

    private static async Task<(int ExitCode, string Error)> RunAsync(string data, string[] arguments)
    {
        var error = new StringWriter();
        int exitCode = await new ServerProgram(TextReader.Null, TextWriter.Null, error).RunAsync(
            ["--data", data, "--urls", "https://127.0.0.1:0", .. arguments], Cancelled);
        return (exitCode, error.ToString());
    }

    // The certificate that the server shows to a new connection.
    private static async Task<string?> ThumbprintAsync(SecuredServer server)
    {
        await using SslStream tls = await ConnectAsync(server);
        return tls.RemoteCertificate?.GetCertHashString();
    }

    [SuppressMessage("Security", "CA5359", Justification = "Looks at the certificate, whatever it is.")]
    private static async Task<SslStream> ConnectAsync(SecuredServer server, X509Certificate2? certificate = null)
    {
        var url = new Uri(server.Url);
        var tcp = new TcpClient();
        await tcp.ConnectAsync(url.Host, url.Port, Cancelled);
        var tls = new SslStream(tcp.GetStream(), leaveInnerStreamOpen: false);
        await tls.AuthenticateAsClientAsync(
            new SslClientAuthenticationOptions
            {
                TargetHost = "localhost",
                ClientCertificateContext = certificate is null
                    ? null
                    : SslStreamCertificateContext.Create(certificate, null, offline: true),
                RemoteCertificateValidationCallback = static (_, _, _, _) => true,
            },
            Cancelled);
        return tls;
    }
}
