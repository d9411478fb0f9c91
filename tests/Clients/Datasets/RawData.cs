using System.Text.Json;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.Datasets;

/// <summary>A line of movies.ndjson.gz, as far as the tests ask for it.</summary>
internal sealed record Movie(
    string Id, string Title, int Year, IReadOnlyList<string> Cast, IReadOnlyList<string> Genres, string? Extract,
    long? ThumbnailHeight);

/// <summary>A line of cities.ndjson.gz. Its id is made by the import: <c>cities/</c> and the number of the line.</summary>
internal sealed record City(
    string Id, string Name, IReadOnlyList<string> AlternateNames, string Country, long Population, double Latitude,
    double Longitude, string Timezone);

/// <summary>A line of wordnet.ndjson.gz; the id is the bare number, as others refer to it.</summary>
internal sealed record Synset(
    string Id, string Topic, string PartOfSpeech, IReadOnlyList<string> Members, IReadOnlyList<string> Definition,
    IReadOnlyList<string> Hypernym);

/// <summary>The raw files, read apart from everything the server does. The expectations of the tests come from here.</summary>
internal static class RawData
{
    public static List<Movie> Movies() => [.. Read("movies.ndjson.gz", (line, _) => new Movie(
        Text(line, "id"), Text(line, "title"), line.GetProperty("year").GetInt32(), Texts(line, "cast"), Texts(line, "genres"),
        line.TryGetProperty("extract", out JsonElement extract) ? extract.GetString() : null,
        line.TryGetProperty("thumbnail_height", out JsonElement height) ? height.GetInt64() : null))];

    public static List<City> Cities() => [.. Read("cities.ndjson.gz", (line, number) => new City(
        $"cities/{number}", Text(line, "name"), Texts(line, "alternate_names"), Text(line, "country"),
        line.GetProperty("population").GetInt64(),
        line.GetProperty("location").GetProperty("lat").GetDouble(), line.GetProperty("location").GetProperty("lng").GetDouble(),
        Text(line, "timezone")))];

    public static List<Synset> Synsets() => [.. Read("wordnet.ndjson.gz", (line, _) => new Synset(
        Text(line, "id")["synsets/".Length..], Text(line, "topic"), Text(line, "partOfSpeech"), Texts(line, "members"),
        Texts(line, "definition"), Texts(line, "hypernym")))];

    private static IEnumerable<T> Read<T>(string file, Func<JsonElement, int, T> read)
    {
        int number = 0;
        foreach (string line in DataSets.Lines(DataSets.PathOf(file)))
        {
            using JsonDocument document = JsonDocument.Parse(line);
            yield return read(document.RootElement, ++number);
        }
    }

    private static string Text(JsonElement line, string name) => line.GetProperty(name).GetString() ?? "";

    private static List<string> Texts(JsonElement line, string name) =>
        line.TryGetProperty(name, out JsonElement values) && values.ValueKind == JsonValueKind.Array
            ? [.. values.EnumerateArray().Select(value => value.GetString() ?? "")]
            : [];
}
