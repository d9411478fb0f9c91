using System.Text;
using Treepie.Indexing.Automata;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;

namespace Treepie.Indexing.Suggestions;

/// <summary>
/// Finds terms within two edits of a text by seeking in the dictionary, and orders them by likeness or by number of entries.
/// Terms farther away are not spelling mistakes and are not found, however low the requested accuracy.
/// </summary>
internal static class Suggester
{
    /// <summary>Suggestions of an index and the changes it does not have yet, as one index of both would return them.</summary>
    public static IReadOnlyList<Suggestion> Run(CombinedIndex combined, SuggestionRequest request)
    {
        int field = combined.Main.View.Field(request.Field);
        var terms = new Dictionary<string, Suggestion>(StringComparer.Ordinal);
        foreach (Suggestion own in (Suggestion[])[.. Find(combined.Main, request), .. Find(combined.Tail, request)])
            terms.TryAdd(own.Term, own);
        return Page(
            [
                .. terms.Values
                    .Select(
                        own => own with { EntryCount = combined.Statistics.EntriesWith(field, Encoding.UTF8.GetBytes(own.Term)) })
                    .Where(static suggestion => suggestion.EntryCount > 0),
            ],
            request);
    }

    public static IReadOnlyList<Suggestion> Run(QueryContext context, SuggestionRequest request) =>
        Page(Find(context, request), request);

    private static List<Suggestion> Page(List<Suggestion> found, SuggestionRequest request)
    {
        found.Sort((x, y) => Compare(x, y, request.ByPopularity));
        return found.Count <= request.Take ? found : found[..request.Take];
    }

    private static List<Suggestion> Find(QueryContext context, SuggestionRequest request)
    {
        if (!(request.Accuracy is >= 0 and <= 1))
            throw new IndexQueryException($"The accuracy of a suggestion is a number from 0 to 1; {request.Accuracy} is not.");
        if (request.Take is < 0 or > SuggestionRequest.MaxTake)
            throw new IndexQueryException(
                $"Up to {SuggestionRequest.MaxTake:N0} suggestions can be requested; {request.Take} is out of range.");

        context.Check();
        int field = context.View.Field(request.Field);
        var compiler = new QueryCompiler(context, isScored: false);
        var words = compiler.Words(field, Encoding.UTF8.GetBytes(request.Text));
        if (words.Count == 0)
            return [];

        string text = Encoding.UTF8.GetString(words[^1].Form);
        if (text.Length > TextPatterns.MaxFuzzyLength)
            return [];

        // Two edits could replace all of one or two characters.
        int length = text.EnumerateRunes().Count();
        TermAutomaton near = TextPatterns.Near(text, length <= 2 ? 1 : TextPatterns.MaxEdits, prefix: 0);
        var found = new List<Suggestion>();
        new TermScan(context, field, $"suggestion '{text}'").Visit(near, (form, payload) =>
        {
            string term = Encoding.UTF8.GetString(form);
            float likeness = term == text ? 0 : TextLikeness.Of(request.Distance, text, term);
            if (term != text && likeness >= request.Accuracy)
                found.Add(new Suggestion(term, payload.EntryCount, likeness));
        });
        return found;
    }

    private static int Compare(Suggestion x, Suggestion y, bool byPopularity)
    {
        int likeness = y.Likeness.CompareTo(x.Likeness);
        int count = y.EntryCount.CompareTo(x.EntryCount);
        int order = byPopularity ? (count != 0 ? count : likeness) : likeness != 0 ? likeness : count;
        return order != 0 ? order : string.CompareOrdinal(x.Term, y.Term);
    }
}
