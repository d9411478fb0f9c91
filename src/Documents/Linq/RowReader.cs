using System.Buffers;
using System.Linq.Expressions;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Treepie.Queries;

namespace Treepie.Linq;

/// <summary>The columns that a query selects, and the conversion of its rows.</summary>
internal sealed class RowReader
{
    private readonly QueryModel _model;
    private readonly IReadOnlyList<Column> _columns;
    private readonly bool _needsDocument;
    private readonly ArrayBufferWriter<byte> _buffer = new();

    private RowReader(QueryModel model, IReadOnlyList<Column> columns, bool needsDocument, bool isComputed)
    {
        (_model, _columns, _needsDocument) = (model, columns, needsDocument);
        IsComputed = isComputed;
    }

    /// <summary>The text of the <c>select</c> clause; null for whole documents.</summary>
    public string? Select => _columns.Count == 0 ? null : string.Join(", ", _columns.Select(column => column.Text));

    /// <summary>Whether rows are computed, instead of being the columns unchanged.</summary>
    public bool IsComputed { get; }

    public static RowReader Of(QueryModel model, PathTranslator paths)
    {
        if (model.Into is { } into)
            return new RowReader(model, MembersOf(into, model), needsDocument: false, isComputed: false);
        if (model.Projection is not { } projection)
            return new RowReader(model, [], needsDocument: true, isComputed: false);
        paths.EnterDocument(projection);
        var collector = new ColumnCollector(paths, projection);
        collector.Visit(projection.Body);
        return new RowReader(
            model, collector.NeedsDocument ? [] : collector.Columns, collector.NeedsDocument, collector.IsComputed);
    }

    /// <summary>Reads the current result as an object.</summary>
    /// <param name="results">The results.</param>
    /// <param name="isLeftOut">Whether there is none, because its document was deleted in this session.</param>
    public object? Read(QueryResults results, out bool isLeftOut)
    {
        object? document = _needsDocument ? _model.Read(results) : null;
        isLeftOut = _needsDocument && document is null;
        if (_needsDocument && (isLeftOut || _model.Projection is null))
            return document;

        var values = new Dictionary<Expression, object?>(ReferenceEqualityComparer.Instance);
        var documents = new LoadedDocuments(_model.Session, results.Snapshot);
        if (_needsDocument && _model.Projection is { } whole)
        {
            values[whole.Parameter] = document;
            return new Interpreter(values, documents).Evaluate(whole.Body);
        }

        if (_columns.Count == 0 && _model.Projection is { } constant)
            return new Interpreter(values, documents).Evaluate(constant.Body);
        _buffer.ResetWrittenCount();
        results.WriteCurrent(_buffer);
        using JsonDocument json = JsonDocument.Parse(
            _buffer.WrittenMemory, new JsonDocumentOptions { MaxDepth = DatabaseOptions.MostDocumentDepth + 1 });
        if (_model.Into is { } into)
            return ReadInto(json.RootElement, into);
        foreach (Column column in _columns)
        {
            object? value = column.Read(json.RootElement, _model);
            foreach (Expression node in column.Nodes)
                values[node] = value;
        }

        return new Interpreter(values, documents).Evaluate(_model.Projection!.Body); // columns without Into are of a projection
    }

    private object? ReadInto(JsonElement row, Type into)
    {
        try
        {
            return row.Deserialize(_model.Session.Json.GetTypeInfo(into));
        }
        catch (JsonException error)
        {
            throw new TreepieException(
                $"A result of the query cannot be read as {into.Name}: {error.Message} Give its members the types that the "
                    + $"documents have.",
                error);
        }
    }

    private static List<Column> MembersOf(Type into, QueryModel model)
    {
        JsonTypeInfo json = model.Session.Json.GetTypeInfo(into);
        var columns = new List<Column>();
        foreach (JsonPropertyInfo property in json.Properties)
        {
            bool isId = property.Name.Equals(model.Session.IdMemberOf(model.DocumentType), StringComparison.Ordinal);
            string path = isId ? "id()" : new DocumentPath("", into).Member(property.Name, property.PropertyType).Text;
            columns.Add(new Column(property.Name, path, property.PropertyType, isId));
        }

        return columns.Count > 0
            ? columns
            : throw new NotSupportedException(
                $"{into.Name} has no members that are read from JSON: nothing can be projected into it.");
    }
}
