using System.IO.Compression;
using System.Text.Json;
using System.Xml.Linq;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.Package;

/// <summary>
/// The solution, packed into a folder that serves as the only feed of projects outside the repository. Their cache is empty at
/// first and theirs alone: packages of the same version from an earlier run cannot stand in for those of this one.
/// </summary>
public sealed class PackedSolution : IAsyncLifetime
{
    private readonly TemporaryDirectory _root = new();

    /// <summary>Where the packages are.</summary>
    public string Feed => Path.Combine(_root.Path, "feed");

    /// <summary>Version of all of them.</summary>
    public string Version { get; private set; } = "";

    private string Cache => Path.Combine(_root.Path, "cache");

    public async ValueTask InitializeAsync()
    {
        await DotnetCommand.SucceedAsync(
            DataSets.RepositoryRoot, null, "pack", "Engine.sln", "-c", "Release", "-o", Feed, "-v", "quiet",
            "-p:UseSharedCompilation=false", DotnetCommand.WithoutAnalyzers);
        // What others publish and ours name, as this machine has it: the feed is all there is for a stranger here.
        string packages = Environment.GetEnvironmentVariable("NUGET_PACKAGES") is { Length: > 0 } set
            ? set
            : Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.UserProfile), ".nuget", "packages");
        foreach (string path in RestoredPackages())
            foreach (string package in Directory.EnumerateFiles(Path.Combine(packages, path), "*.nupkg"))
                File.Copy(package, Path.Combine(Feed, Path.GetFileName(package)));
        Version = Metadata("Treepie").Element(Nuspec("Treepie") + "version")?.Value ?? "";
        await File.WriteAllTextAsync(Path.Combine(_root.Path, "nuget.config"), $"""
            <configuration>
              <packageSources>
                <clear />
                <add key="folder" value="{Feed}" />
              </packageSources>
            </configuration>
            """, TestContext.Current.CancellationToken);
    }

    /// <summary>All that the server needs of others, as it was restored here: folders below that of the packages.</summary>
    private static IEnumerable<string> RestoredPackages()
    {
        using FileStream file = File.OpenRead(
            Path.Combine(DataSets.RepositoryRoot, "src", "Server", "obj", "project.assets.json"));
        using JsonDocument assets = JsonDocument.Parse(file);
        return
        [
            .. from library in assets.RootElement.GetProperty("libraries").EnumerateObject()
               where library.Value.GetProperty("type").GetString() == "package"
               select library.Value.GetProperty("path").GetString() ?? "",
        ];
    }

    public ValueTask DisposeAsync()
    {
        _root.Dispose();
        return ValueTask.CompletedTask;
    }

    /// <summary>A new folder below the feed's configuration, with these files.</summary>
    public async Task<string> ProjectAsync(string name, params (string File, string Content)[] files)
    {
        string directory = Directory.CreateDirectory(Path.Combine(_root.Path, name)).FullName;
        foreach ((string file, string content) in files)
            await File.WriteAllTextAsync(Path.Combine(directory, file), content, TestContext.Current.CancellationToken);

        return directory;
    }

    /// <summary>Runs <c>dotnet</c> in a project's folder, with the packages of the feed alone.</summary>
    internal Task<string> DotnetAsync(string directory, params string[] arguments) =>
        DotnetCommand.SucceedAsync(directory, Cache, arguments);

    /// <summary>Opens a package of the feed.</summary>
    internal ZipArchive Open(string id, string extension = "nupkg")
    {
        string[] found = Directory.GetFiles(Feed, $"{id}.*.{extension}")
            .Where(path => char.IsDigit(Path.GetFileName(path)[id.Length + 1]))
            .ToArray();
        return ZipFile.OpenRead(Assert.Single(found));
    }

    /// <summary>The page that galleries show of a package.</summary>
    internal string Readme(string id)
    {
        using ZipArchive package = Open(id);
        using var reader = new StreamReader(Assert.Single(package.Entries, entry => entry.FullName == "README.md").Open());
        return reader.ReadToEnd();
    }

    /// <summary>What a package says of itself.</summary>
    internal XElement Metadata(string id)
    {
        using ZipArchive package = Open(id);
        using Stream nuspec = Assert.Single(package.Entries, entry => entry.FullName == $"{id}.nuspec").Open();
        XElement root = XDocument.Load(nuspec).Root ?? throw new InvalidDataException($"{id}.nuspec is empty.");
        return root.Element(root.Name.Namespace + "metadata") ?? throw new InvalidDataException($"{id}.nuspec has no metadata.");
    }

    private XNamespace Nuspec(string id) => Metadata(id).Name.Namespace;
}
