using System.Buffers;
using System.Text.Encodings.Web;
using System.Text.Json;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Indexes.Computed;

/// <summary>Writes counters and segments of time series as the objects that maps receive.</summary>
internal static class BesideJson
{
    private static readonly JsonWriterOptions _options = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        SkipValidation = true
    };

    /// <summary>Writes a record.</summary>
    public static void Write(Kind kind, ReadOnlySpan<byte> documentId, KindRecord record, IBufferWriter<byte> output)
    {
        using var json = new Utf8JsonWriter(output, _options);
        json.WriteStartObject();
        json.WriteString("DocumentId"u8, documentId);
        json.WriteString("Name"u8, record.Name);
        if (kind == Kind.TimeSeries)
            WriteSegment(json, new TimeSeriesSegment(record.Value));
        else
            json.WriteNumber("Value"u8, CounterValue.Sum(record.Value));
        json.WriteEndObject();
    }

    private static void WriteSegment(Utf8JsonWriter json, TimeSeriesSegment segment)
    {
        WriteTime(json, "Start"u8, segment.FirstTicks);
        WriteTime(json, "End"u8, segment.LastTicks);
        json.WriteNumber("Count"u8, segment.Count);
        json.WriteStartArray("Min"u8);
        for (int i = 0; i < segment.ValueCount; i++)
            WriteNumber(json, segment.Aggregate(i).Min);
        json.WriteEndArray();
        json.WriteStartArray("Max"u8);
        for (int i = 0; i < segment.ValueCount; i++)
            WriteNumber(json, segment.Aggregate(i).Max);
        json.WriteEndArray();
        json.WriteStartArray("Sum"u8);
        for (int i = 0; i < segment.ValueCount; i++)
            WriteNumber(json, segment.Aggregate(i).Sum);
        json.WriteEndArray();
        json.WriteStartArray("Entries"u8);
        for (TimeSeriesSegment.Reader entries = segment.Read(); entries.MoveNext();)
        {
            json.WriteStartObject();
            WriteTime(json, "Timestamp"u8, entries.Ticks);
            ReadOnlySpan<double> values = entries.Values;
            json.WritePropertyName("Value"u8);
            WriteNumber(json, values.IsEmpty ? double.NaN : values[0]);
            json.WriteStartArray("Values"u8);
            foreach (double value in values)
                WriteNumber(json, value);
            json.WriteEndArray();
            json.WriteString("Tag"u8, entries.Tag);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteTime(Utf8JsonWriter json, ReadOnlySpan<byte> name, long ticks)
    {
        Span<byte> text = stackalloc byte[32];
        bool fits = new DateTime(ticks, DateTimeKind.Utc).TryFormat(
            text, out int length, "O", System.Globalization.CultureInfo.InvariantCulture);
        System.Diagnostics.Debug.Assert(fits, "a time has 28 characters");
        json.WriteString(name, text[..length]);
    }

    /// <summary>Writes null for values that JSON cannot represent (NaN, infinity).</summary>
    private static void WriteNumber(Utf8JsonWriter json, double value)
    {
        if (double.IsFinite(value))
            json.WriteNumberValue(value);
        else
            json.WriteNullValue();
    }
}
