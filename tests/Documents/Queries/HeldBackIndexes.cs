using Treepie.Indexes;
using Treepie.Indexing.Analysis;
using Treepie.Queries;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// A database whose indexes work only when they are let: between <see cref="Hold"/> and <see cref="LetGo"/> they read no
/// document.
/// </summary>
internal sealed class HeldBackIndexes : IDisposable
{
    private readonly TemporaryDirectory _folder = new();
    private readonly ManualResetEventSlim _gate = new(initialState: true);

    public HeldBackIndexes(DatabaseOptions options)
    {
        Database = Database.Open(Path.Combine(_folder.Path, "database"));
        Indexes = IndexCatalogue.Open(
            Path.Combine(_folder.Path, "indexes"),
            new IndexingContext(BeginReadForIndexes, Changes, TimeProvider.System, AnalyzerSet.BuiltIn, new IndexingOptions()));
        Queries = new QueryExecutor(Indexes, Database.BeginRead, Changes, options, Database.Sorters.Orders);
    }

    public Database Database { get; }

    public IndexCatalogue Indexes { get; }

    public ChangeSignal Changes { get; } = new();

    public QueryExecutor Queries { get; }

    public bool AreHeld => !_gate.IsSet;

    public void Hold() => _gate.Reset();

    public void LetGo() => _gate.Set();

    /// <summary>Writes, and tells the indexes.</summary>
    public async Task WriteAsync(WriteBatch batch)
    {
        await Database.WriteAsync(batch, TestContext.Current.CancellationToken);
        Changes.Publish(Database.LastEtag);
    }

    public void Dispose()
    {
        LetGo();
        Changes.Close();
        ((IDisposable)Indexes).Dispose();
        Database.Dispose();
        _gate.Dispose();
        _folder.Dispose();
    }

    private DatabaseSnapshot BeginReadForIndexes()
    {
        _gate.Wait(TestContext.Current.CancellationToken);
        return Database.BeginRead();
    }
}
