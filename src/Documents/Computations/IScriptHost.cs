using Treepie.Kinds;

namespace Treepie.Computations;

/// <summary>What a script may look at and do beside its document. One script at a time.</summary>
internal interface IScriptHost
{
    /// <summary>A document as clients see it, with <c>@metadata</c>; null where there is none.</summary>
    byte[]? Load(string id);

    /// <summary>The value of a compare-exchange key as JSON; null where there is none.</summary>
    byte[]? CompareExchange(string key);

    /// <summary>The sum of a counter of a document; null where there is none.</summary>
    long? Counter(string id, string name);

    /// <summary>Puts a document and gives its whole id.</summary>
    /// <exception cref="ScriptException">The script may only look.</exception>
    string Put(string id, ReadOnlyMemory<byte> json, string? expectedChangeVector);

    /// <summary>Deletes a document.</summary>
    /// <exception cref="ScriptException">The script may only look.</exception>
    void Delete(string id, string? expectedChangeVector);

    /// <summary>Adds to a counter of a document.</summary>
    /// <exception cref="ScriptException">The script may only look.</exception>
    void IncrementCounter(string id, string name, long delta);

    /// <summary>Deletes a counter of a document.</summary>
    /// <exception cref="ScriptException">The script may only look.</exception>
    void DeleteCounter(string id, string name);

    /// <summary>Entries of a time series of a document within a range, ends included, in order.</summary>
    IEnumerable<TimeSeriesPoint> TimeSeries(string id, string name, DateTime from, DateTime to);

    /// <summary>Deletes ranges of a time series of a document, and adds entries.</summary>
    /// <exception cref="ScriptException">The script may only look.</exception>
    void ChangeTimeSeries(
        string id, string name, IReadOnlyList<TimeSeriesPoint> points, IReadOnlyList<(DateTime From, DateTime To)> deletes);

    /// <summary>Takes a line that the script writes for people.</summary>
    void Write(string line);
}
