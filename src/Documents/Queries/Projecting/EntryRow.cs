using System.Buffers;
using System.Text.Encodings.Web;
using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Indexing;

namespace Treepie.Queries.Projecting;

/// <summary>
/// Writes the index entry of a hit as members of a JSON object: the id in the index's form, and the terms, shapes (WKT) or
/// vectors of each field. A single value is written as such, several as an array.
/// </summary>
internal static class EntryRow
{
    public static void WriteFields(ReadOnlySpan<byte> key, IReadOnlyList<IndexEntryField> fields, IBufferWriter<byte> output)
    {
        var inner = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(
            inner, new JsonWriterOptions { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping }))
        {
            json.WriteStartObject();
            if (!fields.Any(field => field.Field == AutoIndexField.Id))
                json.WriteString(AutoIndexField.Id, key);
            foreach (IndexEntryField field in fields)
            {
                json.WritePropertyName(field.Field);
                WriteValues(json, field);
            }

            json.WriteEndObject();
        }

        output.Write(inner.WrittenSpan[1..^1]); // the caller writes the braces and other members
    }

    private static void WriteValues(Utf8JsonWriter json, IndexEntryField field)
    {
        int count = field.Terms.Count + field.Places.Count + field.Vectors.Count + (field.HasNull ? 1 : 0);
        if (count != 1)
            json.WriteStartArray();
        if (field.HasNull)
            json.WriteNullValue();
        foreach (string text in field.Terms.Concat(field.Places))
            json.WriteStringValue(text);
        foreach (IReadOnlyList<float> vector in field.Vectors)
        {
            json.WriteStartObject();
            json.WriteStartArray("@vector");
            foreach (float number in vector)
                json.WriteNumberValue(number);
            json.WriteEndArray();
            json.WriteEndObject();
        }

        if (count != 1)
            json.WriteEndArray();
    }
}
