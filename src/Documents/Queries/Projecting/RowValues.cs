using System.Buffers;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;
using Treepie.Indexes.Fields;
using Treepie.Indexing;
using Treepie.Json;
using Treepie.Queries.Filters;
using Treepie.Queries.Sources;
using Treepie.Store;

namespace Treepie.Queries.Projecting;

/// <summary>
/// Reads the values that a query selects of one result after the other: of its document, its index entry, the documents that it
/// loads, and its script. A loaded document is a member of an object, in which paths mean what they mean in documents. Not
/// thread-safe.
/// </summary>
/// <param name="snapshot">The snapshot of the results.</param>
/// <param name="loads">The documents that the query loads.</param>
/// <param name="body">Writes what functions see of a result that look at all of it; null if there are none.</param>
internal sealed class RowValues(DatabaseSnapshot snapshot, IReadOnlyList<LoadedDocument> loads, ResultBody? body = null)
{
    /// <summary>The maximum number of documents that one name of LOAD stands for.</summary>
    private const int MaxLoaded = 4_096;

    private readonly ArrayBufferWriter<byte>?[] _objects = new ArrayBufferWriter<byte>?[loads.Count];
    private readonly bool[] _isLoaded = new bool[loads.Count];
    private ArrayBufferWriter<byte>? _value; // scratch buffer
    private ResultSource? _source;

    /// <summary>The snapshot of the results.</summary>
    public DatabaseSnapshot Snapshot => snapshot;

    /// <summary>Limits what takes long within one result.</summary>
    public ExaminationTime Time { get; init; } = new(TimeProvider.System, TimeSpan.MaxValue, default);

    /// <summary>The source, positioned on the current result.</summary>
    public ResultSource Source => _source ?? throw new InvalidOperationException("No result is current.");

    /// <summary>
    /// Whether values that the index stores are taken from it. If not, they are read from the document, except those that only
    /// the index has.
    /// </summary>
    public bool PrefersStored { get; set; }

    /// <summary>The values that the script computed for the current result, by name; undefined if there is no script.</summary>
    public JsonElement Computed { get; private set; }

    /// <summary>Begins the current result of a source.</summary>
    public void Begin(ResultSource source, JsonElement computed = default)
    {
        (_source, Computed) = (source, computed);
        Array.Clear(_isLoaded);
    }

    /// <summary>Writes a value as JSON; returns false, with nothing written, if there is none.</summary>
    /// <param name="field">The value.</param>
    /// <param name="output">Receives the value.</param>
    public bool TryWrite(ProjectedField field, IBufferWriter<byte> output)
    {
        if (field is { Function: { } function, Of: { } of })
            return function.TryWrite(this, of, output);
        if (field.Literal is { } literal)
            output.Write(literal);
        else if (field.Beside is { } beside)
            beside.Write(this, output);
        else if (field.IsComputedByScript)
            return TryWriteComputed(field.Name, output);
        else if (field.Load >= 0)
            return field.Path is not null && JsonPathReader.TryWrite(Loaded(field.Load), field.Path, output);
        else if (field.IsId)
            JsonStrings.Write(output, Source.Id);
        else if (field.Slot >= 0 && (PrefersStored || field.IsComputed) && !Source.Stored.IsEmpty)
            return TryWriteStored(field.Slot, Source.Stored, output);
        else if (field.IsDocument)
            WriteDocument(output);
        else
            return field.Path is not null && DocumentValues.TryWrite(Source.Current, field.Path, output);
        return true;
    }

    /// <summary>
    /// Returns the value at a path of the current document as JSON, null if there is none. Valid until the next call.
    /// </summary>
    public ReadOnlySpan<byte> Value(FieldPath path) =>
        JsonPathReader.TryRead(Source.Current.Body, path, ref _value, out ReadOnlySpan<byte> value) ? value : "null"u8;

    /// <summary>
    /// Writes the object in which the paths of a value are: the result as filters see it, or that of a loaded document.
    /// </summary>
    public void WriteRoot(ProjectedField field, ArrayBufferWriter<byte> output)
    {
        if (field.Load >= 0)
            output.Write(Loaded(field.Load));
        else
            (body ?? throw new InvalidOperationException("No function looks at the whole result.")).Write(Source, output);
    }

    /// <summary>Returns the folded id that is a value of the current result, or null if the value is no id.</summary>
    public byte[]? FoldedId(ProjectedField value)
    {
        var json = new ArrayBufferWriter<byte>();
        if (!TryWrite(value, json))
            return null;
        var reader = new Utf8JsonReader(json.WrittenSpan);
        return reader.Read()
            && reader.TokenType == JsonTokenType.String
            && reader.GetString() is { Length: > 0 and <= DocumentId.MaxBytes } id
            && Encoding.UTF8.GetBytes(id) is { Length: <= DocumentId.MaxBytes } utf8
                ? CollectionName.Fold(utf8)
                : null;
    }

    private bool TryWriteComputed(string name, IBufferWriter<byte> output)
    {
        if (Computed.ValueKind != JsonValueKind.Object || !Computed.TryGetProperty(name, out JsonElement value))
            return false;
        output.Write(JsonMarshal.GetRawUtf8Value(value));
        return true;
    }

    private static bool TryWriteStored(int slot, StoredRecord stored, IBufferWriter<byte> output)
    {
        if (!stored.TryGet(slot, out ReadOnlySpan<byte> value))
            return false;
        output.Write(value);
        return true;
    }

    private void WriteDocument(IBufferWriter<byte> output)
    {
        if (Source.HasDocuments)
            Source.Current.WriteTo(output);
        else
            output.Write(Source.Current.Body);
    }

    /// <summary>Returns an object whose only member is what LOAD brings under a name.</summary>
    private ReadOnlySpan<byte> Loaded(int load)
    {
        ArrayBufferWriter<byte> made = _objects[load] ??= new ArrayBufferWriter<byte>();
        if (_isLoaded[load])
            return made.WrittenSpan;

        (string alias, ProjectedField source, bool many) = loads[load];
        made.ResetWrittenCount();
        made.Write("{"u8);
        JsonStrings.Write(made, Encoding.UTF8.GetBytes(alias));
        made.Write(":"u8);
        var json = new ArrayBufferWriter<byte>();
        if (!TryWrite(source, json))
            json.Write("null"u8);
        using var ids = JsonDocument.Parse(json.WrittenMemory, new JsonDocumentOptions { MaxDepth = 1_024 });
        JsonElement wanted = ids.RootElement;
        if (many || wanted.ValueKind == JsonValueKind.Array)
            WriteDocuments(alias, wanted, made);
        else if (!TryWriteDocument(wanted, made))
            made.Write("null"u8);
        made.Write("}"u8);
        _isLoaded[load] = true;
        return made.WrittenSpan;
    }

    private void WriteDocuments(string alias, JsonElement ids, ArrayBufferWriter<byte> output)
    {
        int count = 0;
        output.Write("["u8);
        Add(ids);
        output.Write("]"u8);

        void Add(JsonElement id)
        {
            if (id.ValueKind == JsonValueKind.Array)
            {
                foreach (JsonElement one in id.EnumerateArray())
                    Add(one);
                return;
            }

            if (id.ValueKind is JsonValueKind.Null or JsonValueKind.Undefined)
                return;
            if (++count > MaxLoaded)
                throw new InvalidQueryException(
                    $"'load' brings more than {MaxLoaded:N0} documents as '{alias}' for one result. Load fewer.");
            if (count > 1)
                output.Write(","u8);
            if (!TryWriteDocument(id, output))
                output.Write("null"u8);
        }
    }

    private bool TryWriteDocument(JsonElement id, IBufferWriter<byte> output)
    {
        if (id.ValueKind != JsonValueKind.String || !snapshot.TryGet(id.GetString(), out Document document))
            return false;
        document.WriteTo(output);
        return true;
    }
}
