using System.Globalization;
using System.Text;
using Treepie.Documents.Tests.Queries;
using Treepie.Indexes;
using Treepie.Indexing.Analysis;
using Treepie.Storage.Memory;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Indexes;

/// <summary>Indexing gives way: nobody waits for it, and the threads of others stay as they are.</summary>
public sealed class QuietIndexingTests : IDisposable
{
    private const int Documents = 400;

    private readonly TemporaryDirectory _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Writers_and_those_who_ask_do_not_wait_for_an_index_that_works()
    {
        var analyzer = new Slow();
        using Database database = Database.Open(
            _folder.Path,
            new DatabaseOptions
            {
                Analyzers = AnalyzerSet.BuiltIn.With("Slow", analyzer),
                Indexing = new IndexingOptions { Mappers = 2 }
            });
        await WriteAsync(database, 0);
        database.Indexes.Put(
            new IndexDefinition
            {
                Name = "Slow",
                Collections = ["Users"],
                Fields = [new() { Name = "Notes", Indexing = FieldIndexing.Search, Analyzer = "Slow" }, new() { Name = "Name" }]
            });
        Assert.True(analyzer.Begun.Wait(TimeSpan.FromMinutes(1), TestContext.Current.CancellationToken));

        // It stands still now, in the middle of a text.
        await WriteAsync(database, 1);
        Answer stale = await database.AskAsync(
            "from index Slow where Name = 'n1'", change: static request => request with { WaitForNonStaleResults = false });
        Assert.Equal((0, true), (stale.Total, stale.IsStale));
        Assert.Equal(Documents, Assert.Single(database.Indexes.List()).WaitingChanges);
        analyzer.MayGoOn.Set();
        Assert.Equal(Documents / 4, (await database.AskAsync("from index Slow where Name = 'n1'")).Total);
    }

    [Fact]
    public async Task Threads_that_serve_others_are_as_they_were_after_much_was_indexed()
    {
        using Database database = Database.Open(
            _folder.Path, new DatabaseOptions { Indexing = new IndexingOptions { Mappers = 3 } });
        for (int round = 0; round < 4; round++)
        {
            await WriteAsync(database, round);
            await database.AskAsync($"from Users where Name = 'n{round}' and F{round} = null and search(Notes, 'words')");
        }

        if (!OperatingSystem.IsLinux())
            return;
        int own = Nice("/proc/self/stat");
        foreach (string task in Directory.EnumerateDirectories("/proc/self/task"))
        {
            string name = Text(Path.Combine(task, "comm")).Trim();
            // of the pool, and for timers
            if (name.StartsWith(".NET T", StringComparison.Ordinal) && !name.Contains("Tiered", StringComparison.Ordinal))
                Assert.True(
                    Nice(Path.Combine(task, "stat")) is var nice && (nice == own || nice == int.MinValue),
                    $"{name} is quiet: {nice} instead of {own}");
        }
    }

    [Fact]
    public void A_quiet_thread_is_quiet_and_leaves_its_caller_as_it_was()
    {
        if (!OperatingSystem.IsLinux() || !QuietThread.IsSupported)
            return;
        const int Ordinary = 0, Batch = 3;
        int own = Nice("/proc/self/stat"), before = Nice("/proc/thread-self/stat"), quiet = int.MinValue;
        int ownPolicy = Policy("/proc/thread-self/stat"), policy = int.MinValue;
        QuietThread.Run(
            () => (quiet, policy) = (Nice("/proc/thread-self/stat"), Policy("/proc/thread-self/stat")), QuietThread.Quiet);
        Assert.Equal(Math.Min(19, own + QuietThread.Quiet), quiet);
        Assert.Equal(ownPolicy == Ordinary ? Batch : ownPolicy, policy);
        Assert.Equal((before, ownPolicy), (Nice("/proc/thread-self/stat"), Policy("/proc/thread-self/stat")));
    }

    /// <summary>How nice a thread is; the least number where it has gone.</summary>
    private static int Nice(string stat) => Field(stat, 16);

    /// <summary>By what policy it is scheduled.</summary>
    private static int Policy(string stat) => Field(stat, 38);

    /// <summary>A number behind the name, from 0 on.</summary>
    private static int Field(string stat, int number)
    {
        string text = Text(stat);
        int end = text.LastIndexOf(')');
        return end < 0 ? int.MinValue : int.Parse(text[(end + 2)..].Split(' ')[number], CultureInfo.InvariantCulture);
    }

    private static string Text(string file)
    {
        try
        {
            return File.ReadAllText(file);
        }
        catch (IOException)
        {
            return "";
        }
    }

    private static async Task WriteAsync(Database database, int round)
    {
        var batch = new WriteBatch();
        for (int i = 0; i < Documents; i++)
            batch.Put(
                $"users/{i}",
                Encoding.UTF8.GetBytes(
                    $$"""{"Name":"n{{i % 4}}","Notes":"some words {{round}}","@metadata":{"@collection":"Users"} }"""));
        await database.WriteAsync(batch, TestContext.Current.CancellationToken);
    }

    /// <summary>Stands still in its first text until it may go on.</summary>
    private sealed class Slow : Analyzer
    {
        private readonly Analyzer _words = AnalyzerSet.BuiltIn.Get(AnalyzerSet.DefaultName);

        public ManualResetEventSlim Begun { get; } = new();

        public ManualResetEventSlim MayGoOn { get; } = new();

        public override void Analyze(ReadOnlySpan<byte> text, TokenSink sink)
        {
            Begun.Set();
            MayGoOn.Wait();
            _words.Analyze(text, sink);
        }
    }
}
