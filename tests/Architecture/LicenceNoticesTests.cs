using Treepie.Tests.Support;

namespace Treepie.Architecture.Tests;

/// <summary>The tool's package contains libraries of others, whose licences ask for their notices.</summary>
public sealed class LicenceNoticesTests
{
    [Fact]
    public void The_notices_of_the_command_line_name_the_libraries_that_it_contains()
    {
        string[] contained =
        [
            .. Directory.EnumerateFiles(Path.GetDirectoryName(Assemblies.PathOf("Treepie.CommandLine")) ?? "", "*.dll")
                .Select(file => Path.GetFileName(file))
                .Where(name => !name.StartsWith("Treepie.", StringComparison.Ordinal))
                .Order(StringComparer.Ordinal)
        ];
        string[] named =
        [
            .. File.ReadLines(Path.Combine(DataSets.RepositoryRoot, "src/CommandLine/THIRD-PARTY-NOTICES.txt"))
                .Select(line => line.Split(' ', StringSplitOptions.RemoveEmptyEntries).LastOrDefault() ?? "")
                .Where(word => word.EndsWith(".dll", StringComparison.Ordinal))
                .Order(StringComparer.Ordinal)
        ];
        Assert.NotEmpty(contained);
        Assert.Equal(contained, named);
    }
}
