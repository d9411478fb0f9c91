using System.Buffers;
using System.Text;
using Treepie.Indexes.Extraction;
using Treepie.Indexes.Fields;
using Treepie.Indexing;
using Treepie.Json;
using Treepie.Queries.Sources;
using Treepie.Store;

namespace Treepie.Queries.Projecting;

/// <summary>
/// What SELECT makes of a document: an object of named values. A value that is not there is null. Where the index keeps all of
/// them the document is not read. Immutable.
/// </summary>
internal sealed class Projection(IReadOnlyList<ProjectedField> fields)
{
    /// <summary>
    /// The name under which clients select, behind all else and without being asked, what types members of a document had: of all
    /// members, not of those that are selected.
    /// </summary>
    private const string TypesOfMembers = "__PROJECTED_NESTED_OBJECT_TYPES__";

    /// <summary>
    /// Whether values come from the document rather than from what the index keeps, so that all are of one state; what is
    /// computed only the index has.
    /// </summary>
    private readonly bool _needsDocument = fields.Any(field => field.NeedsDocument) && !fields.Any(field => field.IsComputed);

    /// <summary>
    /// Writes the fields, apart by commas, without brackets; returns how many bytes of it make two results equal.
    /// </summary>
    public int WriteFields(ResultSource source, DatabaseSnapshot snapshot, ArrayBufferWriter<byte> output)
    {
        int telling = output.WrittenCount;
        StoredRecord stored = _needsDocument ? default : source.Stored;
        for (int i = 0; i < fields.Count; i++)
        {
            if (i > 0)
                output.Write(","u8);
            output.Write(fields[i].EncodedName);
            if (fields[i].Beside is { } beside)
                beside.Write(source, snapshot, output);
            else
                WriteValue(fields[i], source, stored, output);
            if (i < fields.Count - 1 || fields[i].Name != TypesOfMembers)
                telling = output.WrittenCount;
        }

        return telling;
    }

    /// <summary>Names of the fields that are time series.</summary>
    public IReadOnlyList<string> TimeSeriesFields { get; } =
        [.. fields.Where(static field => field.Beside is SelectedTimeSeries).Select(static field => field.Name)];

    /// <summary>Whether a value lies beside documents.</summary>
    public bool ReadsBeside { get; } = fields.Any(static field => field.Beside is not null);

    /// <summary>Writes the fields of an object that were written before, with their metadata; a group has no id.</summary>
    public static void WriteObject(
        ReadOnlySpan<byte> id, ReadOnlySpan<byte> writtenFields, ReadOnlySpan<byte> extraMetadata, IBufferWriter<byte> output)
    {
        output.Write("{"u8);
        output.Write(writtenFields);
        output.Write(writtenFields.IsEmpty ? "\"@metadata\":{\"@projection\":true"u8 : ",\"@metadata\":{\"@projection\":true"u8);
        if (!id.IsEmpty)
        {
            output.Write(",\"@id\":"u8);
            JsonStrings.Write(output, id);
        }

        if (!extraMetadata.IsEmpty)
        {
            output.Write(","u8);
            output.Write(extraMetadata);
        }

        output.Write("}}"u8);
    }

    private static void WriteValue(ProjectedField field, ResultSource source, StoredRecord stored, IBufferWriter<byte> output)
    {
        if (field.Literal is { } literal)
        {
            output.Write(literal);
        }
        else if (!stored.IsEmpty && field.Slot >= 0)
        {
            if (field.IsId)
                JsonStrings.Write(output, source.Id);
            else if (stored.TryGet(field.Slot, out ReadOnlySpan<byte> value))
                output.Write(value);
            else
                output.Write("null"u8);
        }
        else if (field.IsId)
        {
            JsonStrings.Write(output, source.Id);
        }
        else if (field.Path is null || !DocumentValues.TryWrite(source.Current, field.Path, output))
        {
            if (field.IsRequired)
                throw new InvalidQueryException(
                    $"The document '{System.Text.Encoding.UTF8.GetString(source.Id)}' has no '{field.Name}', which the "
                        + $"projection has to take from documents (FromDocumentOrThrow).");
            output.Write("null"u8);
        }
    }
}

/// <summary>One value of a projection: what stands at a path, what the index keeps, the id, or the same for all.</summary>
internal sealed class ProjectedField
{
    private ProjectedField(string name)
    {
        Name = name;
        var encoded = new ArrayBufferWriter<byte>();
        JsonStrings.Write(encoded, Encoding.UTF8.GetBytes(name));
        encoded.Write(":"u8);
        EncodedName = encoded.WrittenSpan.ToArray();
    }

    public string Name { get; }

    /// <summary>The name as JSON, with its colon.</summary>
    public byte[] EncodedName { get; }

    /// <summary>Where it stands in the document; null: nowhere.</summary>
    public FieldPath? Path { get; private init; }

    /// <summary>JSON.</summary>
    public byte[]? Literal { get; private init; }

    public bool IsId { get; private init; }

    /// <summary>What lies beside the document.</summary>
    public SelectedBeside? Beside { get; private init; }

    /// <summary>Its number in what entries keep; -1: they do not.</summary>
    public int Slot { get; private init; } = -1;

    /// <summary>Whether only the index has it.</summary>
    public bool IsComputed => Slot >= 0 && Path is null && !IsId;

    /// <summary>Whether it is an error where a document has it not.</summary>
    public bool IsRequired { get; private init; }

    /// <summary>Whether it cannot be had from an index that keeps values.</summary>
    public bool NeedsDocument => Literal is null && Slot < 0 && Path is not null;

    public static ProjectedField OfPath(string name, FieldPath path, bool isRequired = false) =>
        new(name) { Path = path, IsRequired = isRequired };

    public static ProjectedField OfStored(string name, int slot, FieldPath? path) => new(name) { Slot = slot, Path = path };

    public static ProjectedField OfBeside(string name, SelectedBeside beside) => new(name) { Beside = beside };

    public static ProjectedField OfNothing(string name) => new(name);

    public static ProjectedField OfLiteral(string name, byte[] json) => new(name) { Literal = json };

    public static ProjectedField OfId(string name) => new(name) { IsId = true, Slot = StoredExtractor.IdSlot };
}
