using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Treepie.Bench.Suites.Reading;

/// <summary>A question of the suite <c>read</c>, in RQL and in SQL, of which all values are parameters.</summary>
/// <param name="Name">What the row calls it.</param>
/// <param name="Rql">The query; its parameters are <c>$p0</c>, <c>$p1</c> and so on.</param>
/// <param name="Sql">The same for SQLite; its parameters are <c>?1</c>, <c>?2</c> and so on.</param>
/// <param name="Least">Least ratio to SQLite's time.</param>
/// <param name="Values">Values for the parameters, drawn for each call: numbers, texts, or arrays of texts.</param>
internal sealed record ReadQuestion(
    string Name, string Rql, string Sql, double Least, Func<ReadSet, Random, object[]> Values)
{
    /// <summary>Whether the answer is a number: the matches, without documents.</summary>
    public bool Counts { get; init; }

    /// <summary>Those of the suite.</summary>
    public static IReadOnlyList<ReadQuestion> All { get; } =
    [
        new("equality, one document", "where title = $p0", $"where {Title} = ?1", 1.5, static (set, random) => [OneTitle(set, random)]),
        new("equality, first 25", "where year = $p0 limit 25", $"where {Year} = ?1 limit 25", 1.5, Year1),
        new(
            "equality and a sort, first 10", "where year = $p0 order by title limit 10",
            $"where {Year} = ?1 order by {Title} limit 10", 1, Year1),
        new(
            "range, sorted by the same field, first 10", "where year between $p0 and $p1 order by year limit 10",
            $"where {Year} between ?1 and ?2 order by {Year} limit 10", 1, TenYears),
        new(
            "range, sorted by another field, first 10", "where year between $p0 and $p1 order by title limit 10",
            $"where {Year} between ?1 and ?2 order by {Title} limit 10", 1, TenYears),
        new(
            "equality and a sort without an index of both, first 10", "where year = $p0 order by href limit 10",
            $"where {Year} = ?1 order by json_extract(json, '$.href') limit 10", 1, Year1),
        new("count", "where year = $p0 limit 0", $"where {Year} = ?1", 2, Year1) { Counts = true },
        new(
            "ids that begin with, first 25", "where startsWith(id(), $p0) limit 25", "where id >= ?1 and id < ?1 || '~' limit 25",
            0.5, static (_, random) => [string.Create(CultureInfo.InvariantCulture, $"movies/{random.Next(10, 99)}")]),
        new("sorted, first 10", "order by title limit 10", $"order by {Title} limit 10", 0.5, static (_, _) => []),
        new(
            "sorted, a deep page of 10", "order by title limit $p0, 10", $"order by {Title} limit 10 offset ?1", 0.5,
            static (set, _) => [(long)set.DeepPage]),
        new(
            "in of 10,000 texts, first 25", "where title in ($p0) limit 25",
            $"where {Title} in (select value from json_each(?1)) limit 25", 0.5,
            static (set, random) => [Titles(set, random, 10_000)]),
        new(
            "or of 200, first 25", "where " + Repeat(200, " or ", i => $"title = $p{i}") + " limit 25",
            "where " + Repeat(200, " or ", i => $"{Title} = ?{i + 1}") + " limit 25", 0.5,
            static (set, random) => [.. Titles(set, random, 200)]),
        new("not, of nearly all, first 25", "where year != $p0 limit 25", $"where {Year} <> ?1 limit 25", 0.5, Year1),
        new("distinct", "select distinct year", $"select distinct {Year} from movies", 0.5, static (_, _) => []),
    ];

    private const string Title = "json_extract(json, '$.title')", Year = "json_extract(json, '$.year')";

    /// <summary>The whole query for ours.</summary>
    public string FullRql => $"from Movies {Rql}";

    /// <summary>The whole query for SQLite.</summary>
    public string FullSql => Sql.StartsWith("select", StringComparison.Ordinal)
        ? Sql
        : $"select {(Counts ? "count(*)" : "json")} from movies {Sql}";

    /// <summary>The values as an object of JSON.</summary>
    public static JsonElement Parameters(object[] values)
    {
        var parameters = new JsonObject();
        for (int i = 0; i < values.Length; i++)
            parameters[$"p{i}"] = values[i] switch
            {
                long number => number,
                string text => text,
                string[] texts => new JsonArray([.. texts.Select(static text => JsonValue.Create(text))]),
                _ => throw new ArgumentException($"A parameter cannot be a {values[i].GetType()}.", nameof(values)),
            };
        using JsonDocument document = JsonDocument.Parse(parameters.ToJsonString());
        return document.RootElement.Clone();
    }

    private static object[] Year1(ReadSet set, Random random) => [set.Years[random.Next(set.Years.Length)]];

    private static object[] TenYears(ReadSet set, Random random)
    {
        int first = random.Next(Math.Max(1, set.Years.Length - 10));
        return [set.Years[first], set.Years[Math.Min(first + 9, set.Years.Length - 1)]];
    }

    private static string OneTitle(ReadSet set, Random random) => set.Title(random.Next(set.Count));

    private static string[] Titles(ReadSet set, Random random, int count) =>
        [.. Enumerable.Range(0, count).Select(_ => OneTitle(set, random))];

    private static string Repeat(int count, string between, Func<int, string> text) =>
        string.Join(between, Enumerable.Range(0, count).Select(text));
}
