using System.Buffers;
using System.Diagnostics;
using System.Text.Json;
using Treepie.Computations;
using Treepie.Queries.Projecting;
using Treepie.Queries.Sources;

namespace Treepie.Queries.Scripts;

/// <summary>Runs the script of a query on its documents, one after the other. Not thread-safe.</summary>
internal sealed class ScriptRows(
    QueryScript script, ResultBody filtered, ResultBody selected, JsonElement parameters, RowValues row,
    Action<ScriptIncludeKind, string> include, TimeProvider timeProvider, TimeSpan longest, CancellationToken cancellationToken)
{
    private static readonly JsonElement _none = JsonDocument.Parse("{}").RootElement;

    private readonly SnapshotScriptHost _host = new(row.Snapshot, include, script.Series, row, cancellationToken);
    private readonly ArrayBufferWriter<byte> _document = new();
    private readonly ArrayBufferWriter<byte> _result = new();
    private readonly JsonElement[] _arguments = [parameters.ValueKind == JsonValueKind.Object ? parameters : _none];
    private readonly Queue<byte[]> _rows = [];
    private readonly List<string> _seriesFields = [];

    /// <summary>The time spent in scripts so far.</summary>
    public TimeSpan Elapsed { get; private set; }

    /// <summary>The part of <see cref="Elapsed"/> that was spent on rows and values of a projection.</summary>
    public TimeSpan SelectElapsed { get; private set; }

    /// <summary>The number of documents whose rows or values were computed.</summary>
    public long Documents { get; private set; }

    /// <summary>The number of rows that were computed.</summary>
    public long Rows { get; private set; }

    /// <summary>The number of rows of the current document that were not returned yet.</summary>
    public int Waiting => _rows.Count;

    /// <summary>The names of members that hold a time series, of the rows so far.</summary>
    public IReadOnlyList<string> TimeSeriesFields => _seriesFields;

    /// <summary>The current row: members of an object, separated by commas, without braces.</summary>
    public ReadOnlyMemory<byte> Current { get; private set; }

    /// <summary>Whether a document passes the filter.</summary>
    public bool Wants(ResultSource source)
    {
        if (!script.Filters)
            return true;
        Call(QueryScript.FilterFunction, source, filtered);
        return _result.WrittenSpan.SequenceEqual("true"u8);
    }

    /// <summary>Computes the rows of a document: one, none, or one for each element if the script returns an array.</summary>
    public void Begin(ResultSource source)
    {
        Debug.Assert(_rows.Count == 0, "rows of a document are given before those of the next");
        CallSelect(source);
        if (_result.WrittenCount == 0)
            return;
        using var given = JsonDocument.Parse(_result.WrittenMemory, new JsonDocumentOptions { MaxDepth = 1_024 });
        if (given.RootElement.ValueKind != JsonValueKind.Array)
        {
            Add(given.RootElement);
            return;
        }

        foreach (JsonElement row in given.RootElement.EnumerateArray())
            Add(row);
    }

    /// <summary>Computes values of a projection for a document: an object with a member for each.</summary>
    public JsonElement Compute(ResultSource source)
    {
        CallSelect(source);
        Rows++;
        using var given = JsonDocument.Parse(_result.WrittenMemory, new JsonDocumentOptions { MaxDepth = 1_024 });
        if (script.Series.Count > 0)
            NoteSeries(given.RootElement);
        return given.RootElement.Clone();
    }

    /// <summary>Advances to the next row. Returns false after the last one.</summary>
    public bool MoveNext()
    {
        if (!_rows.TryDequeue(out byte[]? row))
            return false;
        Current = row;
        return true;
    }

    private void Add(JsonElement row)
    {
        if (script.Series.Count > 0 && row.ValueKind == JsonValueKind.Object)
            NoteSeries(row);

        int before = _rows.Count;
        // A row that is not an object becomes the member "Value" of one.
        if (row.ValueKind == JsonValueKind.Object && row.TryGetProperty("@metadata", out _))
            _rows.Enqueue(WithoutMetadata(row));
        else if (row.ValueKind == JsonValueKind.Object)
            _rows.Enqueue(System.Text.Encoding.UTF8.GetBytes(row.GetRawText())[1..^1]);
        else if (row.ValueKind != JsonValueKind.Null)
            _rows.Enqueue(System.Text.Encoding.UTF8.GetBytes($"\"Value\":{row.GetRawText()}"));
        Rows += _rows.Count - before;
    }

    /// <summary>
    /// Notes members that hold what a declared time series gives. Clients make objects of them only if they are told the names.
    /// </summary>
    private void NoteSeries(JsonElement row)
    {
        foreach (JsonProperty member in row.EnumerateObject())
            if (member.Value.ValueKind == JsonValueKind.Object
                && member.Value.GetPropertyCount() == 2
                && member.Value.TryGetProperty("Count"u8, out JsonElement count)
                && count.ValueKind == JsonValueKind.Number
                && member.Value.TryGetProperty("Results"u8, out JsonElement results)
                && results.ValueKind == JsonValueKind.Array
                && !_seriesFields.Contains(member.Name))
                _seriesFields.Add(member.Name);
    }

    /// <summary>Removes metadata, because the result gets its own.</summary>
    private static byte[] WithoutMetadata(JsonElement row) =>
        System.Text.Encoding.UTF8.GetBytes(string.Join(',', row.EnumerateObject()
            .Where(static member => member.Name != "@metadata")
            .Select(static member => $"\"{JsonEncodedText.Encode(member.Name)}\":{member.Value.GetRawText()}")));

    private void CallSelect(ResultSource source)
    {
        TimeSpan before = Elapsed;
        Call(QueryScript.SelectFunction, source, selected);
        SelectElapsed += Elapsed - before;
        Documents++;
    }

    private static string AdviceOn(ScriptException error) =>
        error.Message.EndsWith(" is not defined", StringComparison.Ordinal)
            ? ". A script names the document as 'from' does: from Orders as o select { Name: o.Company }."
            : "";

    private void Call(string function, ResultSource source, ResultBody body)
    {
        if (Elapsed > longest)
            throw new TimeoutException(
                $"The scripts of the query did not finish within {longest.TotalSeconds:0.#} seconds (MaxQueryTime). Narrow its "
                    + $"condition, or give it a 'filter_limit'.");
        long began = timeProvider.GetTimestamp();
        _host.Source = source;
        _document.ResetWrittenCount();
        _result.ResetWrittenCount();
        body.Write(source, _document);
        try
        {
            script.Script.Call(
                function, new ScriptCall(_document.WrittenMemory, _arguments, ReturnsThis: false), _host, _result,
                cancellationToken);
        }
        catch (ScriptException error) when (source.HasDocuments)
        {
            throw new ScriptException(
                $"The query failed for document '{source.Current.IdText()}'. {error.Message}{AdviceOn(error)}", error.Line,
                error.Column, error.IsSyntax, error);
        }
        finally
        {
            Elapsed += timeProvider.GetElapsedTime(began);
        }
    }
}
