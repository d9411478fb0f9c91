using System.Text.Json;

namespace Treepie.Indexes.Fields;

/// <summary>
/// Reads the text at a path of a document, as a full-text index sees it: strings, strings in arrays, and all strings in
/// objects.
/// </summary>
internal static class FieldTexts
{
    /// <summary>Returns the strings, in order; none if the path is null.</summary>
    /// <param name="json">One JSON object.</param>
    /// <param name="path">The path.</param>
    public static IReadOnlyList<string> Of(ReadOnlySpan<byte> json, FieldPath? path)
    {
        if (path is null)
            return [];

        var sink = new TextSink([]);
        new PathTree([(path, 0)]).Visit(json, ref sink);
        return sink.Texts;
    }

    private readonly struct TextSink(List<string> texts) : IFieldSink
    {
        public List<string> Texts => texts;

        public void Value(int slot, ref Utf8JsonReader reader)
        {
            if (reader.TokenType == JsonTokenType.String)
                texts.Add(reader.GetString() ?? "");
        }

        public void Object(int slot, ref Utf8JsonReader reader)
        {
            int depth = reader.CurrentDepth;
            while (reader.Read() && !(reader.TokenType == JsonTokenType.EndObject && reader.CurrentDepth == depth))
            {
                if (reader.TokenType == JsonTokenType.String)
                    texts.Add(reader.GetString() ?? "");
            }
        }

        public void StartOfArray(int slot, ref Utf8JsonReader reader)
        {
            // The elements follow one by one.
        }

        public void EmptyArray(int slot)
        {
            // No text.
        }
    }
}
