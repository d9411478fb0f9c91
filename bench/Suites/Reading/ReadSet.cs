using System.Globalization;
using System.Text;
using Treepie.Bench.Measuring;

namespace Treepie.Bench.Suites.Reading;

/// <summary>A document of the suite <c>read</c>: films, or made ones with the same fields.</summary>
/// <param name="Id">Document id.</param>
/// <param name="Json">JSON with its collection.</param>
/// <param name="PlainJson">JSON alone.</param>
internal readonly record struct ReadDocument(string Id, byte[] Json, byte[] PlainJson);

/// <summary>Documents to ask for, and what of their fields is asked.</summary>
internal sealed class ReadSet
{
    private ReadSet(string name, int count, Func<int, ReadDocument> at, Func<int, string> title, long[] years, int deepPage)
    {
        Name = name;
        Count = count;
        At = at;
        Title = title;
        Years = years;
        DeepPage = deepPage;
    }

    /// <summary>What the rows call it.</summary>
    public string Name { get; }

    /// <summary>How many there are.</summary>
    public int Count { get; }

    /// <summary>The document at a place.</summary>
    public Func<int, ReadDocument> At { get; }

    /// <summary>Field <c>title</c> of the document at a place: nearly each has one of its own.</summary>
    public Func<int, string> Title { get; }

    /// <summary>All values of the field <c>year</c>, ascending.</summary>
    public long[] Years { get; }

    /// <summary>Results before a deep page.</summary>
    public int DeepPage { get; }

    /// <summary>The films.</summary>
    public static ReadSet Films(Movies movies) => new(
        $"{movies.Documents.Length:N0} films", movies.Documents.Length,
        at => new ReadDocument(movies.Documents[at].Id, movies.Documents[at].Json, movies.Documents[at].PlainJson),
        at => movies.Documents[at].Title, movies.Years, movies.Documents.Length * 4 / 5);

    /// <summary>Made documents of some 200 bytes, a thousand of each year.</summary>
    public static ReadSet Made(int count)
    {
        int years = Math.Max(1, count / 1_000);
        return new ReadSet(
            $"{count:N0} made", count, at => Make(at, years), TitleOf,
            [.. Enumerable.Range(0, years).Select(static year => 1_000L + year)], Math.Min(100_000, count * 4 / 5));
    }

    private static ReadDocument Make(int at, int years)
    {
        uint mixed = Mix(at);
        string plain = string.Create(
            CultureInfo.InvariantCulture,
            $$"""
            {"title":"{{TitleOf(at)}}","year":{{1_000 + (mixed % (uint)years)}},"href":"page {{Mix(at + 7):x8}}","cast":["person {{mixed % 5_003}}","person {{mixed % 7_001}}"],"genres":["genre {{mixed % 31}}"],"thumbnail_width":{{100 + (mixed % 400)}}}
            """);
        return new ReadDocument(
            string.Create(CultureInfo.InvariantCulture, $"movies/{at + 1}"),
            Encoding.UTF8.GetBytes(plain[..^1] + ",\"@metadata\":{\"@collection\":\"Movies\"}}"),
            Encoding.UTF8.GetBytes(plain));
    }

    private static string TitleOf(int at) => string.Create(CultureInfo.InvariantCulture, $"title {Mix(at):x8} of many");

    private static uint Mix(int value)
    {
        uint mixed = unchecked((uint)value * 2654435761u);
        mixed ^= mixed >> 15;
        return unchecked(mixed * 2246822519u);
    }
}
