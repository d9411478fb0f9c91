using System.Buffers;
using System.Text;
using Treepie.Indexes.Extraction;
using Treepie.Indexes.Fields;
using Treepie.Json;

namespace Treepie.Queries.Projecting;

/// <summary>
/// The projection of SELECT: an object of named values. A missing value is null. The document is not read if the index stores all
/// values. Immutable.
/// </summary>
/// <param name="fields">The values.</param>
/// <param name="loads">The documents that the query loads.</param>
internal sealed class Projection(IReadOnlyList<ProjectedField> fields, IReadOnlyList<LoadedDocument> loads)
{
    /// <summary>
    /// A name that some clients always add at the end of the selection, for the types of the document's members. It describes all
    /// members rather than the selected ones, so it is ignored when rows are compared.
    /// </summary>
    private const string TypesOfMembers = "__PROJECTED_NESTED_OBJECT_TYPES__";

    /// <summary>
    /// Whether all values are read from the document, even those that the index stores, so that they are from the same state. Not
    /// if a field is computed, since only the index has it.
    /// </summary>
    private readonly bool _needsDocument =
        Sources(fields, loads).Any(field => field.NeedsDocument) && !Sources(fields, loads).Any(field => field.IsComputed);

    /// <summary>
    /// Writes the fields, separated by commas, without braces. Returns the number of written bytes to compare for
    /// <c>distinct</c>.
    /// </summary>
    public int WriteFields(RowValues row, ArrayBufferWriter<byte> output)
    {
        int telling = output.WrittenCount;
        row.PrefersStored = !_needsDocument;
        for (int i = 0; i < fields.Count; i++)
        {
            if (i > 0)
                output.Write(","u8);
            output.Write(fields[i].EncodedName);
            if (!row.TryWrite(fields[i], output))
                WriteMissing(fields[i], row, output);
            if (i < fields.Count - 1 || fields[i].Name != TypesOfMembers)
                telling = output.WrittenCount;
        }

        return telling;
    }

    /// <summary>Names of the fields that are time series.</summary>
    public IReadOnlyList<string> TimeSeriesFields { get; } =
        [.. fields.Where(static field => field.Beside is SelectedTimeSeries).Select(static field => field.Name)];

    /// <summary>Whether a value is read from something else than the document of the result.</summary>
    public bool ReadsBeside { get; } = fields.Any(static field => field.ReadsBeside);

    /// <summary>Whether values are computed of others by functions.</summary>
    public bool HasFunctions { get; } = fields.Any(static field => field.Function is not null);

    /// <summary>
    /// The path of the only value that tells rows apart, if it is read from the document of the result; null if whole rows must
    /// be compared.
    /// </summary>
    public FieldPath? OnlyPath { get; } =
        fields.Count == 1 || (fields.Count == 2 && fields[1].Name == TypesOfMembers) ? fields[0].PathOfDocument : null;

    /// <summary>Writes an object of previously written fields and its metadata. The id is empty for a group.</summary>
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

    private static void WriteMissing(ProjectedField field, RowValues row, IBufferWriter<byte> output)
    {
        if (field.IsRequired)
            throw new InvalidQueryException(
                $"The document '{Encoding.UTF8.GetString(row.Source.Id)}' has no "
                    + $"'{field.Path?.Text ?? field.Of?.Path?.Text ?? field.Name}', which the projection has to "
                    + $"take from documents (FromDocumentOrThrow).");
        output.Write("null"u8);
    }

    /// <summary>Returns the values, and those that are ids of documents to load.</summary>
    private static IEnumerable<ProjectedField> Sources(
        IReadOnlyList<ProjectedField> fields, IReadOnlyList<LoadedDocument> loads) =>
        fields.Any(static field => field.ReadsBeside)
            ? fields.Concat(loads.Select(static load => load.Source))
            : fields;
}

/// <summary>
/// One value of a projection: at a path of the document or of a loaded one, stored in the index, the id, the whole document, a
/// constant, computed of another one, or computed by the script. Immutable.
/// </summary>
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

    /// <summary>Its path in the document, or null.</summary>
    public FieldPath? Path { get; private init; }

    /// <summary>A constant as JSON, or null.</summary>
    public byte[]? Literal { get; private init; }

    public bool IsId { get; private init; }

    /// <summary>A value stored outside the document, or null.</summary>
    public SelectedBeside? Beside { get; private init; }

    /// <summary>Its slot in the stored fields of entries, or -1 if it is not stored.</summary>
    public int Slot { get; private init; } = -1;

    /// <summary>Whether the value exists only in the index.</summary>
    public bool IsComputed => Of?.IsComputed ?? (Slot >= 0 && Path is null && !IsId);

    /// <summary>The value that this one is computed of, or null.</summary>
    public ProjectedField? Of { get; private init; }

    /// <summary>What is computed of <see cref="Of"/>, or null.</summary>
    public SelectedFunction? Function { get; private init; }

    /// <summary>The number of the loaded document that the path begins with, or -1.</summary>
    public int Load { get; private init; } = -1;

    /// <summary>Whether it is the whole document.</summary>
    public bool IsDocument { get; private init; }

    /// <summary>Whether the script of the query computes it, under its name.</summary>
    public bool IsComputedByScript { get; private init; }

    /// <summary>Whether it is an error if a document lacks the value.</summary>
    public bool IsRequired { get; private init; }

    /// <summary>Whether the value must be read from the document because the index does not store it.</summary>
    public bool NeedsDocument => Of is { } of
        ? of.NeedsDocument || (of.Load < 0 && Function is { NeedsDocument: true })
        : IsDocument || (Literal is null && Slot < 0 && Load < 0 && Path is not null);

    /// <summary>Whether the value is read from something else than the document of the result.</summary>
    public bool ReadsBeside => Beside is not null || Load >= 0;

    /// <summary>Its path, if it is surely read from the body of the document and may be missing; otherwise null.</summary>
    public FieldPath? PathOfDocument => Load < 0 && Slot < 0 && !IsRequired && Path is { IsMetadata: false } ? Path : null;

    public static ProjectedField OfPath(string name, FieldPath path, bool isRequired = false) =>
        new(name) { Path = path, IsRequired = isRequired };

    public static ProjectedField OfStored(string name, int slot, FieldPath? path) => new(name) { Slot = slot, Path = path };

    public static ProjectedField OfFunction(string name, SelectedFunction function, ProjectedField of) =>
        new(name) { Function = function, Of = of, Load = of.Load, IsRequired = of.IsRequired };

    public static ProjectedField OfBeside(string name, SelectedBeside beside) => new(name) { Beside = beside };

    public static ProjectedField OfLoaded(string name, int load, FieldPath path) => new(name) { Load = load, Path = path };

    public static ProjectedField OfDocument(string name) => new(name) { IsDocument = true };

    public static ProjectedField OfScript(string name) => new(name) { IsComputedByScript = true };

    public static ProjectedField OfNothing(string name) => new(name);

    public static ProjectedField OfLiteral(string name, byte[] json) => new(name) { Literal = json };

    public static ProjectedField OfId(string name) => new(name) { IsId = true, Slot = StoredExtractor.IdSlot };
}
