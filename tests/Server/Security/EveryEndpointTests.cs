using System.Security.Cryptography.X509Certificates;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.AspNetCore.TestHost;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Treepie.Server.Databases;
using Treepie.Server.Endpoints;
using Treepie.Server.Security;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Security;

/// <summary>Walks all endpoints as everybody there can be, and sees who is let in.</summary>
public sealed class EveryEndpointTests
{
    private const string CallerHeader = "Test-Caller";

    private static readonly string[] _known = ["other", "nothing", "reader", "writer", "owner", "operator", "administrator"];

    /// <summary>Who is let in at a level, written down apart from the code that decides it.</summary>
    private static readonly Dictionary<AccessLevel, string[]> _letIn = new()
    {
        [AccessLevel.Anyone] = ["nobody", "stranger", .. _known],
        [AccessLevel.ValidUser] = _known,
        [AccessLevel.DatabaseRead] = ["reader", "writer", "owner", "operator", "administrator"],
        [AccessLevel.DatabaseReadWrite] = ["writer", "owner", "operator", "administrator"],
        [AccessLevel.DatabaseAdmin] = ["owner", "operator", "administrator"],
        [AccessLevel.Operator] = ["operator", "administrator"],
        [AccessLevel.ClusterAdmin] = ["administrator"],
    };

    [Fact]
    public async Task Everybody_reaches_the_endpoints_of_his_level_and_no_other()
    {
        using var directory = new TemporaryDirectory();
        using var authority = new TestAuthority();
        Dictionary<string,
            X509Certificate2> certificates = _letIn[AccessLevel.Anyone].Where(static name => name != "nobody").ToDictionary(
            static name => name, name => authority.Client(name));
        using var store = new AccessStore(directory.Path);
        using var registry = new CertificateRegistry(store, [], [], static () => [],
            TimeProvider.System);
        using var tokens = new TokenRegistry(store, TimeProvider.System);
        foreach (string name in _known)
            await registry.PutAsync(CertificateEntry.For(certificates[name], [], name, RightsOf(name)));

        await using WebApplication app = Build(directory.Path, certificates, registry, tokens);
        await app.StartAsync(TestContext.Current.CancellationToken);
        app.Services.GetRequiredService<DatabaseCatalog>().Create("db");
        using HttpClient http = app.GetTestClient();
        var wrong = new List<string>();
        int asked = 0;
        foreach (RouteEndpoint endpoint in ((IEndpointRouteBuilder)app).DataSources.SelectMany(static source =>
            source.Endpoints).Cast<RouteEndpoint>())
        {
            RequiredAccess access = endpoint.Metadata.GetRequiredMetadata<RequiredAccess>();
            foreach (string caller in _letIn[AccessLevel.Anyone])
            {
                // HEAD, PATCH and the like reach the same guard; a route for all methods is asked with one that no other route
                // there takes.
                string method = endpoint.Metadata.GetMetadata<HttpMethodMetadata>()?.HttpMethods[0] ?? "OPTIONS";
                using var request = new HttpRequestMessage(new HttpMethod(method), AddressOf(endpoint, access));
                request.Headers.Add(CallerHeader, caller);
                using HttpResponseMessage response = await http.SendAsync(request, TestContext.Current.CancellationToken);
                bool isLetIn = (int)response.StatusCode != StatusCodes.Status403Forbidden;
                asked++;
                if (isLetIn != _letIn[access.Level].Contains(caller))
                    wrong.Add($"{method} {request.RequestUri} of level {access.Level} answered {caller} with "
                        + $"{(int)response.StatusCode}");
            }
        }

        Assert.True(wrong.Count == 0, string.Join('\n', wrong));
        Assert.True(asked > 900, $"Only {asked} requests were sent.");
    }

    private static Rights RightsOf(string name) => name switch
    {
        "other" => Of(Clearance.ValidUser, "another", DatabaseAccess.Admin),
        "nothing" => Rights.Of(Clearance.ValidUser, []),
        "reader" => Of(Clearance.ValidUser, "DB", DatabaseAccess.Read),
        "writer" => Of(Clearance.ValidUser, "db", DatabaseAccess.ReadWrite),
        "owner" => Of(Clearance.ValidUser, "db", DatabaseAccess.Admin),
        "operator" => Rights.Of(Clearance.Operator, []),
        _ => Rights.All,
    };

    private static Rights Of(Clearance clearance, string database, DatabaseAccess access) =>
        Rights.Of(clearance, [KeyValuePair.Create(database, access)]);

    private static string AddressOf(RouteEndpoint endpoint, RequiredAccess access)
    {
        string path = (endpoint.RoutePattern.RawText ?? "/").Replace("{database}", "db", StringComparison.Ordinal).Replace(
            "{**rest}", "nothing/there", StringComparison.Ordinal);
        // The second name is one that the owner of another database may use: it must not count.
        return access.InQuery ? $"{path}?{access.DatabaseParameter}=db&{access.DatabaseParameter}=another" : path;
    }

    private static WebApplication Build(string directory, Dictionary<string, X509Certificate2> certificates,
        CertificateRegistry registry, TokenRegistry tokens)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseTestServer();
        builder.Services.AddTreepie(options => options.DataDirectory = directory);
        WebApplication app = builder.Build();
        var control = new AccessControl(registry, tokens, new AuditLog(NullLogger.Instance, TimeProvider.System));
        app.Use((http, next) =>
        {
            if (certificates.TryGetValue(http.Request.Headers[CallerHeader].ToString(), out X509Certificate2? certificate))
                http.Features.Set(new PresentedCertificate(certificate));
            return next(http);
        });
        app.UseRouting();
        app.UseMiddleware<AccessGuard>(control);
        TreepieServices services = app.Services.GetRequiredService<TreepieServices>();
        AllEndpoints.Map(app, services.CreateContext(new CatalogSource(services.Catalog), control), alone: true);
        return app;
    }
}
