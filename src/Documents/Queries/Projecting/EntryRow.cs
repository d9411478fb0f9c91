using System.Buffers;
using System.Text.Encodings.Web;
using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Indexing;

namespace Treepie.Queries.Projecting;

/// <summary>
/// What an index has of a hit, as members of a JSON object: the id as the index knows it, and of each field its terms, places
/// (WKT) or vectors; one alone stands for itself, several are an array, null is null.
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

        output.Write(inner.WrittenSpan[1..^1]); // the caller writes the braces, and what else is in them
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
