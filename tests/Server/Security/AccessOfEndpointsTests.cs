using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Routing;
using Microsoft.AspNetCore.TestHost;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Treepie.Server.Security;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Security;

/// <summary>Every endpoint names the level of access it demands, and one that does not is closed.</summary>
public sealed class AccessOfEndpointsTests
{
    [Fact]
    public async Task Every_endpoint_names_its_level_as_the_table_of_levels_has_it()
    {
        using var directory = new TemporaryDirectory();
        await using WebApplication app = Build(directory.Path);
        app.MapTreepie();
        string[] actual = [.. EndpointsOf(app).Select(Describe).Order(StringComparer.Ordinal)];
        string[] expected = AccessLevels.Table.Split(
            '\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
        string[] missing = [.. actual.Except(expected)], gone = [.. expected.Except(actual)];
        Assert.True(
            missing.Length + gone.Length == 0,
            $"Review the rights of these endpoints, and write them to AccessLevels.Table:\n{string.Join('\n', missing)}\nNot "
                + $"there any more:\n{string.Join('\n', gone)}");
    }

    [Fact]
    public async Task A_level_of_a_database_says_where_its_name_stands_and_administration_is_for_administrators()
    {
        using var directory = new TemporaryDirectory();
        await using WebApplication app = Build(directory.Path);
        app.MapTreepie();
        foreach (RouteEndpoint endpoint in EndpointsOf(app))
        {
            RequiredAccess access = endpoint.Metadata.GetRequiredMetadata<RequiredAccess>();
            string pattern = endpoint.RoutePattern.RawText ?? "";
            bool isOfDatabase =
                access.Level is AccessLevel.DatabaseRead or AccessLevel.DatabaseReadWrite or AccessLevel.DatabaseAdmin;
            Assert.True(!isOfDatabase || access.DatabaseParameter is not null, $"{pattern}: of which database?");
            if (access is { DatabaseParameter: { } parameter, InQuery: false })
                Assert.Contains($"{{{parameter}}}", pattern, StringComparison.Ordinal);
            if (pattern.Contains("/admin/", StringComparison.Ordinal)
                && !pattern.EndsWith("/admin/{**rest}", StringComparison.Ordinal))
                Assert.True(access.Level >= AccessLevel.DatabaseAdmin, $"{pattern} is open to {access.Level}.");
        }
    }

    [Fact]
    public async Task An_endpoint_without_a_level_is_refused()
    {
        using var directory = new TemporaryDirectory();
        await using WebApplication app = Build(directory.Path);
        app.UseRouting();
        app.UseMiddleware<AccessGuard>(new AccessControl(null, null, new AuditLog(NullLogger.Instance, TimeProvider.System)));
        app.MapGet("/forgotten", () => "open");
        app.MapGet("/classified", () => "closed").WithMetadata(new RequiredAccess(AccessLevel.ValidUser));
        await app.StartAsync(TestContext.Current.CancellationToken);
        using HttpClient http = app.GetTestClient();
        foreach ((string path, int status) in ((string, int)[])[("/forgotten", 403), ("/classified", 200), ("/nowhere", 404)])
        {
            using HttpResponseMessage response = await http.GetAsync(
                new Uri(path, UriKind.Relative), TestContext.Current.CancellationToken);
            Assert.Equal(status, (int)response.StatusCode);
        }
    }

    private static WebApplication Build(string directory)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseTestServer();
        builder.Services.AddTreepie(options => options.DataDirectory = directory);
        return builder.Build();
    }

    private static RouteEndpoint[] EndpointsOf(WebApplication app) =>
        [.. ((IEndpointRouteBuilder)app).DataSources.SelectMany(static source => source.Endpoints).Cast<RouteEndpoint>()];

    private static string Describe(RouteEndpoint endpoint)
    {
        string methods = string.Join(',', endpoint.Metadata.GetMetadata<HttpMethodMetadata>()?.HttpMethods ?? ["*"]);
        RequiredAccess? access = endpoint.Metadata.GetMetadata<RequiredAccess>();
        string of = access is { InQuery: true } ? $" of {access.DatabaseParameter}=" : "";
        return $"{methods} {endpoint.RoutePattern.RawText} {access?.Level.ToString() ?? "names no level"}{of}";
    }
}
