using Treepie.Tests.Support;

namespace Treepie.Computing.Tests.Pages;

/// <summary>
/// Every block of C# of the pages for users compiles and runs, each on a database of its own with the documents of its page.
/// Blocks that cannot, because they are texts of indexes or code of another program, say so behind the fence: <c>csharp
/// fragment</c>. Those of the reference are run by <see cref="PageBlocksTests"/>, those of packages with the packages.
/// </summary>
public sealed class CSharpBlocksTests : IDisposable
{
    /// <summary>The number of blocks that are fragments: let there be few.</summary>
    private const int MostFragments = 2;

    private readonly TemporaryDirectory _directory = new();

    /// <summary>The pages, with what their blocks are given.</summary>
    public static TheoryData<string, Type> Pages => new()
    {
        { "README.md", typeof(ProgramPage) },
        { "docs/howto/encryption.md", typeof(ProgramPage) },
        { "docs/howto/objects.md", typeof(ProgramPage) },
        { "docs/howto/linq.md", typeof(LinqPage) },
        { "docs/howto/sessions.md", typeof(SessionsPage) },
        { "docs/howto/many-documents.md", typeof(StorePage) },
        { "docs/howto/coming-from.md", typeof(ComingPage) },
    };

    public void Dispose() => _directory.Dispose();

    [Theory]
    [MemberData(nameof(Pages))]
    public async Task Every_block_of_the_page_compiles_and_runs(string page, Type given)
    {
        var wrong = new List<string>();
        PageBlock[] blocks = [.. PageBlock.Read(page).Where(static block => block.Language == "csharp")];
        Assert.NotEmpty(blocks);
        foreach (PageBlock block in blocks)
        {
            string directory = Path.Combine(_directory.Path, $"{block.Line}");
            Directory.CreateDirectory(directory);
            using var begun = (IPageState?)Activator.CreateInstance(given) ?? throw new InvalidOperationException(given.Name);
            try
            {
                string text = block.Text
                    .Replace("\"data/", $"\"{directory}/data/", StringComparison.Ordinal)
                    .Replace("file:/keys/", $"file:{directory}/", StringComparison.Ordinal);
                await begun.BeginAsync(directory);
                CSharpProgram.Run(CSharpProgram.Compile(text, given));
                await begun.EndAsync();
            }
            catch (OperationCanceledException)
            {
                // The block waits for more until its page says that it has seen enough.
            }
            catch (Exception error)
            {
                wrong.Add($"{block}: {error.GetType().Name}: {error.Message}");
            }
        }

        Assert.True(wrong.Count == 0, string.Join('\n', wrong));
    }

    [Fact]
    public void Every_page_with_C_sharp_is_run_and_few_blocks_are_fragments()
    {
        string root = DataSets.RepositoryRoot;
        string[] pages =
        [
            "README.md", "CONTRIBUTING.md",
            .. Directory.GetFiles(Path.Combine(root, "docs"), "*.md", SearchOption.AllDirectories)
                .Select(path => Path.GetRelativePath(root, path).Replace('\\', '/'))
                .Where(static path => !path.StartsWith("docs/reference/api/", StringComparison.Ordinal)), // made of the code
        ];
        string[] known =
        [
            .. Pages.Select(static row => row.Data.Item1),
            .. PageBlocksTests.Pages.Select(static row => "docs/reference/" + row.Data),
        ];
        Assert.Empty(pages.Where(page => PageBlock.Read(page).Any(static block => block.Language == "csharp")).Except(known));
        Assert.Equal(
            MostFragments, pages.SelectMany(PageBlock.Read).Count(static block => block.Language == "csharp fragment"));
    }
}
