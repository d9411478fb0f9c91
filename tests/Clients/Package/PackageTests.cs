using System.IO.Compression;
using System.Xml.Linq;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.Package;

/// <summary>
/// The packages as strangers get them: looked into, and used from projects that know nothing of this repository.
/// </summary>
public sealed class PackageTests(PackedSolution packed) : IClassFixture<PackedSolution>
{
    [Theory]
    [InlineData("Treepie")]
    [InlineData("Treepie.Indexing")]
    [InlineData("Treepie.Storage")]
    [InlineData("Treepie.S3")]
    [InlineData("Treepie.Extensions.Hosting")]
    [InlineData("Treepie.Computing")]
    [InlineData("Treepie.Server")]
    public void Package_holds_assembly_documentation_readme_licence_and_symbols(string id)
    {
        using ZipArchive package = packed.Open(id);
        using ZipArchive symbols = packed.Open(id, "snupkg");
        string[] files = [.. package.Entries.Select(entry => entry.FullName)];

        Assert.Contains($"lib/net10.0/{id}.dll", files);
        Assert.Contains($"lib/net10.0/{id}.xml", files);
        Assert.Contains("README.md", files);
        Assert.Contains("LICENSE", files);
        Assert.Contains(symbols.Entries, entry => entry.FullName == $"lib/net10.0/{id}.pdb");

        XElement metadata = packed.Metadata(id);
        XNamespace space = metadata.Name.Namespace;
        Assert.Equal("MIT", metadata.Element(space + "license")?.Value);
        Assert.Equal("README.md", metadata.Element(space + "readme")?.Value);
        Assert.True(metadata.Element(space + "description")?.Value.Length > 40);
    }

    [Fact]
    public void Documentation_in_the_package_describes_the_front_door()
    {
        using ZipArchive package = packed.Open("Treepie");
        using Stream xml = Assert.Single(package.Entries, entry => entry.Name == "Treepie.xml").Open();
        IEnumerable<string?> members = XDocument.Load(xml)
            .Descendants("member")
            .Select(member => member.Attribute("name")?.Value);
        Assert.Contains(members, name => name?.StartsWith("M:Treepie.Database.Open(", StringComparison.Ordinal) == true);
    }

    [Theory]
    [InlineData("Treepie.Storage")]
    [InlineData("Treepie.Indexing", "Treepie.Storage")]
    [InlineData("Treepie", "Treepie.Indexing", "Treepie.Storage", "ZstdSharp.Port")]
    [InlineData(
        "Treepie.Extensions.Hosting", "Microsoft.Extensions.Diagnostics.HealthChecks",
        "Microsoft.Extensions.Hosting.Abstractions", "Treepie", "Treepie.Storage")]
    [InlineData("Treepie.S3", "AWSSDK.Core", "AWSSDK.S3", "Treepie", "Treepie.Storage")]
    [InlineData("Treepie.Computing", "Jint", "Microsoft.CodeAnalysis.CSharp", "Treepie", "Treepie.Indexing", "Treepie.Storage")]
    [InlineData(
        "Treepie.Server", "OpenTelemetry.Exporter.OpenTelemetryProtocol", "OpenTelemetry.Exporter.Prometheus.AspNetCore",
        "OpenTelemetry.Extensions.Hosting", "OpenTelemetry.Instrumentation.AspNetCore", "Treepie", "Treepie.Computing",
        "Treepie.S3")]
    public void Package_depends_on_the_rooms_below_and_on_nothing_that_is_not_said_here(string id, params string[] expected)
    {
        XElement metadata = packed.Metadata(id);
        string[] dependencies = [
            .. metadata.Descendants(metadata.Name.Namespace + "dependency")
                .Select(d => d.Attribute("id")?.Value ?? "")
                .Order(StringComparer.Ordinal)];
        Assert.Equal(expected, dependencies);
    }

    [Fact]
    public async Task Fifteen_lines_in_a_new_console_project_open_store_query_and_print()
    {
        string directory = await packed.ProjectAsync(
            "console", ("shop.csproj", Project("Microsoft.NET.Sdk", "Treepie")), ("Program.cs", """
            using Treepie;

            using Database database = Database.Open(args[0]);

            using (var session = database.OpenSession())
            {
                session.Store(new Order("Rouen", 14.5), "orders/1");
                session.Store(new Order("Lyon", 90), "orders/2");
                session.Store(new Order("Paris", 3), "orders/3");
                await session.SaveChangesAsync();
            }

            using (var session = database.OpenSession())
                foreach (Order order in await session.QueryAsync<Order>("from Orders where Freight > $least order by City", new { least = 10 }))
                    Console.WriteLine(order);

            record Order(string City, double Freight);
            """));
        using var data = new TemporaryDirectory();

        string output = await packed.DotnetAsync(directory, "run", "--", data.Path);

        Assert.Equal(["Order { City = Lyon, Freight = 90 }", "Order { City = Rouen, Freight = 14.5 }"], Lines(output));
    }

    [Fact]
    public async Task New_web_project_builds_with_the_server_package()
    {
        string directory = await packed.ProjectAsync(
            "web", ("web.csproj", Project("Microsoft.NET.Sdk.Web", "Treepie.Server")), ("Program.cs", """
            var builder = WebApplication.CreateBuilder(args);
            builder.Services.AddTreepie(options => options.DataDirectory = "data");
            var app = builder.Build();
            app.MapTreepie();
            app.Run();
            """));

        string output = await packed.DotnetAsync(directory, "build", "-v", "quiet");

        Assert.Contains("0 Error(s)", output, StringComparison.Ordinal);
        Assert.Contains("0 Warning(s)", output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Command_line_installs_as_a_tool()
    {
        string directory = await packed.ProjectAsync("tool");
        string tools = Path.Combine(directory, "bin");
        await packed.DotnetAsync(
            directory, "tool", "install", "Treepie.CommandLine", "--tool-path", tools, "--version", packed.Version);

        string program = Path.Combine(tools, OperatingSystem.IsWindows() ? "treepie.exe" : "treepie");
        using var process = System.Diagnostics.Process.Start(
            new System.Diagnostics.ProcessStartInfo(program, ["--version"]) { RedirectStandardOutput = true });
        Assert.NotNull(process);
        string version = await process.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken);
        await process.WaitForExitAsync(TestContext.Current.CancellationToken);
        Assert.Equal(0, process.ExitCode);
        Assert.StartsWith(packed.Version, version, StringComparison.Ordinal);
    }

    private string Project(string sdk, string package) => $"""
        <Project Sdk="{sdk}">
          <PropertyGroup>
            <TargetFramework>net10.0</TargetFramework>
            <OutputType>Exe</OutputType>
            <Nullable>enable</Nullable>
            <ImplicitUsings>enable</ImplicitUsings>
            <UseSharedCompilation>false</UseSharedCompilation>
          </PropertyGroup>
          <ItemGroup>
            <PackageReference Include="{package}" Version="{packed.Version}" />
          </ItemGroup>
        </Project>
        """;

    private static string[] Lines(string output) =>
        output.Split('\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
}
