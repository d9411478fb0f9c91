using System.Text;
using System.Text.Json;

namespace Treepie.Bench.Measuring;

/// <summary>The films every suite works on: ids, JSON, and the fields that are asked for.</summary>
internal sealed class Movies
{
    private const int QuickStep = 18;

    /// <summary>The whole set, or 2,000 of all years.</summary>
    public Movies(bool quick)
    {
        Documents = [
            .. Corpus.Load(DataSet.Movies, int.MaxValue)
                .Where((_, position) => !quick || position % QuickStep == 0)
                .Select(Parse)];
        Years = [.. Documents.Select(movie => movie.Year).Distinct().Order()];
    }

    /// <summary>All films.</summary>
    public Movie[] Documents { get; }

    /// <summary>Years that occur.</summary>
    public long[] Years { get; }

    /// <summary>Batches of a size, the last one shorter.</summary>
    public IEnumerable<Movie[]> Batches(int size) => Documents.Chunk(size);

    private static Movie Parse(byte[] json, int position)
    {
        using JsonDocument parsed = JsonDocument.Parse(json);
        JsonElement root = parsed.RootElement;
        string id = $"movies/{position + 1}";
        string text = Encoding.UTF8.GetString(json);
        string withMetadata = text[..^1] + ",\"@metadata\":{\"@collection\":\"Movies\"}}";
        return new Movie(
            id,
            Encoding.UTF8.GetBytes(withMetadata),
            json,
            root.TryGetProperty("year", out JsonElement year) ? year.GetInt64() : 0,
            root.TryGetProperty("title", out JsonElement title) ? title.GetString() ?? "" : "",
            root.TryGetProperty("extract", out JsonElement extract) ? extract.GetString() ?? "" : "");
    }
}

/// <summary>One film.</summary>
/// <param name="Id">Document id.</param>
/// <param name="Json">JSON with its collection in the metadata.</param>
/// <param name="PlainJson">JSON as it came.</param>
/// <param name="Year">Field <c>year</c>.</param>
/// <param name="Title">Field <c>title</c>.</param>
/// <param name="Extract">Field <c>extract</c>, a paragraph of text.</param>
internal sealed record Movie(string Id, byte[] Json, byte[] PlainJson, long Year, string Title, string Extract);
