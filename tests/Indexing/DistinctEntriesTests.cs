using System.Globalization;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>One entry of each number of a field, as long as entries with one number have one value.</summary>
public sealed class DistinctEntriesTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    private static readonly IndexSchema _schema = new([new IndexField("N"), new IndexField("Words", FieldAnalysis.FullText)]);

    [Fact]
    public void Each_number_and_what_has_none_is_found_by_one_entry_while_entries_come_and_go()
    {
        var random = new Random(Seed.Next());
        using var fixture = new IndexFixture(_schema);
        var values = new Dictionary<string, FieldValue?>();
        for (int round = 0; round < 20; round++)
        {
            // Few numbers have lists of thousands of entries then, and many have one in their dictionary.
            int most = random.Next(1, 6) switch { 1 => 1, 2 => 3, 3 => 40, _ => 400 };
            for (int change = random.Next(2_000); change > 0; change--)
            {
                string key = string.Create(CultureInfo.InvariantCulture, $"docs/{random.Next(6_000)}");
                int drawn = random.Next(12);
                if (drawn < 3)
                {
                    fixture.Delete(key);
                    values.Remove(key);
                    continue;
                }

                FieldValue? value = drawn switch
                {
                    3 when round > 3 => null,
                    4 when round > 8 => FieldValue.Null,
                    < 8 => FieldValue.Of((long)random.Next(most)),
                    _ => FieldValue.Of(random.Next(most) + 0.5),
                };
                fixture.Put(key, value is { } given ? [(0, given)] : []);
                values[key] = value;
            }

            fixture.Commit();
            string[] expected = [.. values.Values.Select(TextOf).Distinct().Order(StringComparer.Ordinal)];
            using var searcher = new IndexSearcher(fixture.Environment);
            Assert.Equal(expected, Found(searcher, values, expected.Length)?.Order(StringComparer.Ordinal));
            Assert.Null(Found(searcher, values, expected.Length - 1));
        }
    }

    public static TheoryData<string> Inexact { get; } =
        new("text", "boolean", "two numbers", "number and null", "null and number");

    [Theory]
    [MemberData(nameof(Inexact))]
    public void Nothing_is_told_after_an_entry_whose_value_does_not_follow_from_its_number(string kind)
    {
        using var fixture = new IndexFixture(_schema);
        fixture.Put("a", (0, FieldValue.Of(1)));
        fixture.Put("b", (0, FieldValue.Null), (1, FieldValue.Of("words say nothing of numbers")));
        fixture.Commit();
        using (var searcher = new IndexSearcher(fixture.Environment))
        {
            using SearchResults? found = searcher.SearchDistinct("N", 10, cancellationToken: Cancelled);
            Assert.Equal(2, found?.Count);
            Assert.Null(searcher.SearchDistinct("Words", 10, cancellationToken: Cancelled));
        }

        fixture.Put("c", kind switch
        {
            "text" => [(0, FieldValue.Of("1"))],
            "boolean" => [(0, FieldValue.Of(true))],
            "two numbers" => [(0, FieldValue.Of(1)), (0, FieldValue.Of(2))],
            "number and null" => [(0, FieldValue.Of(1)), (0, FieldValue.Null)],
            _ => [(0, FieldValue.Null), (0, FieldValue.Of(1))],
        });
        fixture.Commit();
        Refuses(fixture);
        fixture.Delete("c");
        fixture.Commit();
        Refuses(fixture);
    }

    private static void Refuses(IndexFixture fixture)
    {
        using var searcher = new IndexSearcher(fixture.Environment);
        Assert.Null(searcher.SearchDistinct("N", 10));
    }

    private static List<string>? Found(IndexSearcher searcher, Dictionary<string, FieldValue?> values, int most)
    {
        using SearchResults? results = searcher.SearchDistinct("N", most);
        if (results is null)
            return null;
        var found = new List<string>();
        while (results.MoveNext())
            found.Add(TextOf(values[System.Text.Encoding.UTF8.GetString(results.Key)]));
        return found;
    }

    private static string TextOf(FieldValue? value) => value switch
    {
        { Kind: FieldValueKind.Long } whole => whole.Long.ToString(CultureInfo.InvariantCulture),
        { Kind: FieldValueKind.Double } real => real.Double.ToString(CultureInfo.InvariantCulture),
        _ => "null",
    };
}
