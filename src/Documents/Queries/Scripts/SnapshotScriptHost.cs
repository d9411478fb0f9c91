using System.Buffers;
using Treepie.Computations;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Queries.Scripts;

/// <summary>What scripts of a query see beside their document: the same snapshot. They change nothing.</summary>
internal sealed class SnapshotScriptHost(DatabaseSnapshot snapshot) : IScriptHost
{
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

    public void ChangeTimeSeries(
        string id, string name, IReadOnlyList<TimeSeriesPoint> points, IReadOnlyList<(DateTime From, DateTime To)> deletes) =>
        throw OnlyLooks(points.Count == 0 ? "delete" : "append");

    public void Write(string line)
    {
        // A query has nobody who would read it.
    }

    private static ScriptException OnlyLooks(string function) =>
        new($"'{function}' changes documents, and a query does not: patch them, or update what the query finds.");
}
