using System.Text.Json;

namespace Treepie.Clients.Tests.Datasets;

/// <summary>36,273 films: text, numbers and arrays, asked over HTTP and computed from the file.</summary>
[Collection(ImportedDataSets.Collection)]
public sealed class MoviesTests(ImportedDataSets data)
{
    private static readonly Lazy<List<Movie>> _movies = new(RawData.Movies);

    [Fact]
    public Task Equality_of_a_number() =>
        SameAsync("from Movies where year = 1999", m => m.Year == 1999);

    [Fact]
    public Task Equality_of_text_ignores_case() =>
        SameAsync(
            "from Movies where title = $title", m => m.Title.Equals("the three musketeers", StringComparison.OrdinalIgnoreCase),
            new { title = "the THREE musketeers" });

    [Fact]
    public Task Exact_equality_minds_case() =>
        SameAsync(
            "from Movies where exact(title = $title)", m => m.Title == "The Three Musketeers",
            new { title = "The Three Musketeers" });

    [Fact]
    public Task Equality_with_any_value_of_an_array_and_a_range() =>
        SameAsync(
            "from Movies where genres = 'Western' and year between 1950 and 1959",
            m => m.Genres.Contains("Western") && m.Year is >= 1950 and <= 1959);

    [Fact]
    public Task Ranges_that_are_open_at_one_end() =>
        SameAsync("from Movies where year > 2021", m => m.Year > 2021);

    [Fact]
    public Task Ranges_on_both_sides_join_by_or() =>
        SameAsync(
            "from Movies where (year < 1905 or year >= 2023) and genres = 'Drama'",
            m => m.Year is < 1905 or >= 2023 && m.Genres.Contains("Drama"));

    [Fact]
    public Task In_a_list_of_numbers() =>
        SameAsync(
            "from Movies where year in ($years)", m => m.Year is 1901 or 1955 or 2020,
            new { years = new[] { 1955, 2020, 1901 } });

    [Fact]
    public Task In_a_list_of_texts() =>
        SameAsync(
            "from Movies where cast in ('Buster Keaton', 'harold lloyd')",
            m => m.Cast.Any(name => name is "Buster Keaton" or "Harold Lloyd"));

    [Fact]
    public Task Starts_with_ignores_case() =>
        SameAsync(
            "from Movies where startsWith(title, 'star ')", m => m.Title.StartsWith("star ", StringComparison.OrdinalIgnoreCase));

    [Fact]
    public Task Search_of_one_word() =>
        SameAsync("from Movies where search(extract, 'heist')", m => Words.Contains(m.Extract, "heist"));

    [Fact]
    public Task Search_of_several_words_finds_any() =>
        SameAsync(
            "from Movies where search(extract, 'volcano lighthouse')",
            m => Words.Contains(m.Extract, "volcano") || Words.Contains(m.Extract, "lighthouse"));

    [Fact]
    public Task Search_of_several_words_with_and_finds_all() =>
        SameAsync(
            "from Movies where search(extract, 'submarine war', and)",
            m => Words.Contains(m.Extract, "submarine") && Words.Contains(m.Extract, "war"));

    [Fact]
    public Task Search_joins_with_equality() =>
        SameAsync(
            "from Movies where search(extract, 'heist') and genres = 'Comedy' and year >= 1990",
            m => Words.Contains(m.Extract, "heist") && m.Genres.Contains("Comedy") && m.Year >= 1990);

    [Fact]
    public Task Not_takes_documents_away() =>
        SameAsync(
            "from Movies where genres = 'Horror' and not genres = 'Comedy'",
            m => m.Genres.Contains("Horror") && !m.Genres.Contains("Comedy"));

    [Fact]
    public Task Not_binds_to_a_group() =>
        SameAsync(
            "from Movies where year = 1983 and not (genres = 'Drama' or genres = 'Comedy')",
            m => m.Year == 1983 && !m.Genres.Contains("Drama") && !m.Genres.Contains("Comedy"));

    [Fact]
    public Task Unequal_is_all_the_others() =>
        SameAsync("from Movies where year != 2009", m => m.Year != 2009);

    [Fact]
    public Task And_binds_tighter_than_or() =>
        SameAsync(
            "from Movies where genres = 'Ballet' or year = 1927 and genres = 'Comedy'",
            m => m.Genres.Contains("Ballet") || (m.Year == 1927 && m.Genres.Contains("Comedy")));

    [Fact]
    public async Task By_prefix_of_the_id() =>
        Expect.SameIds(
            _movies.Value.Where(m => m.Id.StartsWith("movies/100", StringComparison.Ordinal)).Select(m => m.Id),
            await data.AskAsync("from Movies where startsWith(id(), 'movies/100')"));

    [Fact]
    public async Task By_ids() =>
        Expect.SameIds(
            ["movies/1", "movies/36273"],
            await data.AskAsync(
                "from Movies where id() in ($ids)", new { ids = new[] { "movies/36273", "MOVIES/1", "movies/0" } }));

    [Fact]
    public async Task Sorted_by_number_and_text_through_all_pages()
    {
        List<Movie> expected = [.. _movies.Value.Where(m => m.Cast.Contains("John Wayne"))
            .OrderByDescending(m => m.Year).ThenBy(m => m.Title.ToLowerInvariant(), StringComparer.Ordinal)];
        List<JsonElement> found = await data.AskInPagesAsync(
            "from Movies where cast = 'John Wayne' order by year as long desc, title", 17);

        Expect.SameIds(expected.Select(m => m.Id), [.. found.Select(QueryAnswer.IdOf)], "John Wayne's films");
        Expect.SameOrder(
            [.. expected.Select(m => (m.Year, m.Title.ToLowerInvariant()))],
            [.. found.Select(r => (r.GetProperty("year").GetInt32(), r.GetProperty("title").GetString()?.ToLowerInvariant()))],
            "John Wayne's films, the latest first, then by title");
    }

    [Fact]
    public async Task Sorted_by_text_in_the_middle_of_many()
    {
        List<Movie> expected = [
            .. _movies.Value.Where(m => m.Year >= 2000)
                .OrderBy(m => m.Title.ToLowerInvariant(), StringComparer.Ordinal)
                .Skip(3000)
                .Take(50)];
        QueryAnswer answer = await data.AskAsync("from Movies where year >= 2000 order by title limit 50 offset 3000");

        Assert.Equal(_movies.Value.Count(m => m.Year >= 2000), answer.Total);
        Expect.SameOrder(
            [.. expected.Select(m => m.Title.ToLowerInvariant())],
            [.. answer.Results.Select(r => r.GetProperty("title").GetString()?.ToLowerInvariant() ?? "")],
            answer.Query);
    }

    [Fact]
    public async Task Projection_of_fields_has_these_fields_alone()
    {
        QueryAnswer answer = await data.AskAsync("from Movies where year = 1977 select title, year, genres");

        Expect.SameIds(_movies.Value.Where(m => m.Year == 1977).Select(m => m.Id), answer);
        Dictionary<string, Movie> byId = _movies.Value.ToDictionary(m => m.Id);
        foreach (JsonElement result in answer.Results)
        {
            Movie movie = byId[QueryAnswer.IdOf(result)];
            Assert.Equal(
                ["genres", "title", "year"],
                result.EnumerateObject().Select(p => p.Name).Where(n => n != "@metadata").Order(StringComparer.Ordinal));
            Assert.Equal(movie.Title, result.GetProperty("title").GetString());
            Assert.Equal(movie.Year, result.GetProperty("year").GetInt32());
            Assert.Equal(movie.Genres, result.GetProperty("genres").EnumerateArray().Select(g => g.GetString() ?? ""));
        }
    }

    [Fact]
    public async Task A_collection_without_a_condition_is_all_of_it()
    {
        QueryAnswer answer = await data.AskAsync("from Movies limit 0, 3");
        Assert.Equal(_movies.Value.Count, answer.Total);
        Assert.Equal(3, answer.Results.Count);
    }

    [Fact]
    public async Task Number_that_some_documents_lack()
    {
        QueryAnswer answer = await data.AskAsync(
            "from Movies where thumbnail_height > 386.5 order by thumbnail_height as double desc");

        List<Movie> expected = [.. _movies.Value.Where(m => m.ThumbnailHeight > 386.5).OrderByDescending(m => m.ThumbnailHeight)];
        Expect.SameIds(expected.Select(m => m.Id), answer);
        Expect.SameOrder(
            [.. expected.Select(m => m.ThumbnailHeight ?? 0)],
            [.. answer.Results.Select(r => r.GetProperty("thumbnail_height").GetInt64())], answer.Query);
    }

    private async Task SameAsync(string query, Func<Movie, bool> expected, object? parameters = null)
    {
        QueryAnswer answer = await data.AskAsync(query, parameters);
        Expect.SameIds(_movies.Value.Where(expected).Select(m => m.Id), answer);
    }
}
