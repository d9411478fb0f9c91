using Treepie.Documents.Tests.Lifecycle;
using Treepie.Documents.Tests.Queries;
using Treepie.Indexes;
using Treepie.Indexing.Analysis;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Indexes;

/// <summary>An index that fails for a reason outside of the documents tries again by itself, although nothing changes.</summary>
public sealed class IndexRetriesTests : IDisposable
{
    private readonly TemporaryDirectory _folder = new();
    private readonly FiringClock _clock = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task An_index_without_memory_tries_again_after_pauses_and_then_has_every_document()
    {
        var analyzer = new Exhausted { Failures = 3 };
        await using Database database = Database.Open(
            _folder.Path,
            new DatabaseOptions { TimeProvider = _clock, Analyzers = AnalyzerSet.BuiltIn.With("Exhausted", analyzer) });
        await database.PutAsync("notes/1", """{"Text":"one"}""", "Notes");
        database.Indexes.Put(new IndexDefinition
        {
            Name = "Notes",
            Collections = ["Notes"],
            Fields = [new() { Name = "Text", Indexing = FieldIndexing.Search, Analyzer = "Exhausted" }],
        });
        int attempt = 0;
        while (attempt++ < analyzer.Failures)
        {
            await Eventually.TrueAsync(() => analyzer.Calls == attempt, $"attempt {attempt} was made");
            await Eventually.TrueAsync(() => Assert.Single(database.Indexes.List()).ErrorCount == 1, "it is reported");
            TimeSpan pause = TimeSpan.FromSeconds(1 << (attempt - 1));
            await Eventually.TrueAsync(() => _clock.HasTimerIn(pause), $"it waits {pause}");
            _clock.Advance(pause);
        }

        Assert.True(await database.Indexes.WaitForNonStaleAsync(TimeSpan.FromSeconds(30), null, Cancel));
        Assert.Equal(0, Assert.Single(database.Indexes.List()).ErrorCount);
        Assert.Equal(1, (await database.AskAsync("from index Notes where search(Text, 'one')")).Total);
    }

    /// <summary>An analyzer for whose first texts there is no memory.</summary>
    private sealed class Exhausted : Analyzer
    {
        private int _calls;

        public required int Failures { get; init; }

        public int Calls => Volatile.Read(ref _calls);

        public override void Analyze(ReadOnlySpan<byte> text, TokenSink sink)
        {
            if (Interlocked.Increment(ref _calls) <= Failures)
                throw new OutOfMemoryException();
            sink.Add(text, 0, text.Length);
        }
    }
}
