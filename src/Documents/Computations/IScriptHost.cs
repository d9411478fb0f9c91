using Treepie.Kinds;

namespace Treepie.Computations;

/// <summary>What a script may read and do apart from its document. Used by one script at a time.</summary>
internal interface IScriptHost
{
    /// <summary>Returns a document as clients see it, with <c>@metadata</c>; null if it does not exist.</summary>
    byte[]? Load(string id);

    /// <summary>Returns the value of a compare-exchange key as JSON; null if it does not exist.</summary>
    byte[]? CompareExchange(string key);

    /// <summary>Returns the sum of a counter of a document; null if it does not exist.</summary>
    long? Counter(string id, string name);

    /// <summary>Puts a document and returns its complete id.</summary>
    /// <exception cref="ScriptException">The script is read-only.</exception>
    string Put(string id, ReadOnlyMemory<byte> json, string? expectedChangeVector);

    /// <summary>Deletes a document.</summary>
    /// <exception cref="ScriptException">The script is read-only.</exception>
    void Delete(string id, string? expectedChangeVector);

    /// <summary>Adds to a counter of a document.</summary>
    /// <exception cref="ScriptException">The script is read-only.</exception>
    void IncrementCounter(string id, string name, long delta);

    /// <summary>Deletes a counter of a document.</summary>
    /// <exception cref="ScriptException">The script is read-only.</exception>
    void DeleteCounter(string id, string name);

    /// <summary>Returns the entries of a time series of a document in a range, bounds included, in order.</summary>
    IEnumerable<TimeSeriesPoint> TimeSeries(string id, string name, DateTime from, DateTime to);

    /// <summary>Returns what a time series that the query declares comes to, as JSON.</summary>
    /// <param name="declared">The number of the declared time series.</param>
    /// <param name="id">The document, or null for the one that the script runs for.</param>
    /// <exception cref="ScriptException">The script is not of a query, or runs for something that is no document.</exception>
    byte[] DeclaredTimeSeries(int declared, string? id);

    /// <summary>Deletes ranges of a time series of a document, and adds entries.</summary>
    /// <exception cref="ScriptException">The script is read-only.</exception>
    void ChangeTimeSeries(
        string id, string name, IReadOnlyList<TimeSeriesPoint> points, IReadOnlyList<(DateTime From, DateTime To)> deletes);

    /// <summary>
    /// Adds something to the answer of a query: a document by its id, or a value by its name. Nothing where there is no answer.
    /// </summary>
    void Include(ScriptIncludeKind kind, string name);

    /// <summary>Writes a line of diagnostic output.</summary>
    void Write(string line);
}
