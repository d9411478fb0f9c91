using System.IO.Compression;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json;
using Treepie.Server.Security;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Security;

/// <summary>Who is let in by which certificate, over real TLS.</summary>
public sealed class ClientCertificatesTests
{
    [Fact]
    public async Task Strangers_and_expired_and_future_certificates_are_refused_with_the_reason()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        using X509Certificate2 stranger = server.Authority.Client("stranger"),
            expired = server.Authority.Client("expired", -30, -1), future = server.Authority.Client("future", 1);
        using X509Certificate2 user = server.Authority.Client("user");
        await server.RegisterAsync(user);
        await server.RegisterAsync(future);
        (int status, string body) = await server.SendAsync(server.Admin, HttpMethod.Put, "/admin/certificates",
            SecuredServer.Definition("late", "ValidUser", "{}", Convert.ToBase64String(expired.RawData)));
        Assert.Equal(400, status);
        Assert.Contains("expired", body, StringComparison.Ordinal);
        foreach ((X509Certificate2? certificate, int expected, string reason) in ((X509Certificate2?, int, string)[])
                 [(null, 403, "requires a client certificate or a token"), (stranger, 403, "unknown"), (
                     expired, 403, "expired at"),
                     (future, 403, "not valid before"), (user, 200, "Product")])
        {
            (status, body) = await server.GetAsync(certificate, "/build/version");
            Assert.True(status == expected, $"{reason}: {status} {body}");
            Assert.Contains(reason, body, StringComparison.Ordinal);
            if (expected == 403)
                Assert.Equal("Raven.Client.Exceptions.Security.AuthorizationException",
                    JsonDocument.Parse(body).RootElement.GetProperty("Type").GetString());
        }

        Assert.Equal(204, (await server.GetAsync(null, "/setup/alive")).Status);
    }

    [Fact]
    public async Task Rights_end_at_once_when_they_are_changed_or_the_certificate_is_deleted()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        await server.AdministerAsync(HttpMethod.Put, "/admin/databases?name=shop");
        await server.AdministerAsync(HttpMethod.Put, "/admin/databases?name=hidden");
        using X509Certificate2 user = server.Authority.Client("user");
        await server.RegisterAsync(user, permissions: """{"SHOP":"ReadWrite"}""");
        using HttpClient client = server.Client(user); // one connection for all of it
        Assert.Equal(
            """{"Databases":["shop"]}""",
            await client.GetStringAsync("/databases?namesOnly=true", TestContext.Current.CancellationToken));
        Assert.Equal("201 403 404",
            await StatusesAsync(client, ("PUT", "/databases/shop/docs?id=a"), ("GET", "/databases/hidden/stats"),
            ("GET", "/databases?name=hidden")));
        await server.AdministerAsync(
            HttpMethod.Post, "/admin/certificates/edit",
            $$"""{"Thumbprint":"{{user.Thumbprint}}","Name":"reader","SecurityClearance":"ValidUser","Permissions":{"shop":"Read"} }""");
        Assert.Equal("403 200",
            await StatusesAsync(client, ("PUT", "/databases/shop/docs?id=a"), ("GET", "/databases/shop/docs?id=a")));
        await server.AdministerAsync(HttpMethod.Delete, $"/admin/certificates?thumbprint={user.Thumbprint}");
        Assert.Equal("403", await StatusesAsync(client, ("GET", "/databases/shop/docs?id=a")));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Rights_that_are_changed_change_for_all_certificates_with_the_same_key(bool isOldChanged)
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using X509Certificate2 old = server.Authority.Client("user", key),
            renewed = server.Authority.Client("user", key, untilDays: 700);
        await server.RegisterAsync(old, "Operator");
        foreach (X509Certificate2 one in (X509Certificate2[])[renewed, old])
            Assert.Equal(200, (await server.GetAsync(one, "/admin/certificates")).Status);
        X509Certificate2 changed = isOldChanged ? old : renewed;
        await server.AdministerAsync(
            HttpMethod.Post, "/admin/certificates/edit",
            $$"""{"Thumbprint":"{{changed.Thumbprint}}","Name":"user","SecurityClearance":"ValidUser","Permissions":{} }""");
        foreach (X509Certificate2 one in (X509Certificate2[])[renewed, old])
            Assert.Equal(403, (await server.GetAsync(one, "/admin/certificates")).Status);

        await server.RegisterAsync(changed, "Operator");
        foreach (X509Certificate2 one in (X509Certificate2[])[renewed, old])
            Assert.Equal(200, (await server.GetAsync(one, "/admin/certificates")).Status);
    }

    [Fact]
    public async Task What_is_registered_outlives_the_server()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        using X509Certificate2 second = server.Authority.Client("second");
        await server.RegisterAsync(second, "ClusterAdmin");
        await server.RestartAsync(); // without the administrator of the command line
        Assert.Equal(200, (await server.GetAsync(second, "/admin/certificates")).Status);
        Assert.Equal(403, (await server.GetAsync(server.Admin, "/admin/certificates")).Status);
        await server.RestartAsync("--admin-certificate", server.Admin.GetCertHashString(HashAlgorithmName.SHA256));
        Assert.Equal(200, (await server.GetAsync(server.Admin, "/admin/certificates")).Status);
    }

    [Fact]
    public async Task A_renewed_certificate_passes_if_key_and_authority_are_those_of_the_old_one()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using var impostor = new TestAuthority(); // of the same name
        using X509Certificate2 old = server.Authority.Client("user", key),
            renewed = server.Authority.Client("user", key, untilDays: 700),
            earlier = server.Authority.Client("user", key, untilDays: 100);
        using X509Certificate2 own = TestAuthority.SelfSigned("user", key, 700),
            forged = impostor.Client("user", key, untilDays: 700), otherKey = server.Authority.Client("user", untilDays: 700);
        await server.AdministerAsync(HttpMethod.Put, "/admin/databases?name=shop");
        // the authority stands in the server's own file
        await server.RegisterAsync(old, permissions: """{"shop":"Read"}""", withAuthority: false);
        foreach (X509Certificate2 refused in (X509Certificate2[])[own, forged, otherKey, earlier])
            Assert.Equal(403, (await server.GetAsync(refused, "/databases/shop/stats")).Status);

        Assert.Equal(200, (await server.GetAsync(renewed, "/databases/shop/stats")).Status);
        Assert.Equal(403, (await server.SendAsync(renewed, HttpMethod.Put, "/databases/shop/docs?id=a", "{}")).Status);
        Assert.Contains(renewed.Thumbprint, await server.AdministerAsync(HttpMethod.Get, "/admin/certificates"),
            StringComparison.Ordinal);
        await server.AdministerAsync(HttpMethod.Delete, $"/admin/certificates?thumbprint={renewed.Thumbprint}");
        foreach (X509Certificate2 gone in (X509Certificate2[])[renewed, old])
            Assert.Equal(403, (await server.GetAsync(gone, "/databases/shop/stats")).Status);
    }

    [Fact]
    public async Task The_authority_may_come_with_the_old_certificate()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        using var authority = new TestAuthority("Their own");
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using X509Certificate2 old = authority.Client("user", key), renewed = authority.Client("user", key, untilDays: 700);
        string pem = old.ExportCertificatePem() + "\n" + authority.Certificate.ExportCertificatePem();
        await server.AdministerAsync(
            HttpMethod.Put, "/admin/certificates",
                SecuredServer.Definition("user", "ValidUser", "{}",
                Convert.ToBase64String(System.Text.Encoding.ASCII.GetBytes(pem))));
        await server.RestartAsync("--admin-certificate", server.AdminPath);
        Assert.Equal(200, (await server.GetAsync(renewed, "/build/version")).Status);
    }

    [Fact]
    public async Task A_server_with_the_most_certificates_registers_no_renewed_one()
    {
        using var directory = new TemporaryDirectory();
        using var authority = new TestAuthority();
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using X509Certificate2 old = authority.Client("user", key), renewed = authority.Client("user", key, untilDays: 700);
        CertificateEntry first = CertificateEntry.For(old, [authority.Certificate], "user", Rights.All);
        IEnumerable<CertificateEntry> others = Enumerable.Range(1, CertificateRegistry.MostCertificates - 1).Select(
            number => first with { Fingerprint = $"{number}", Thumbprint = $"{number}", Pin = $"{number}" });
        using var store = new AccessStore(directory.Path);
        using var registry = new CertificateRegistry(store, others, [], static () => [], TimeProvider.System);
        await registry.PutAsync(first);
        (CertificateEntry? entry, string? complaint) = await registry.IdentifyAsync(new PresentedCertificate(renewed));
        Assert.Null(entry);
        Assert.Contains("10,000 certificates, which is the limit", complaint, StringComparison.Ordinal);
        Assert.Equal(CertificateRegistry.MostCertificates, registry.All.Count);
        Assert.NotNull((await registry.IdentifyAsync(new PresentedCertificate(old))).Entry);

        using var roomy = new CertificateRegistry(store, others.Skip(1), [], static () => [], TimeProvider.System);
        Assert.Equal("user", (await roomy.IdentifyAsync(new PresentedCertificate(renewed))).Entry?.Name);
        Assert.Equal(CertificateRegistry.MostCertificates, roomy.All.Count);
        Assert.NotNull((await roomy.IdentifyAsync(new PresentedCertificate(renewed))).Entry);
    }

    [Fact]
    public async Task Operators_manage_users_but_no_administrators()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        using X509Certificate2 op = server.Authority.Client("op"), chief = server.Authority.Client("chief"),
            user = server.Authority.Client("user");
        await server.RegisterAsync(op, "Operator");
        await server.RegisterAsync(chief, "ClusterAdmin");
        string chiefAsUser = SecuredServer.Definition("x", "ValidUser", "{}", Convert.ToBase64String(chief.RawData));
        string userAsAdmin = SecuredServer.Definition("x", "ClusterAdmin", "{}", Convert.ToBase64String(user.RawData));
        string edit = $$"""{"Thumbprint":"{{chief.Thumbprint}}","Name":"x","SecurityClearance":"ValidUser","Permissions":{} }""";
        string promote =
            $$"""{"Thumbprint":"{{op.Thumbprint}}","Name":"x","SecurityClearance":"ClusterAdmin","Permissions":{} }""";
        foreach ((HttpMethod method, string path, string? body) in ((HttpMethod, string, string?)[])
                 [
                     (HttpMethod.Put, "/admin/certificates", chiefAsUser), (HttpMethod.Put, "/admin/certificates", userAsAdmin),
                         (HttpMethod.Post, "/admin/certificates", userAsAdmin),
                     (HttpMethod.Post, "/admin/certificates/edit", edit), (HttpMethod.Post, "/admin/certificates/edit", promote),
                     (HttpMethod.Delete, $"/admin/certificates?thumbprint={chief.Thumbprint}", null),
                 ])
        {
            (int status, string answer) = await server.SendAsync(op, method, path, body);
            Assert.True(status == 403, $"{method} {path}: {status} {answer}");
        }

        Assert.Equal(201,
            (await server.SendAsync(op, HttpMethod.Put, "/admin/certificates",
            userAsAdmin.Replace("ClusterAdmin", "Operator", StringComparison.Ordinal))).Status);
        Assert.Equal(200, (await server.GetAsync(user, "/admin/certificates")).Status);
        Assert.Equal(200, (await server.GetAsync(chief, "/admin/certificates")).Status);
    }

    [Fact]
    public async Task Writers_end_their_own_operations_and_administrators_of_the_database_all()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        await server.AdministerAsync(HttpMethod.Put, "/admin/databases?name=shop");
        using X509Certificate2 one = server.Authority.Client("one"), two = server.Authority.Client("two"),
            owner = server.Authority.Client("owner");
        await server.RegisterAsync(one, permissions: """{"shop":"ReadWrite"}""");
        await server.RegisterAsync(two, permissions: """{"shop":"ReadWrite"}""");
        await server.RegisterAsync(owner, permissions: """{"shop":"Admin"}""");
        const string Kill = "/databases/shop/operations/kill?id=", Insert = "/databases/shop/bulk_insert?id=";
        Assert.Equal(204, (await server.SendAsync(one, HttpMethod.Post, Insert + "7", "[]")).Status);
        foreach ((X509Certificate2 caller, int expected) in ((X509Certificate2, int)[])[(two, 403), (one, 204), (owner, 204)])
            Assert.Equal(expected, (await server.SendAsync(caller, HttpMethod.Post, Kill + "7")).Status);

        // A number that is killed before it begins counts for who killed it, and for administrators.
        for (int i = 0; i < 3; i++)
            Assert.Equal(200, (await server.GetAsync(one, "/databases/shop/operations/next-operation-id")).Status);
        Assert.Equal(204, (await server.SendAsync(two, HttpMethod.Post, Kill + "1")).Status);
        Assert.Equal(204, (await server.SendAsync(one, HttpMethod.Post, Insert + "1", "[]")).Status);
        foreach ((X509Certificate2 killer, string id) in ((X509Certificate2, string)[])[(one, "2"), (owner, "3")])
        {
            Assert.Equal(204, (await server.SendAsync(killer, HttpMethod.Post, Kill + id)).Status);
            (int status, string body) = await server.SendAsync(one, HttpMethod.Post, Insert + id, "[]");
            Assert.True(status == 400, $"{id}: {status} {body}");
        }
    }

    [Fact]
    public async Task Nobody_deletes_his_own_certificate_or_one_of_the_command_line()
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        using X509Certificate2 chief = server.Authority.Client("chief");
        await server.RegisterAsync(chief, "ClusterAdmin");
        foreach (X509Certificate2 victim in (X509Certificate2[])[chief, server.Admin])
        {
            (int status, string body) = await server.SendAsync(chief, HttpMethod.Delete,
                $"/admin/certificates?thumbprint={victim.Thumbprint}");
            Assert.True(status == 400, $"{status} {body}");
        }

        Assert.Equal(200, (await server.GetAsync(server.Admin, "/databases")).Status);
    }

    [Theory]
    [InlineData(null)]
    [InlineData("a password of 1984")]
    public async Task A_certificate_made_by_the_server_works_as_PFX_and_PEM_and_no_secret_is_kept_or_logged(string? password)
    {
        await using SecuredServer server = await SecuredServer.StartAsync();
        string definition =
            $$"""{"Name":"my ../app","SecurityClearance":"Operator","Permissions":{},"Password":{{JsonSerializer.Serialize(password)}}}""";
        using HttpClient admin = server.Client(server.Admin);
        using HttpResponseMessage made = await admin.PostAsync("/admin/certificates", new StringContent(definition),
            TestContext.Current.CancellationToken);
        Assert.Equal(201, (int)made.StatusCode);
        using var zip = new ZipArchive(await made.Content.ReadAsStreamAsync(TestContext.Current.CancellationToken));
        Assert.All(zip.Entries, static entry => Assert.StartsWith("my____app.", entry.FullName, StringComparison.Ordinal));
        using X509Certificate2 pfx = X509CertificateLoader.LoadPkcs12(Content(zip, ".pfx"), password);
        string key = System.Text.Encoding.ASCII.GetString(Content(zip, ".key")),
            crt = System.Text.Encoding.ASCII.GetString(Content(zip, ".crt"));
        using X509Certificate2 pem = password is null
            ? X509Certificate2.CreateFromPem(crt, key)
            : X509Certificate2.CreateFromEncryptedPem(crt, key, password);
        Assert.StartsWith(password is null ? "-----BEGIN RSA PRIVATE KEY-----" : "-----BEGIN ENCRYPTED PRIVATE KEY-----", key,
            StringComparison.Ordinal);
        Assert.Equal(200, (await server.GetAsync(pfx, "/databases")).Status);
        using X509Certificate2 usable = X509CertificateLoader.LoadPkcs12(pem.Export(X509ContentType.Pkcs12), null);
        Assert.Equal(200, (await server.GetAsync(usable, "/databases")).Status);
        await server.StopAndLookForAsync(password ?? "PRIVATE KEY");
    }

    private static byte[] Content(ZipArchive zip, string ending)
    {
        using Stream stream = zip.Entries.Single(entry => entry.FullName.EndsWith(ending, StringComparison.Ordinal)).Open();
        using var copy = new MemoryStream();
        stream.CopyTo(copy);
        return copy.ToArray();
    }

    private static async Task<string> StatusesAsync(HttpClient client, params (string Method, string Path)[] requests)
    {
        var statuses = new List<int>();
        foreach ((string method, string path) in requests)
        {
            using var request = new HttpRequestMessage(new HttpMethod(method), path)
            {
                Version = client.DefaultRequestVersion,
                VersionPolicy = client.DefaultVersionPolicy
            };
            if (method == "PUT")
                request.Content = new StringContent("{}");
            using HttpResponseMessage response = await client.SendAsync(request, TestContext.Current.CancellationToken);
            statuses.Add((int)response.StatusCode);
        }

        return string.Join(' ', statuses);
    }
}
