using System.Text.Json;

namespace Treepie.Indexes.Fields;

/// <summary>
/// The texts that a document has at a path, as an index of words sees them: strings, those of arrays, and all inside of objects.
/// </summary>
internal static class FieldTexts
{
    /// <summary>The texts, in their order; none where the path is none.</summary>
    /// <param name="json">One JSON object.</param>
    /// <param name="path">Where to look.</param>
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
            // Its elements come one by one.
        }

        public void EmptyArray(int slot)
        {
            // No text.
        }
    }
}
