using System.Globalization;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Treepie.Sessions;

/// <summary>
/// Serializes times with all seven digits of a second, like RavenDB's clients: texts of the same length sort like the times, and
/// queries of either client find them. Reads all forms.
/// </summary>
internal sealed class TimeJson : JsonConverter<DateTime>
{
    /// <summary>The length of a time with an offset, the longest form.</summary>
    private const int MaxCharacters = 33;

    public override DateTime Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        reader.GetDateTime();

    public override void Write(Utf8JsonWriter writer, DateTime value, JsonSerializerOptions options)
    {
        Span<char> text = stackalloc char[MaxCharacters];
        value.TryFormat(text, out int length, "O", CultureInfo.InvariantCulture);
        writer.WriteStringValue(text[..length]);
    }

    public override DateTime ReadAsPropertyName(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        DateTime.Parse(reader.GetString() ?? "", CultureInfo.InvariantCulture, DateTimeStyles.RoundtripKind);

    public override void WriteAsPropertyName(Utf8JsonWriter writer, DateTime value, JsonSerializerOptions options) =>
        writer.WritePropertyName(value.ToString("O", CultureInfo.InvariantCulture));
}
