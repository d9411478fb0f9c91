using System.Net;
using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using System.Text.Json;
using Treepie.Server.Hosting;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Support;

/// <summary>
/// The server's program with TLS, inside the test, and its clients with whatever certificates a test gives them.
/// </summary>
internal sealed class SecuredServer : IAsyncDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly StringWriter _error = new();
    private readonly WrittenLog _log = new();
    private LineInput _input = new();
    private Task<int> _run = Task.FromResult(0);

    private SecuredServer(TestAuthority authority)
    {
        Authority = authority;
        Admin = authority.Client("admin");
        File.WriteAllText(CertificatePath, authority.ServerPem(out string thumbprint));
        OwnOnly(CertificatePath);
        Thumbprint = thumbprint;
        File.WriteAllText(AdminPath, Admin.ExportCertificatePem() + "\n" + authority.Certificate.ExportCertificatePem());
    }

    public TestAuthority Authority { get; }

    public string Url { get; private set; } = "";

    /// <summary>Of the certificate it began with.</summary>
    public string Thumbprint { get; }

    public X509Certificate2 Admin { get; }

    public string CertificatePath => Path.Combine(_directory.Path, "server.pem");

    public string AdminPath => Path.Combine(_directory.Path, "admin.crt");

    public string Data => Path.Combine(_directory.Path, "data");

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public static async Task<SecuredServer> StartAsync(params string[] arguments)
    {
        var server = new SecuredServer(new TestAuthority());
        await server.BeginAsync(["--admin-certificate", server.AdminPath, .. arguments]);
        return server;
    }

    public static void OwnOnly(string path)
    {
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite);
    }

    /// <summary>Stops it and starts it again on the same data, with other administrators or none.</summary>
    public async Task RestartAsync(params string[] arguments)
    {
        await StopAsync();
        await BeginAsync(arguments);
    }

    /// <summary>A client with a certificate, or without one.</summary>
    public HttpClient Client(X509Certificate2? certificate, Version? version = null)
    {
        var options = new SslClientAuthenticationOptions
        {
            TargetHost = "localhost",
            CertificateChainPolicy = new X509ChainPolicy
            {
                TrustMode = X509ChainTrustMode.CustomRootTrust,
                RevocationMode = X509RevocationMode.NoCheck
            },
        };
        options.CertificateChainPolicy.CustomTrustStore.Add(Authority.Certificate);
        if (certificate is not null)
            options.ClientCertificateContext = SslStreamCertificateContext.Create(certificate, null, offline: true);
        return new HttpClient(new SocketsHttpHandler { SslOptions = options, UseProxy = false })
        {
            BaseAddress = new Uri(Url),
            DefaultRequestVersion = version ?? HttpVersion.Version20,
            DefaultVersionPolicy = HttpVersionPolicy.RequestVersionExact,
        };
    }

    /// <summary>Sends one request over a connection of its own.</summary>
    public async Task<(int Status, string Body)> SendAsync(X509Certificate2? certificate, HttpMethod method, string path,
        string? body = null)
    {
        using HttpClient client = Client(certificate);
        using var request = new HttpRequestMessage(method, path)
        {
            Version = client.DefaultRequestVersion,
            VersionPolicy = client.DefaultVersionPolicy
        };
        if (body is not null)
            request.Content = new StringContent(body, Encoding.UTF8, "application/json");
        using HttpResponseMessage response = await client.SendAsync(request, Cancelled);
        return ((int)response.StatusCode, await response.Content.ReadAsStringAsync(Cancelled));
    }

    public Task<(int Status, string Body)> GetAsync(X509Certificate2? certificate, string path) =>
        SendAsync(certificate, HttpMethod.Get, path);

    /// <summary>As administrator; must succeed.</summary>
    public async Task<string> AdministerAsync(HttpMethod method, string path, string? body = null)
    {
        (int status, string answer) = await SendAsync(Admin, method, path, body);
        Assert.True(status < 300, $"{method} {path}: {status} {answer}");
        return answer;
    }

    /// <summary>Registers a certificate.</summary>
    public Task RegisterAsync(X509Certificate2 certificate, string clearance = "ValidUser", string permissions = "{}",
        bool withAuthority = true)
    {
        string pem = certificate.ExportCertificatePem()
            + (withAuthority ? "\n" + Authority.Certificate.ExportCertificatePem() : "");
        return AdministerAsync(HttpMethod.Put, "/admin/certificates",
            Definition("somebody", clearance, permissions, Convert.ToBase64String(Encoding.ASCII.GetBytes(pem))));
    }

    public static string Definition(string name, string clearance, string permissions, string certificate) =>
        $$"""{"Name":{{JsonSerializer.Serialize(name)}},"SecurityClearance":"{{clearance}}","Permissions":{{permissions}},"Certificate":"{{certificate}}"}""";

    /// <summary>All it has written to its log and to standard error.</summary>
    public string Error => _error.ToString() + _log.Text;

    public async Task StopAsync()
    {
        if (!_run.IsCompleted)
            _input.Send("q");
        Assert.Equal(0, await _run);
    }

    /// <summary>Stops it; what it has written and what it keeps must not hold a secret.</summary>
    public async Task StopAndLookForAsync(string secret)
    {
        await StopAsync();
        Assert.DoesNotContain(secret, Error, StringComparison.Ordinal);
        byte[] bytes = Encoding.UTF8.GetBytes(secret);
        foreach (string file in Directory.EnumerateFiles(Data, "*", SearchOption.AllDirectories))
            Assert.True((await File.ReadAllBytesAsync(file, Cancelled)).AsSpan().IndexOf(bytes) < 0, $"'{secret}' is in {file}.");
    }

    public async ValueTask DisposeAsync()
    {
        if (!_run.IsCompleted)
            _input.Send("q");
        await _run;
        _input.Dispose();
        _log.Dispose();
        Admin.Dispose();
        Authority.Dispose();
        _directory.Dispose();
    }

    private async Task BeginAsync(string[] arguments)
    {
        _input.Dispose();
        _input = new LineInput();
        var output = new AddressWriter();
        _run = new ServerProgram(_input, output, _error, _log).RunAsync(
            ["--data", Data, "--urls", "https://127.0.0.1:0", "--certificate", CertificatePath, .. arguments], Cancelled);
        Task first = await Task.WhenAny(_run, output.Address);
        Assert.True(first == output.Address, $"The server ended: {_error}");
        Url = await output.Address;
    }
}
