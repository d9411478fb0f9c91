using System.Buffers;
using System.Diagnostics;
using System.Text.Json;
using Treepie.Computations;
using Treepie.Store;

namespace Treepie.Queries.Scripts;

/// <summary>Runs the script of a query over its documents, one after the other. Not thread-safe.</summary>
internal sealed class ScriptRows(QueryScript script, JsonElement parameters, DatabaseSnapshot snapshot, TimeProvider timeProvider, CancellationToken cancellationToken)
{
    private static readonly JsonElement _none = JsonDocument.Parse("{}").RootElement;

    private readonly SnapshotScriptHost _host = new(snapshot);
    private readonly ArrayBufferWriter<byte> _document = new();
    private readonly ArrayBufferWriter<byte> _result = new();
    private readonly JsonElement[] _arguments = [parameters.ValueKind == JsonValueKind.Object ? parameters : _none];
    private readonly Queue<byte[]> _rows = [];

    /// <summary>Time in scripts so far.</summary>
    public TimeSpan Elapsed { get; private set; }

    /// <summary>Rows of the document that are still to be given.</summary>
    public int Waiting => _rows.Count;

    /// <summary>The row it stands on: members of an object, apart by commas, without brackets.</summary>
    public ReadOnlyMemory<byte> Current { get; private set; }

    /// <summary>Whether a document is wanted.</summary>
    public bool Wants(Document document)
    {
        if (!script.Filters)
            return true;
        Call(QueryScript.FilterFunction, document);
        return _result.WrittenSpan.SequenceEqual("true"u8);
    }

    /// <summary>Works out the rows of a document: one, or those of an array that the script gives, or none.</summary>
    public void Begin(Document document)
    {
        Debug.Assert(_rows.Count == 0, "rows of a document are given before those of the next");
        Call(QueryScript.SelectFunction, document);
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

    /// <summary>Goes to the next row; false after the last.</summary>
    public bool MoveNext()
    {
        if (!_rows.TryDequeue(out byte[]? row))
            return false;
        Current = row;
        return true;
    }

    private void Add(JsonElement row)
    {
        // What is no object is the value of one.
        if (row.ValueKind == JsonValueKind.Object)
            _rows.Enqueue(System.Text.Encoding.UTF8.GetBytes(row.GetRawText())[1..^1]);
        else if (row.ValueKind != JsonValueKind.Null)
            _rows.Enqueue(System.Text.Encoding.UTF8.GetBytes($"\"Value\":{row.GetRawText()}"));
    }

    private void Call(string function, Document document)
    {
        long began = timeProvider.GetTimestamp();
        _document.ResetWrittenCount();
        _result.ResetWrittenCount();
        document.WriteTo(_document);
        try
        {
            script.Script.Call(function, new ScriptCall(_document.WrittenMemory, _arguments, ReturnsThis: false), _host, _result, cancellationToken);
        }
        catch (ScriptException error)
        {
            throw new ScriptException($"The query failed for document '{document.IdText()}'. {error.Message}", error.Line, error.Column, error.IsSyntax, error);
        }
        finally
        {
            Elapsed += timeProvider.GetElapsedTime(began);
        }
    }
}
