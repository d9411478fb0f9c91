using System.Text.Json;

namespace Treepie.CommandLine.Http;

/// <summary>Lines of a streamed query response: <c>{"Item":{…}}</c> for each result, and <c>{"Stats":{…}}</c> once.</summary>
internal static class StreamedAnswer
{
    private static readonly JsonReaderOptions _options = new() { MaxDepth = 1_000_000 };

    /// <summary>The raw JSON of the result in a line, or empty if the line has none.</summary>
    public static ReadOnlyMemory<byte> ItemOf(ReadOnlyMemory<byte> line) => ValueOf(line, "Item"u8);

    /// <summary>The raw JSON of the statistics in a line, or empty if the line has none.</summary>
    public static ReadOnlyMemory<byte> StatsOf(ReadOnlyMemory<byte> line) => ValueOf(line, "Stats"u8);

    /// <summary>The message of an error that occurred after the response had started, or null if the line has none.</summary>
    public static string? ErrorOf(ReadOnlyMemory<byte> line)
    {
        ReadOnlyMemory<byte> message = ValueOf(line, "Message"u8);
        ReadOnlyMemory<byte> error = message.IsEmpty ? ValueOf(line, "Error"u8) : message;
        if (error.IsEmpty)
            return null;

        using JsonDocument text = JsonDocument.Parse(error);
        return text.RootElement.ToString();
    }

    private static ReadOnlyMemory<byte> ValueOf(ReadOnlyMemory<byte> line, ReadOnlySpan<byte> name)
    {
        var reader = new Utf8JsonReader(line.Span, _options);
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            bool found = reader.ValueTextEquals(name);
            reader.Read();
            int start = (int)reader.TokenStartIndex;
            reader.Skip();
            if (found)
                return line[start..(int)reader.BytesConsumed];
        }

        return default;
    }
}
