namespace Treepie.Bench.Measuring;

/// <summary>A data set that suites measure on.</summary>
/// <param name="File">Name of its file, gzip'ed, a JSON document a line.</param>
/// <param name="Documents">Documents in the whole set; the repository may hold only its beginning or a part.</param>
/// <param name="Sha256">Hash of the whole set's lines after decompression, each with its line feed, in lower-case
/// hexadecimal.</param>
/// <param name="Origin">Where it comes from.</param>
internal sealed record DataSet(string File, int Documents, string Sha256, string Origin)
{
    /// <summary>American films with a paragraph of text each.</summary>
    public static DataSet Movies { get; } = new(
        "movies.ndjson.gz", 36_273, "f2450c4403d3711f5f7bbf2d4045413a0938343edd04049f6a19b49920810ca9",
        "github.com/prust/wikipedia-movie-data, with ids");

    /// <summary>Places of more than 15,000 people.</summary>
    public static DataSet Cities { get; } = new(
        "cities.ndjson.gz", 22_841, "9b4be693bff8eefa5a1c744e892bb929eb9242cfeb8a676c585216c80a5b520f",
        "geonames.org, cities15000");

    /// <summary>Synsets, which refer to each other.</summary>
    public static DataSet WordNet { get; } = new(
        "wordnet.ndjson.gz", 107_525, "928aff564af98357b8b723a0e30d8b5da22014a81ddc883fbba85b2cbcb6bd81",
        "github.com/globalwordnet/english-wordnet");

    /// <summary>Verses of 25 English translations of the Bible in random order.</summary>
    public static DataSet Verses { get; } = new(
        "verses-en.ndjson.gz", 631_996, "a1460a9fe68d116b0af5a80abb8200b066f9ebd00552336b6239662592fbd4ae",
        "github.com/scrollmapper/bible_databases, with random numbers and days");

    /// <summary>All of them.</summary>
    public static IReadOnlyList<DataSet> All { get; } = [Movies, Cities, WordNet, Verses];
}
