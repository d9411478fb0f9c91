using Treepie.Computations;
using Treepie.Kinds;

namespace Treepie.Computing.Tests.JavaScript;

/// <summary>A database with nothing in it, which takes what it is given and keeps nothing.</summary>
internal sealed class NoHost : IScriptHost
{
    public byte[]? Load(string id) => null;

    public byte[]? CompareExchange(string key) => null;

    public long? Counter(string id, string name) => null;

    public string Put(string id, ReadOnlyMemory<byte> json, string? expectedChangeVector) => id;

    public void Delete(string id, string? expectedChangeVector)
    {
    }

    public void IncrementCounter(string id, string name, long delta)
    {
    }

    public void DeleteCounter(string id, string name)
    {
    }

    public IEnumerable<TimeSeriesPoint> TimeSeries(string id, string name, DateTime from, DateTime to) => [];

    public byte[] DeclaredTimeSeries(int declared, string? id) => throw new NotSupportedException();

    public void ChangeTimeSeries(
        string id, string name, IReadOnlyList<TimeSeriesPoint> points,
        IReadOnlyList<(DateTime From, DateTime To)> deletes) => throw new NotSupportedException();

    public void Include(ScriptIncludeKind kind, string name)
    {
    }

    public void Write(string line)
    {
    }
}
