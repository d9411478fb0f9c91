using System.Buffers;
using System.Text.Json;
using System.Text.Unicode;
using CsvHelper;
using Treepie.CommandLine.Http;

namespace Treepie.CommandLine.Import;

/// <summary>
/// Rows of a CSV file (RFC 4180) as JSON objects. The first row names the members: <c>ShipTo.City</c> is a member of an object,
/// <c>@id</c> is the document's id, as written by <c>treepie query --format csv</c>. An empty cell produces no member.
/// </summary>
internal sealed class CsvLines : IDocumentLines, IDisposable
{
    private const string IdColumn = "@id";

    private readonly CsvReader _rows;
    private readonly bool _keepsText;
    private readonly ArrayBufferWriter<byte> _json = new(4096);
    private CsvColumn? _columns;

    /// <param name="content">The file.</param>
    /// <param name="separator">
    /// Separator of cells, or null to detect comma, semicolon, tab or vertical bar from the first rows.
    /// </param>
    /// <param name="keepsText">Whether every cell is a string, even one that reads as a number, <c>true</c> or JSON.</param>
    public CsvLines(Stream content, char? separator, bool keepsText)
    {
        _keepsText = keepsText;
        _rows = CsvReader.Create(
            content,
            new CsvReaderOptions
            {
                Separator = separator,
                TrackLineNumbers = true,
                MaxRecordSize = LineReader.DefaultMaxLineBytes,
                MalformedData = CsvMalformedDataHandling.Throw,
            });
    }

    /// <inheritdoc/>
    public long LineNumber { get; private set; }

    /// <inheritdoc/>
    public ReadOnlyMemory<byte> Line => _json.WrittenMemory;

    /// <inheritdoc/>
    public string? Problem { get; private set; }

    /// <inheritdoc/>
    public async ValueTask<bool> ReadAsync(CancellationToken cancellationToken)
    {
        try
        {
            if (_columns is null)
            {
                await _rows.ReadHeaderAsync(cancellationToken);
                _columns = CsvColumn.Of(_rows.Headers);
            }

            if (!await _rows.ReadAsync(cancellationToken))
                return false;
        }
        catch (CsvFormatException exception)
        {
            throw new InvalidDataException(exception.Message, exception);
        }

        LineNumber = _rows.LineNumber;
        _json.ResetWrittenCount();
        Problem = FindProblem(_rows.Headers.Count);
        if (Problem is null)
            Write(_columns);
        return true;
    }

    /// <inheritdoc/>
    public void Dispose() => _rows.Dispose();

    private string? FindProblem(int columns)
    {
        if (_rows.FieldCount != columns)
            return $"has {_rows.FieldCount} cells, and the first row names {columns} columns";
        for (int cell = 0; cell < columns; cell++)
            if (!Utf8.IsValid(_rows.GetSpan(cell)))
                return $"its cell {cell + 1} is not valid UTF-8";
        return null;
    }

    private void Write(CsvColumn columns)
    {
        using var json = new Utf8JsonWriter(_json);
        json.WriteStartObject();
        foreach (CsvColumn column in columns.Members)
            if (column is { Name: IdColumn, Cell: { } cell })
                WriteId(json, cell);
            else
                Write(json, column);
        json.WriteEndObject();
    }

    private void WriteId(Utf8JsonWriter json, int cell)
    {
        json.WriteStartObject("@metadata"u8);
        if (!_rows.IsEmpty(cell))
            json.WriteString(IdColumn, _rows.GetSpan(cell));
        json.WriteEndObject();
    }

    private void Write(Utf8JsonWriter json, CsvColumn column)
    {
        if (!HasValue(column))
            return;
        json.WritePropertyName(column.Name);
        if (column.Cell is { } cell)
        {
            WriteCell(json, _rows.GetSpan(cell));
            return;
        }

        json.WriteStartObject();
        foreach (CsvColumn member in column.Members)
            Write(json, member);
        json.WriteEndObject();
    }

    private bool HasValue(CsvColumn column) =>
        column.Cell is { } cell ? !_rows.IsEmpty(cell) : column.Members.Any(HasValue);

    /// <summary>Numbers keep their spelling. <c>007</c> is not a JSON number and stays a string.</summary>
    private void WriteCell(Utf8JsonWriter json, ReadOnlySpan<byte> text)
    {
        if (!_keepsText && "-0123456789[{tf"u8.Contains(text[0]) && IsJson(text))
            json.WriteRawValue(text, skipInputValidation: true);
        else
            json.WriteStringValue(text);
    }

    private static bool IsJson(ReadOnlySpan<byte> text)
    {
        var reader = new Utf8JsonReader(text);
        try
        {
            while (reader.Read())
            {
            }

            return true;
        }
        catch (JsonException)
        {
            return false;
        }
    }
}
