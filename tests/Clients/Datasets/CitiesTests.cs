using System.Text.Json;

namespace Treepie.Clients.Tests.Datasets;

/// <summary>22,841 places: nested doubles, large numbers, names in many scripts.</summary>
[Collection(ImportedDataSets.Collection)]
public sealed class CitiesTests(ImportedDataSets data)
{
    private static readonly Lazy<List<City>> _cities = new(RawData.Cities);

    [Fact]
    public Task Nested_doubles_in_ranges() =>
        SameAsync("from Cities where location.lat > 60.0 and location.lng < 0", c => c.Latitude > 60.0 && c.Longitude < 0);

    [Fact]
    public Task Between_two_large_numbers() =>
        SameAsync("from Cities where population between 1000000 and 2000000", c => c.Population is >= 1_000_000 and <= 2_000_000);

    [Fact]
    public Task In_and_a_range() =>
        SameAsync(
            "from Cities where country in ($countries) and population >= 500000",
            c => c.Country is "FR" or "DE" or "PL" && c.Population >= 500_000, new { countries = new[] { "FR", "de", "PL" } });

    [Fact]
    public Task Names_in_other_scripts_ignore_case_too() =>
        SameAsync(
            "from Cities where alternate_names = $name",
            c => c.AlternateNames.Any(n => n.Equals("МОСКВА", StringComparison.OrdinalIgnoreCase)), new { name = "москва" });

    [Fact]
    public Task Names_without_cases_are_found_as_they_are() =>
        SameAsync("from Cities where alternate_names = '東京'", c => c.AlternateNames.Contains("東京"));

    [Fact]
    public Task Prefix_and_equality_with_a_slash() =>
        SameAsync(
            "from Cities where startsWith(name, 'San ') and timezone = 'America/Los_Angeles'",
            c => c.Name.StartsWith("san ", StringComparison.OrdinalIgnoreCase) && c.Timezone == "America/Los_Angeles");

    [Fact]
    public async Task Largest_first()
    {
        QueryAnswer answer = await data.AskAsync(
            "from Cities where country = 'BR' order by population as long desc select name, population limit 25");

        List<City> all = [.. _cities.Value.Where(c => c.Country == "BR").OrderByDescending(c => c.Population)];
        Assert.Equal(all.Count, answer.Total);
        Expect.SameOrder(
            [.. all.Take(25).Select(c => c.Population)], [.. answer.Results.Select(r => r.GetProperty("population").GetInt64())],
            answer.Query);
    }

    [Fact]
    public async Task From_south_to_north_through_all_pages()
    {
        List<City> expected = [.. _cities.Value.Where(c => c.Country == "IT").OrderBy(c => c.Latitude)];
        List<JsonElement> found = await data.AskInPagesAsync(
            "from Cities where country = 'IT' order by location.lat as double", 100);

        Expect.SameIds(expected.Select(c => c.Id), [.. found.Select(QueryAnswer.IdOf)], "Italian cities");
        Expect.SameOrder(
            [.. expected.Select(c => c.Latitude)],
            [.. found.Select(r => r.GetProperty("location").GetProperty("lat").GetDouble())],
            "Italian cities from south to north");
    }

    [Fact]
    public async Task Names_of_one_country_sorted_with_letters_beyond_ascii()
    {
        // The order of strings is that of the UTF-8 bytes of the lower-cased text, which is the order of code points.
        string[] expected =
            [.. _cities.Value.Where(c => c.Country == "SE").Select(c => c.Name.ToLowerInvariant()).Order(CodePoints)];
        List<JsonElement> found = await data.AskInPagesAsync("from Cities where country = 'SE' order by name desc", 50);

        Expect.SameOrder(
            [.. expected.Reverse()], [.. found.Select(r => r.GetProperty("name").GetString()?.ToLowerInvariant() ?? "")],
            "Swedish cities from Z to A");
    }

    private static Comparer<string> CodePoints { get; } = Comparer<string>.Create(
        (x, y) => System.Text.Encoding.UTF8.GetBytes(x).AsSpan().SequenceCompareTo(System.Text.Encoding.UTF8.GetBytes(y)));

    private async Task SameAsync(string query, Func<City, bool> expected, object? parameters = null)
    {
        QueryAnswer answer = await data.AskAsync(query, parameters);
        Expect.SameIds(_cities.Value.Where(expected).Select(c => c.Id), answer);
    }
}
