using System.Diagnostics;
using System.IO.Compression;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using System.Runtime.InteropServices;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.Package;

/// <summary>A project in a repository that others can reach, packed in two places.</summary>
[Collection(Builds.Collection)]
public sealed class PackedElsewhereTests
{
    [Fact]
    public async Task A_package_is_the_same_wherever_it_is_made_and_its_symbols_lead_to_the_sources()
    {
        Requirement.Needs(OperatingSystem.IsWindows() || File.Exists("/usr/bin/git"), "git", "Install git.");
        using var root = new TemporaryDirectory();
        string first = Path.Combine(root.Path, "first"), second = Path.Combine(root.Path, "a", "second");
        Copy(DataSets.RepositoryRoot, first);
        await GitAsync(first, "init", "--quiet");
        await GitAsync(first, "remote", "add", "origin", "https://github.com/example/treepie.git");
        await GitAsync(first, "add", ".");
        await GitAsync(
            first, "-c", "user.name=Nobody", "-c", "user.email=nobody@example.org", "commit", "--quiet", "-m", "Test packages");
        Copy(first, second, ".git");

        // What was compiled in passing, with this machine's paths in it, must not get into the package.
        await DotnetCommand.SucceedAsync(
            first, null, "build", Path.Combine("src", "Storage"), "-c", "Release", "-v", "quiet", DotnetCommand.WithoutAnalyzers);
        string runtime = RuntimeInformation.RuntimeIdentifier;
        (byte[] assembly, string link, string nuspec) = await PackAsync(first, $"-p:PrecompiledFor={runtime}");
        (byte[] again, _, _) = await PackAsync(second);

        Assert.Equal(assembly, again);
        byte[] compiled = Packed(first, $"runtimes/{runtime}/lib/net10.0/Treepie.Storage.dll");
        Assert.False(Module(assembly).IsPrecompiled);
        Assert.Equal(Module(assembly) with { IsPrecompiled = true }, Module(compiled));
        string commit = (await GitAsync(first, "rev-parse", "HEAD")).Trim();
        Assert.Contains("\"/_/*\":", link, StringComparison.Ordinal);
        Assert.Contains($"/example/treepie/{commit}/*\"", link, StringComparison.Ordinal);
        Assert.Contains("url=\"https://github.com/example/treepie.git\"", nuspec, StringComparison.Ordinal);
        Assert.Contains($"commit=\"{commit}\"", nuspec, StringComparison.Ordinal);
    }

    /// <summary>The identity of an assembly's module, and whether it holds code that was compiled beforehand.</summary>
    private static (Guid Id, bool IsPrecompiled) Module(byte[] assembly)
    {
        using var reader = new PEReader(new MemoryStream(assembly));
        MetadataReader metadata = reader.GetMetadataReader();
        return (
            metadata.GetGuid(metadata.GetModuleDefinition().Mvid),
            reader.PEHeaders.CorHeader is { ManagedNativeHeaderDirectory.Size: > 0 });
    }

    private static async Task<(byte[] Assembly, string SourceLink, string Nuspec)> PackAsync(
        string directory, params string[] options)
    {
        await DotnetCommand.SucceedAsync(
            directory, null,
            ["pack", Path.Combine("src", "Storage"), "-c", "Release", "-o", "out", "-v", "quiet", DotnetCommand.WithoutAnalyzers,
                .. options]);
        string output = Path.Combine(directory, "out");
        using ZipArchive symbols = ZipFile.OpenRead(Assert.Single(Directory.GetFiles(output, "*.snupkg")));
        using Stream pdb = Assert.Single(symbols.Entries, entry => entry.Name == "Treepie.Storage.pdb").Open();
        return (
            Packed(directory, "lib/net10.0/Treepie.Storage.dll"), PackedSymbols.SourceLink(pdb),
            System.Text.Encoding.UTF8.GetString(Packed(directory, "Treepie.Storage.nuspec")));
    }

    /// <summary>A file of the package.</summary>
    private static byte[] Packed(string directory, string name)
    {
        using ZipArchive package = ZipFile.OpenRead(
            Assert.Single(Directory.GetFiles(Path.Combine(directory, "out"), "*.nupkg")));
        using Stream entry = Assert.Single(package.Entries, entry => entry.FullName == name).Open();
        using var bytes = new MemoryStream();
        entry.CopyTo(bytes);
        return bytes.ToArray();
    }

    /// <summary>Copies what the project of the store needs, and no output of an earlier build.</summary>
    private static void Copy(string from, string to, params string[] others)
    {
        foreach (string path in (string[])[
            "Directory.Build.props", "Directory.Packages.props", "global.json", "LICENSE", ".gitignore", ".editorconfig",
            "assets", "src/Directory.Build.props", "src/Directory.Build.targets", "src/BannedSymbols.txt", "src/Storage",
            .. others])
        {
            string source = Path.Combine(from, path);
            IEnumerable<string> files = File.Exists(source)
                ? [source]
                : Directory.EnumerateFiles(source, "*", SearchOption.AllDirectories)
                    .Where(file => !Path.GetRelativePath(from, file).Split('/', '\\').Any(part => part is "bin" or "obj"));
            foreach (string file in files)
            {
                string target = Path.Combine(to, Path.GetRelativePath(from, file));
                Directory.CreateDirectory(Path.GetDirectoryName(target)!); // a file lies in a folder
                File.Copy(file, target);
            }
        }
    }

    private static async Task<string> GitAsync(string directory, params string[] arguments)
    {
        using Process git = Process.Start(
            new ProcessStartInfo("git", arguments) { WorkingDirectory = directory, RedirectStandardOutput = true })
            ?? throw new InvalidOperationException("git could not be started.");
        string output = await git.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken);
        await git.WaitForExitAsync(TestContext.Current.CancellationToken);
        Assert.True(git.ExitCode == 0, $"git {string.Join(' ', arguments)} ended with {git.ExitCode}.");
        return output;
    }
}
