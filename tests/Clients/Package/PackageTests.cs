using System.IO.Compression;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;
using System.Xml.Linq;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.Package;

/// <summary>
/// The packages as strangers get them: looked into, and used from projects that know nothing of this repository.
/// </summary>
[Collection(Builds.Collection)]
public sealed partial class PackageTests(PackedSolution packed) : IClassFixture<PackedSolution>
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
        using Stream pdb = Assert.Single(symbols.Entries, entry => entry.Name == $"{id}.pdb").Open();
        PackedSymbols.RequireSourcesWithoutPlaces(pdb);
    }

    [Theory]
    [InlineData("Treepie")]
    [InlineData("Treepie.Indexing")]
    [InlineData("Treepie.Storage")]
    [InlineData("Treepie.S3")]
    [InlineData("Treepie.Extensions.Hosting")]
    [InlineData("Treepie.Computing")]
    [InlineData("Treepie.Server")]
    [InlineData("Treepie.CommandLine")]
    public void Package_shows_itself_in_a_gallery_by_an_icon_tags_and_a_page_whose_links_lead_somewhere(string id)
    {
        using ZipArchive package = packed.Open(id);
        XElement metadata = packed.Metadata(id);
        XNamespace space = metadata.Name.Namespace;
        Assert.Equal("icon.png", metadata.Element(space + "icon")?.Value);
        using Stream icon = Assert.Single(package.Entries, entry => entry.FullName == "icon.png").Open();
        byte[] png = new byte[24];
        icon.ReadExactly(png);
        Assert.Equal([0x89, .. "PNG\r\n\u001A\n"u8], png[..8]);
        Assert.Equal([0, 0, 0, 128, 0, 0, 0, 128], png[16..]); // width and height; the galleries' size
        Assert.True(package.GetEntry("icon.png")?.Length < 10_000);

        string page = packed.Readme(id);
        Assert.StartsWith(id == "Treepie.CommandLine" ? "# treepie\n" : $"# {id}\n", page, StringComparison.Ordinal);
        Assert.All(Link().Matches(page), link => Assert.StartsWith("https://", link.Groups[1].Value, StringComparison.Ordinal));
        Assert.Contains("treepie", metadata.Element(space + "tags")?.Value.Split(' ') ?? []);
        Assert.Equal("MIT", metadata.Element(space + "license")?.Value);
        Assert.DoesNotContain(package.Entries, entry => entry.FullName.StartsWith("content", StringComparison.Ordinal));
    }

    [Fact]
    public void Package_of_the_command_line_says_that_it_serves()
    {
        XElement metadata = packed.Metadata("Treepie.CommandLine");
        Assert.Contains(
            "treepie serve", metadata.Element(metadata.Name.Namespace + "description")?.Value, StringComparison.Ordinal);
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

    [Theory]
    [InlineData("Treepie")]
    [InlineData("Treepie.Storage")]
    [InlineData("Treepie.Computing")]
    public async Task The_program_on_the_page_of_a_package_prints_in_a_new_project_what_the_page_says(string id)
    {
        string page = packed.Readme(id);
        string directory = await packed.ProjectAsync(
            id, ("shop.csproj", Project("Microsoft.NET.Sdk", id)), ("Program.cs", Block(page, "csharp")));
        using var data = new TemporaryDirectory();

        string output = await packed.DotnetAsync(directory, "run", "--", data.Path);

        Assert.Equal(Lines(Block(page, "text")), Lines(output));
    }

    [Theory]
    [InlineData("Treepie.S3", "Microsoft.NET.Sdk")]
    [InlineData("Treepie.Extensions.Hosting", "Microsoft.NET.Sdk.Web")]
    [InlineData("Treepie.Server", "Microsoft.NET.Sdk.Web")]
    public async Task The_program_on_the_page_of_a_package_builds_in_a_new_project(string id, string sdk)
    {
        string directory = await packed.ProjectAsync(
            id, ("web.csproj", Project(sdk, id)), ("Program.cs", Block(packed.Readme(id), "csharp")));

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

        if (OperatingSystem.IsLinux() && RuntimeInformation.OSArchitecture == Architecture.X64)
        {
            string core = Assert.Single(Directory.GetFiles(tools, "Treepie.dll", SearchOption.AllDirectories));
            Assert.True(PackedSymbols.IsCompiledBeforehand(core), $"{core} has no native code");
        }

        Assert.NotEmpty(Directory.GetFiles(tools, "THIRD-PARTY-NOTICES.txt", SearchOption.AllDirectories));
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

    /// <summary>What stands on a page as text of one language.</summary>
    private static string Block(string page, string language)
    {
        Match block = Regex.Match(page, $"^```{language}\n(.*?)^```$", RegexOptions.Multiline | RegexOptions.Singleline);
        Assert.True(block.Success, $"The page has no block of {language}.");
        return block.Groups[1].Value;
    }

    [GeneratedRegex("\\]\\(([^)\\s]+)")]
    private static partial Regex Link();

    private static string[] Lines(string output) =>
        output.Split('\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
}
