using System.Buffers;
using Treepie.Computations;
using Treepie.Kinds;
using Treepie.Queries.Projecting;
using Treepie.Queries.Sources;
using Treepie.Queries.TimeSeries;
using Treepie.Store;

namespace Treepie.Queries.Scripts;

/// <summary>Gives scripts of a query, an export or an import read-only access to a snapshot.</summary>
/// <param name="snapshot">The snapshot.</param>
/// <param name="include">Receives what a script adds to the answer.</param>
/// <param name="declared">The time series that the query declares.</param>
/// <param name="row">Reads the documents that the query loads.</param>
/// <param name="cancellationToken">Cancels the query.</param>
internal sealed class SnapshotScriptHost(
    DatabaseSnapshot snapshot, Action<ScriptIncludeKind, string> include, IReadOnlyList<SelectedTimeSeries> declared,
    RowValues row, CancellationToken cancellationToken) : IScriptHost
{
    /// <summary>The source of the query, positioned on what the script runs for.</summary>
    public ResultSource? Source { get; set; }

    public byte[]? Load(string id)
    {
        if (!snapshot.TryGet(id, out Document document))
            return null;
        var json = new ArrayBufferWriter<byte>();
        document.WriteTo(json);
        return json.WrittenSpan.ToArray();
    }

    public byte[]? CompareExchange(string key) => snapshot.CompareExchange(key)?.Held();

    public long? Counter(string id, string name) => snapshot.Counter(id, name)?.Value;

    public string Put(string id, ReadOnlyMemory<byte> json, string? expectedChangeVector) => throw OnlyLooks("put");

    public void Delete(string id, string? expectedChangeVector) => throw OnlyLooks("del");

    public void IncrementCounter(string id, string name, long delta) => throw OnlyLooks("incrementCounter");

    public void DeleteCounter(string id, string name) => throw OnlyLooks("deleteCounter");

    public IEnumerable<TimeSeriesPoint> TimeSeries(string id, string name, DateTime from, DateTime to) =>
        snapshot.TimeSeries(id, name, from, to);

    public byte[] DeclaredTimeSeries(int number, string? id)
    {
        if ((uint)number >= (uint)declared.Count)
            throw new ScriptException("The query declares no such time series.");
        var json = new ArrayBufferWriter<byte>();
        if (id is not null)
            declared[number].Write(CollectionName.Fold(id), SeriesSource.Of(snapshot), json, cancellationToken);
        else if (Source is { HasDocuments: true } source)
            WriteSeries(declared[number], source, json);
        else
            throw new ScriptException("Groups have no time series: give the declared time series a document or an id.");
        return json.WrittenSpan.ToArray();
    }

    private void WriteSeries(SelectedTimeSeries series, ResultSource source, ArrayBufferWriter<byte> json)
    {
        row.Begin(source);
        series.Write(row, json);
    }

    public void ChangeTimeSeries(
        string id, string name, IReadOnlyList<TimeSeriesPoint> points, IReadOnlyList<(DateTime From, DateTime To)> deletes) =>
        throw OnlyLooks(points.Count == 0 ? "delete" : "append");

    public void Include(ScriptIncludeKind kind, string name) => include(kind, name);

    public void Write(string line)
    {
        // The output of a query's script is discarded.
    }

    private static ScriptException OnlyLooks(string function) =>
        new($"'{function}' changes documents, and this script only reads them: patch them, or update what a query finds.");
}
