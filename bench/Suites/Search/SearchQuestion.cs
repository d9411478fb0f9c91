using Treepie.Indexing.Queries;

namespace Treepie.Bench.Suites.Search;

/// <summary>One query, as each engine is asked it.</summary>
/// <param name="Kind">Row of the report it counts for.</param>
/// <param name="Query">Ours.</param>
/// <param name="Fts">The same in SQLite's full-text language.</param>
/// <param name="Top">Hits wanted, best first; 0 asks for the count.</param>
internal sealed record SearchQuestion(string Kind, IndexQuery Query, string Fts, int Top)
{
    private const string Field = "text";

    /// <summary>The questions of the suite, over words that verses have from often to seldom.</summary>
    public static IReadOnlyList<SearchQuestion> All { get; } =
    [
        .. Words("term, frequent", ["the", "and", "of", "that", "in"]),
        .. Words("term, medium", ["heaven", "water", "brother", "city", "heart"]),
        .. Words("term, rare", ["leviathan", "chariots", "ointment", "sycamore", "locust"]),
        .. Several("and, frequent", all: true, 10, "the and", "of and", "that he", "lord the", "in of"),
        .. Several("and, medium", all: true, 10, "heaven earth", "brother father", "city gate", "heart soul", "water river"),
        .. Several("or of two", all: false, 10, "the and", "lord god", "heaven earth", "house city", "king david"),
        .. Several("or of five", all: false, 10, "the and of to in", "he that his they shall", "lord god king house david", "the heaven of water ark"),
        .. Several("count of an and", all: true, 0, "the and", "of and", "lord the", "heaven earth", "that he"),
        .. Several("count of an or", all: false, 0, "the and of to in", "lord god", "heaven earth"),
        .. Phrases("phrase", "house of the lord", "children of israel", "king of kings", "in the beginning", "burning bush"),
        .. Phrases("phrase, frequent words", "of the", "and the", "in the", "to the", "and he said"),
        new("prefix", new FullTextQuery(Field, "right*", All: false), "right*", 0),
        new("prefix", new FullTextQuery(Field, "ab*", All: false), "ab*", 0),
    ];

    private static IEnumerable<SearchQuestion> Words(string kind, string[] words) =>
        words.Select(word => new SearchQuestion(kind, new FullTextQuery(Field, word, All: false), word, 10));

    private static IEnumerable<SearchQuestion> Several(string kind, bool all, int top, params string[] texts) =>
        texts.Select(text => new SearchQuestion(kind, new FullTextQuery(Field, text, all), text.Replace(" ", all ? " AND " : " OR ", StringComparison.Ordinal), top));

    private static IEnumerable<SearchQuestion> Phrases(string kind, params string[] texts) =>
        texts.Select(text => new SearchQuestion(kind, new PhraseQuery(Field, text), $"\"{text}\"", 10));
}
