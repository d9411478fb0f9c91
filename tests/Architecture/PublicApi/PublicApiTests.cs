namespace Treepie.Architecture.Tests.PublicApi;

/// <summary>
/// What a package lets others use stands in <c>PublicApi.txt</c> beside its project and changes only on purpose.
/// <c>TREEPIE_ACCEPT_API=1</c> writes the files anew, to be read in the change like everything else.
/// </summary>
public sealed class PublicApiTests
{
    [Theory]
    [InlineData("Treepie.Storage")]
    [InlineData("Treepie.Indexing")]
    [InlineData("Treepie")]
    [InlineData("Treepie.S3")]
    [InlineData("Treepie.Extensions.Hosting")]
    [InlineData("Treepie.Server")]
    public void The_public_api_of_a_package_is_the_one_that_was_reviewed(string name)
    {
        string assemblyPath = Assemblies.PathOf(name);
        // a file lies in a folder
        string accepted = Path.Combine(Path.GetDirectoryName(assemblyPath)!, "..", "..", "..", "PublicApi.txt");
        string text = string.Join('\n', PublicApiText.Of(LoadedPackage.Of(assemblyPath))) + "\n";
        if (Environment.GetEnvironmentVariable("TREEPIE_ACCEPT_API") == "1")
            File.WriteAllText(accepted, text);

        string[] before = File.Exists(accepted) ? File.ReadAllLines(accepted) : [];
        string[] now = text.TrimEnd('\n').Split('\n');
        Assert.True(
            before.SequenceEqual(now),
            $"The public API of {name} has changed. If that is wanted, run this test with TREEPIE_ACCEPT_API=1 and commit "
            + $"{Path.GetFullPath(accepted)}.\n"
            + string.Join(
                '\n',
                before.Except(now).Select(line => "- " + line).Concat(now.Except(before).Select(line => "+ " + line)).Take(40)));
    }
}
