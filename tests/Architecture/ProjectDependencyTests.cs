using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using Treepie.Tests.Support;

namespace Treepie.Architecture.Tests;

/// <summary>HTTP → Documents → Indexing → Storage → disk: what a compiled project refers to is read from its own file.</summary>
public sealed class ProjectDependencyTests
{
    private const string Storage = "Treepie.Storage";
    private const string Indexing = "Treepie.Indexing";
    private const string Documents = "Treepie";
    private const string S3 = "Treepie.S3";
    private const string Hosting = "Treepie.Extensions.Hosting";
    private const string Computing = "Treepie.Computing";
    private const string Server = "Treepie.Server";
    private const string CommandLine = "Treepie.CommandLine";

    public static TheoryData<string, string[]> Allowed => new()
    {
        { Storage, [] },
        { Indexing, [Storage] },
        { Documents, [Storage, Indexing] },
        { S3, [Documents, Storage] }, // of Storage only the root of all errors, see below
        { Hosting, [Documents, Storage] }, // as S3
        { Computing, [Documents, Indexing, Storage] }, // measures distances as queries do
        { Server, [Documents, S3, Computing, Storage] },
        { CommandLine, [Storage, Documents, S3, Server] }, // offline commands, where keys come from, and 'serve'
    };

    [Theory]
    [MemberData(nameof(Allowed))]
    public void A_project_uses_only_the_projects_below_it(string assembly, string[] allowed)
    {
        IEnumerable<string> used = References(assembly).Where(name => Assemblies.Ours.Contains(name));
        Assert.Empty(used.Except(allowed));
    }

    [Theory]
    [InlineData(Storage)]
    [InlineData(Indexing)]
    [InlineData(Documents, "ZstdSharp")] // decision 0034
    public void The_core_depends_on_nothing_but_the_base_class_library_and_zstd(string assembly, params string[] packages)
    {
        IEnumerable<string> foreign = References(assembly)
            .Where(name => !Assemblies.Ours.Contains(name))
            .Where(
                name => !name.StartsWith("System.", StringComparison.Ordinal)
                    && name is not ("System" or "netstandard" or "mscorlib"));
        Assert.Equal(packages, foreign);
    }

    [Theory]
    [InlineData(S3)]
    [InlineData(Hosting)]
    [InlineData(Computing)]
    [InlineData(Server)]
    public void Above_the_documents_nothing_of_storage_is_known_but_the_root_of_errors(string assembly)
    {
        using var file = new PEReader(File.OpenRead(Assemblies.PathOf(assembly)));
        MetadataReader metadata = file.GetMetadataReader();
        IEnumerable<string> known =
            from handle in metadata.TypeReferences
            let type = metadata.GetTypeReference(handle)
            where type.ResolutionScope.Kind == HandleKind.AssemblyReference
                && metadata.GetString(metadata.GetAssemblyReference((AssemblyReferenceHandle)type.ResolutionScope).Name)
                    == Storage
            select $"{metadata.GetString(type.Namespace)}.{metadata.GetString(type.Name)}";
        Assert.Empty(known.Except(["Treepie.TreepieException"]));
    }

    [Fact]
    public void Nothing_in_the_core_knows_of_the_web()
    {
        foreach (string assembly in new[] { Storage, Indexing, Documents })
            Assert.DoesNotContain(
                References(assembly),
                name => name.StartsWith("Microsoft.AspNetCore", StringComparison.Ordinal) || name == "System.Net.Http");
    }

    [Fact]
    public void Only_the_micro_benchmarks_use_BenchmarkDotNet() // decision 0059
    {
        IEnumerable<string> users =
            from folder in new[] { "src", "tests", "bench", "samples" }
            from project in Directory.EnumerateFiles(
                Path.Combine(DataSets.RepositoryRoot, folder), "*.csproj", SearchOption.AllDirectories)
            let name = Path.GetRelativePath(DataSets.RepositoryRoot, project).Replace('\\', '/')
            where !name.Contains("/bin/", StringComparison.Ordinal) && !name.Contains("/obj/", StringComparison.Ordinal)
            where File.ReadAllText(project).Contains("Include=\"BenchmarkDotNet", StringComparison.Ordinal)
            select name;
        Assert.Equal(["bench/Micro/Treepie.Bench.Micro.csproj"], users);
    }

    private static List<string> References(string assembly)
    {
        using var file = new PEReader(File.OpenRead(Assemblies.PathOf(assembly)));
        MetadataReader metadata = file.GetMetadataReader();
        return [.. metadata.AssemblyReferences.Select(handle => metadata.GetString(metadata.GetAssemblyReference(handle).Name))];
    }
}
