using System.Text.Json;
using Treepie.Bench.Measuring;

namespace Treepie.Bench.Suites.Search;

/// <summary>One verse: what is indexed of it.</summary>
/// <param name="Text">Words of the field <c>text</c>, in UTF-8.</param>
/// <param name="Number">Field <c>num</c>.</param>
internal sealed record Verse(byte[] Text, long Number)
{
    /// <summary>The first verses of the set; where it is not there, paragraphs about films.</summary>
    public static Verse[] Load(int most)
    {
        try
        {
            return [.. Corpus.Load("verses-en.ndjson.gz", most).Select(line => Parse(line, "text", "num"))];
        }
        catch (FileNotFoundException)
        {
            return [.. Corpus.Load("movies.ndjson.gz", most).Select(line => Parse(line, "extract", "year"))];
        }
    }

    /// <summary>The text with blanks for all signs, so that every engine cuts it into the same words.</summary>
    private static string WordsOf(string text) => string.Create(text.Length, text, static (output, input) =>
    {
        for (int i = 0; i < input.Length; i++)
            output[i] = char.IsLetterOrDigit(input[i]) ? input[i] : ' ';
    });

    private static Verse Parse(byte[] line, string text, string number)
    {
        using JsonDocument json = JsonDocument.Parse(line);
        string words = json.RootElement.TryGetProperty(text, out JsonElement value) ? value.GetString() ?? "" : "";
        return new Verse(System.Text.Encoding.UTF8.GetBytes(WordsOf(words)), json.RootElement.TryGetProperty(number, out JsonElement found) ? found.GetInt64() : 0);
    }
}
