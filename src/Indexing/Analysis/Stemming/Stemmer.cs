namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>
/// Reduces a word to its stem by the published rules of the Snowball algorithms, without a dictionary: a stem need not be a
/// word, but is what most forms of a word have in common. Words must be in lower case. Immutable; the word being stemmed
/// belongs to the caller.
/// </summary>
internal abstract class Stemmer
{
    /// <summary>Every stemmer with the name of its language.</summary>
    public static IEnumerable<(string Language, Stemmer Stemmer)> All() =>
    [
        ("English", new EnglishStemmer()),
        ("German", new GermanStemmer()),
        ("French", new FrenchStemmer()),
        ("Spanish", new SpanishStemmer()),
        ("Italian", new ItalianStemmer()),
        ("Portuguese", new PortugueseStemmer()),
        ("Dutch", new DutchStemmer()),
        ("Swedish", new SwedishStemmer()),
        ("Norwegian", new NorwegianStemmer()),
        ("Danish", new DanishStemmer()),
        ("Finnish", new FinnishStemmer()),
        ("Russian", new RussianStemmer()),
        ("Hungarian", new HungarianStemmer()),
        ("Romanian", new RomanianStemmer()),
    ];

    /// <summary>Replaces the word by its stem.</summary>
    public abstract void Stem(StemWord word);
}
