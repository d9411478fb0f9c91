using System.Globalization;
using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Indexing.Tests.Sorting;

/// <summary>Orders by a list, by a language and by chance, against a sort of the values, whole and page by page.</summary>
public sealed class CustomOrderTests
{
    [Fact]
    public void A_list_orders_by_its_places_and_other_values_by_their_text()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 20; round++)
        {
            var data = new RandomData(random, singleValues: true);
            string[] listed = [.. Enumerable.Range(0, random.Next(0, 40)).Select(_ => data.Word())];
            bool othersFirst = random.Next(2) == 0;
            var order = new ListOrder("sizes", listed, othersFirst);
            string[] folded = [.. listed.Select(NaiveText.Fold)];
            Check(random, data, order, (x, y) =>
            {
                int left = Array.IndexOf(folded, x), right = Array.IndexOf(folded, y);
                if (left < 0 && right < 0)
                    return NaiveText.CompareText(x, y);
                if (left < 0 || right < 0)
                    return left < 0 == othersFirst ? -1 : 1;
                return left.CompareTo(right);
            });
        }
    }

    [Theory]
    [InlineData("de-DE", CompareOptions.None)]
    [InlineData("sv-SE", CompareOptions.IgnoreCase)]
    [InlineData("fr-FR", CompareOptions.IgnoreNonSpace)]
    public void A_language_orders_as_the_platform_compares(string language, CompareOptions options)
    {
        var random = new Random(Seed.Next());
        var culture = CultureInfo.GetCultureInfo(language);
        for (int round = 0; round < 10; round++)
            Check(
                random, new RandomData(random, singleValues: true), new LanguageOrder(language, culture, options),
                (x, y) => culture.CompareInfo.Compare(x, y, options));
    }

    [Fact]
    public void A_long_text_is_ordered_by_what_fits_into_a_key()
    {
        var order = new LanguageOrder("long", CultureInfo.GetCultureInfo("de-DE"));
        byte[] first = Key(order, new string('a', 5_000)), second = Key(order, new string('a', 5_000) + "b");
        Assert.Equal(first, second); // they differ behind the first 128 characters
        Assert.InRange(first.Length, 1, ICustomOrder.MaxKeyBytes);
        Assert.True(Key(order, "a").AsSpan().SequenceCompareTo(Key(order, "ä")) < 0);
        Assert.Throws<ArgumentNullException>(() => new LanguageOrder("none", null!)); // what is tested
        var listed = new ListOrder("list", ["x"]);
        Assert.Equal(ICustomOrder.MaxKeyBytes, Key(listed, new string('y', 5_000)).Length);
        Assert.Throws<ArgumentOutOfRangeException>(() => new ListOrder("long", new string[65_535]));
        Assert.Equal("list", listed.Name);
        Assert.Equal("long", order.Name);

        static byte[] Key(ICustomOrder order, string text)
        {
            byte[] key = new byte[ICustomOrder.MaxKeyBytes];
            return key[..order.WriteKey(new SortValue(null, Encoding.UTF8.GetBytes(text)), key)];
        }
    }

    /// <summary>Nulls come where they are wanted; equal values keep the order of their entries.</summary>
    private static void Check(Random random, RandomData data, ICustomOrder order, Comparison<string> compare)
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        var values = new List<(string Key, string? Text)>();
        for (int i = 0; i < 150; i++)
        {
            FieldValue value = data.Value(0);
            fixture.Put("docs/" + i, (0, value));
            values.Add(("docs/" + i, NaiveText.IsNull(value) ? null : NaiveText.Fold(NaiveText.TextOf(value))));
        }

        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        foreach (bool descending in new[] { false, true })
        {
            foreach (bool nullsFirst in new[] { false, true })
            {
                string[] expected =
                [
                    .. values.OrderBy(value => value.Text is null == nullsFirst ? 0 : 1)
                        .ThenBy(value => value.Text, Comparer<string?>.Create(
                            (x, y) => x is null || y is null ? 0 : descending ? compare(y, x) : compare(x, y)))
                        .ThenBy(value => values.IndexOf(value))
                        .Select(value => value.Key),
                ];
                var request = new SearchRequest
                {
                    Query = new MatchAllQuery(),
                    Sort = [new SortKey("name", SortKind.Custom, descending, nullsFirst) { Custom = order }],
                    Take = random.Next(20, 80),
                    WithPosition = true,
                };
                var paged = new List<string>();
                while (paged.Count < expected.Length)
                {
                    using SearchResults results = searcher.Search(request, TestContext.Current.CancellationToken);
                    List<string> page = IndexFixture.Read(results);
                    Assert.NotEmpty(page);
                    paged.AddRange(page);
                    request = request with { After = results.Position };
                }

                Assert.Equal(expected, paged);
                using SearchResults all = searcher.Search(
                    request with { After = default, Take = long.MaxValue }, TestContext.Current.CancellationToken);
                Assert.Equal(expected, IndexFixture.Read(all));
            }
        }
    }
}
