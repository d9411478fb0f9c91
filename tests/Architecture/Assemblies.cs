using Treepie.Tests.Support;

namespace Treepie.Architecture.Tests;

/// <summary>The compiled projects.</summary>
internal static class Assemblies
{
    /// <summary>Names of all assemblies of this solution that ship.</summary>
    public static readonly IReadOnlySet<string> Ours =
        new HashSet<string>(StringComparer.Ordinal)
        {
            "Treepie.Storage", "Treepie.Indexing", "Treepie", "Treepie.S3", "Treepie.Extensions.Hosting", "Treepie.Computing",
            "Treepie.Server", "Treepie.CommandLine"
        };

    /// <summary>The file of an assembly, in its own project's output.</summary>
    public static string PathOf(string assembly)
    {
        string project = assembly switch
        {
            "Treepie.Storage" => "Storage",
            "Treepie.Indexing" => "Indexing",
            "Treepie" => "Documents",
            "Treepie.S3" => "S3",
            "Treepie.Extensions.Hosting" => "Hosting",
            "Treepie.Computing" => "Computing",
            "Treepie.Server" => "Server",
            "Treepie.CommandLine" => "CommandLine",
            _ => throw new ArgumentException($"'{assembly}' is not an assembly of this solution.", nameof(assembly)),
        };
        string configuration = new DirectoryInfo(AppContext.BaseDirectory).Parent?.Name ?? "Debug";
        return Path.Combine(DataSets.RepositoryRoot, "src", project, "bin", configuration, "net10.0", assembly + ".dll");
    }
}
