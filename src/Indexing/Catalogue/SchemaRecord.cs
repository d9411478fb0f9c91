using System.Globalization;
using System.Text;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Catalogue;

/// <summary>
/// The stored schema. Numbers are varints; a text is its length and UTF-8.
/// <code>
/// number of fields, then per field:
///   analysis
///   name                 text
///   analyzer             text; empty for the default
///   boost                text, in digits; empty for 1
///   for a vector field   0: the default options; or 1, dimensions, metric, whether quantised, edges, candidates
/// </code>
/// </summary>
internal static class SchemaRecord
{
    private static ReadOnlySpan<byte> Key => "schema"u8;

    /// <summary>Reads the schema; null if the index has none yet.</summary>
    public static IndexSchema? Read(Tree? index)
    {
        if (index is null || !index.TryGet(Key, out ReadOnlySpan<byte> value))
            return null;

        var fields = new IndexField[RecordReader.Count(ref value, 4)];
        for (int i = 0; i < fields.Length; i++)
        {
            var analysis = (FieldAnalysis)Varint.Read(ref value);
            if (!Enum.IsDefined(analysis))
                throw RecordReader.Damaged($"has a field with the unknown analysis {(int)analysis}");
            string name = ReadText(ref value);
            string analyzer = ReadText(ref value);
            string boost = ReadText(ref value);
            VectorFieldOptions? vector = analysis == FieldAnalysis.Vector ? ReadVector(ref value) : null;
            fields[i] = new IndexField(name, analysis, analyzer.Length == 0 ? null : analyzer, vector)
            {
                Boost = boost.Length == 0 ? 1 : ReadBoost(boost),
            };
        }

        return new IndexSchema(fields);
    }

    /// <summary>
    /// Like <see cref="Read(Tree)"/>, but returns <paramref name="known"/> itself if it equals the stored schema, which
    /// takes one comparison per field.
    /// </summary>
    public static IndexSchema? Read(Tree? index, IndexSchema? known) =>
        known is not null && index is not null && Is(index, known) ? known : Read(index);

    /// <summary>
    /// Whether a schema equals the stored one. Only schemas without vectors and boosts and with ASCII names are recognised
    /// as equal; false if it is not certain.
    /// </summary>
    private static bool Is(Tree index, IndexSchema schema)
    {
        if (!index.TryGet(Key, out ReadOnlySpan<byte> value) || Varint.Read(ref value) != schema.Fields.Count)
            return false;

        for (int i = 0; i < schema.Fields.Count; i++)
        {
            IndexField field = schema.Fields[i];
            bool isSame = Varint.Read(ref value) == (int)field.Analysis
                && field.Analysis != FieldAnalysis.Vector
                && field.Boost == 1
                && IsText(ref value, field.Name)
                && IsText(ref value, field.Analyzer ?? "")
                && IsText(ref value, "");
            if (!isSame)
                return false;
        }

        return true;
    }

    private static bool IsText(ref ReadOnlySpan<byte> value, string text) =>
        Ascii.Equals(RecordReader.TakeCounted(ref value), text);

    public static void Write(Tree index, IndexSchema schema)
    {
        var record = new ByteArena();
        record.AddVarint(schema.Fields.Count);
        foreach (IndexField field in schema.Fields)
        {
            record.AddVarint((int)field.Analysis);
            AddText(record, field.Name);
            AddText(record, field.Analyzer ?? "");
            AddText(record, field.Boost == 1 ? "" : field.Boost.ToString("R", CultureInfo.InvariantCulture));
            if (field.Analysis == FieldAnalysis.Vector)
                AddVector(record, field.Vector);
        }

        index.Put(Key, record.Slice(0, record.Length));
    }

    private static VectorFieldOptions? ReadVector(ref ReadOnlySpan<byte> value) => Varint.Read(ref value) == 0
        ? null
        : new VectorFieldOptions(
            Varint.Read(ref value), (VectorMetric)Varint.Read(ref value), Varint.Read(ref value) != 0, Varint.Read(ref value),
            Varint.Read(ref value));

    private static void AddVector(ByteArena record, VectorFieldOptions? vector)
    {
        record.AddVarint(vector is null ? 0 : 1);
        if (vector is null)
            return;
        record.AddVarint(vector.Dimensions);
        record.AddVarint((int)vector.Metric);
        record.AddVarint(vector.IsQuantised ? 1 : 0);
        record.AddVarint(vector.Edges);
        record.AddVarint(vector.IndexingCandidates);
    }

    private static void CheckVector(IndexField field, VectorFieldOptions vector)
    {
        if (field.Analysis != FieldAnalysis.Vector)
            throw new IndexSchemaException($"The field '{field.Name}' has options for vectors but is not a vector field.");
        if (vector.Dimensions is < 0 or > VectorFieldOptions.MaxDimensions)
            throw new IndexSchemaException(
                $"The field '{field.Name}' has vectors of {vector.Dimensions} numbers; from 1 to "
                    + $"{VectorFieldOptions.MaxDimensions:N0} are possible, and 0: as many as the first.");
        if (!Enum.IsDefined(vector.Metric) || vector.Edges is < 4 or > 64 || vector.IndexingCandidates is < 8 or > 1_024)
            throw new IndexSchemaException(
                $"The field '{field.Name}' has vectors compared by {vector.Metric} with {vector.Edges} edges and "
                    + $"{vector.IndexingCandidates} candidates; 4 to 64 edges and 8 to 1,024 candidates are possible.");
        if (vector is { Metric: VectorMetric.Hamming, IsQuantised: false })
            throw new IndexSchemaException(
                $"The field '{field.Name}' has vectors compared by their signs, of which nothing else is stored: set "
                    + "IsQuantised.");
    }

    private static float ReadBoost(string text) => float.TryParse(text, CultureInfo.InvariantCulture, out float boost)
        ? boost
        : throw RecordReader.Damaged($"has a field with the boost '{text}', which is not a number");

    private static string ReadText(ref ReadOnlySpan<byte> value) =>
        Encoding.UTF8.GetString(RecordReader.TakeCounted(ref value));

    private static void AddText(ByteArena record, string text)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(text);
        record.AddVarint(utf8.Length);
        record.Add(utf8);
    }

    /// <summary>Rejects a schema that cannot be stored or has an invalid field.</summary>
    public static void Check(IndexSchema schema)
    {
        var names = new HashSet<string>(StringComparer.Ordinal);
        foreach (IndexField field in schema.Fields)
        {
            if (!names.Add(field.Name))
                throw new IndexSchemaException($"The schema has the field '{field.Name}' twice.");
            if (Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(field.Name)) != field.Name)
                throw new IndexSchemaException(
                    $"The name of the field '{field.Name}' contains half of a surrogate pair, which cannot be stored.");
            if (!Enum.IsDefined(field.Analysis))
                throw new IndexSchemaException($"The field '{field.Name}' has the unknown analysis {(int)field.Analysis}.");
            if (field.Vector is { } vector)
                CheckVector(field, vector);
            if (!BoostLimits.IsOfField(field.Boost))
                throw new IndexSchemaException(
                    $"The field '{field.Name}' has the boost {field.Boost}; a boost is a number from {BoostLimits.LeastOfField} "
                        + $"to {BoostLimits.MostOfField}.");
        }
    }
}
