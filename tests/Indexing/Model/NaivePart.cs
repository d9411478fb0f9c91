using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Tests.Model;

/// <summary>
/// A part of a full-text query, as the naive evaluator cuts it: texts of the tests have blanks between parts, and quotes at the
/// ends of parts only.
/// </summary>
public sealed record NaivePart(List<(string Text, bool Prefix, bool Suffix)> Words, bool IsPhrase)
{
    public static List<NaivePart> Of(FullTextQuery query, FieldAnalysis analysis)
    {
        var parts = new List<NaivePart>();
        foreach (string part in Split(query.Text))
        {
            string text = part.Trim('*');
            List<string> words = NaiveText.Terms(analysis, FieldValue.Of(part.StartsWith('"') ? part.Trim('"') : text));
            bool isPlain = text == part;
            if (text.Length == 0)
                parts.Add(new NaivePart([("", true, false)], false));
            else if (words.Count > 0 && (words.Count > 1 || words[0].Length > 0 || analysis != FieldAnalysis.FullText))
                parts.Add(
                    new NaivePart(
                        [.. words.Select(
                            (word, i) => (word, part.EndsWith('*') && i == words.Count - 1, part.StartsWith('*') && i == 0))],
                        isPlain && words.Count > 1));
        }

        return parts;
    }

    private static IEnumerable<string> Split(string text)
    {
        string open = "";
        foreach (string part in text.Split(' ', StringSplitOptions.RemoveEmptyEntries))
        {
            open = open.Length == 0 ? part : open + " " + part;
            if (open.StartsWith('"') && !(open.Length > 1 && open.EndsWith('"')))
                continue;
            yield return open;
            open = "";
        }
    }
}
