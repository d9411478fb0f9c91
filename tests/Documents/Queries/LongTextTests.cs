using System.Text.Json.Nodes;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

/// <summary>Texts that are longer than a term of an index are ordered, compared and counted as whole texts.</summary>
public sealed class LongTextTests : IAsyncLifetime
{
    private static readonly string[] _texts =
    [
        .. Enumerable.Range(1, 8).Select(i => new string('w', 512) + i),
        new string('w', 400) + 'b', new string('w', 400) + new string('a', 200), new string('w', 384), new string('w', 383),
        new string('w', 384) + 'z', new string('w', 512), new string('w', 384) + new string('z', 200), "v", "x",
        new string('x', 600),
    ];

    private readonly TemporaryDirectory _folder = new();
    private readonly Database _database;

    public LongTextTests() => _database = Database.Open(_folder.Path);

    private static string[] Sorted => [.. _texts.Order(StringComparer.Ordinal)];

    public async ValueTask InitializeAsync()
    {
        for (int i = 0; i < _texts.Length; i++)
            await PutAsync(i, _texts[i * 7 % _texts.Length]);
    }

    public ValueTask DisposeAsync()
    {
        _database.Dispose();
        _folder.Dispose();
        return ValueTask.CompletedTask;
    }

    [Fact]
    public async Task An_order_is_that_of_the_whole_texts()
    {
        Assert.Equal(Sorted, await NamesAsync("from Docs order by Name"));
        Assert.Equal(Sorted.Reverse(), await NamesAsync("from Docs order by Name desc"));
        Assert.Equal(Sorted[3..8], await NamesAsync("from Docs order by Name limit 3, 5"));
        Assert.Equal(Sorted, await NamesAsync("from Docs order by Name as alphaNumeric"));
    }

    [Fact]
    public async Task Runs_of_digits_of_any_length_are_numbers()
    {
        await PutAsync(100, "n" + new string('9', 70_000));
        await PutAsync(101, "n1" + new string('0', 70_000));
        await PutAsync(102, "n5");
        string[] names = await NamesAsync("from Docs where Name between 'n' and 'o' order by Name as alphaNumeric");
        Assert.Equal([2, 70_001, 70_002], names.Select(name => name.Length));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Ranges_compare_with_whole_texts(bool isStale)
    {
        string index = (await _database.AskAsync("from Docs where Name = 'x'")).Index;
        if (isStale)
        {
            _database.Indexes.Control.Pause(index);
            await PutAsync(0, _texts[0] + "more");
            await PutAsync(_texts.Length, new string('w', 520));
        }

        string[] all = [.. (await NamesAsync("from Docs")).Order(StringComparer.Ordinal)];
        string[] bounds =
        [
            .. all, new string('w', 385), new string('w', 511) + 'y', new string('w', 600), new string('a', 700),
            new string('y', 700)
        ];
        foreach (string bound in bounds)
        {
            await CheckAsync("Name > $a", name => Compare(name, bound) > 0, bound);
            await CheckAsync("Name <= $a", name => Compare(name, bound) <= 0, bound);
            await CheckAsync("Name between $a and $b", name => Compare(name, bound) >= 0 && Compare(name, all[9]) <= 0, bound);
        }

        async Task CheckAsync(string condition, Func<string, bool> holds, string bound)
        {
            string parameters = new JsonObject { ["a"] = bound, ["b"] = all[9] }.ToJsonString();
            Assert.Equal(all.Where(holds), await NamesAsync($"from Docs where {condition} order by Name", parameters));
            Assert.Equal(
                all.Where(holds), (await NamesAsync($"from Docs where {condition}", parameters)).Order(StringComparer.Ordinal));
        }
    }

    [Fact]
    public async Task Facets_name_each_text_whole_and_in_order()
    {
        await PutAsync(50, _texts[0]);
        // a facet has values
        JsonArray values = (await _database.AskAsync("from Docs select facet(Name)")).Rows[0]["Values"]!.AsArray();
        Assert.Equal(Sorted, values.Select(value => value!["Range"]!.GetValue<string>()));
        Assert.Equal(_texts.Length + 1, values.Sum(value => value!["Count"]!.GetValue<int>()));
    }

    [Fact]
    public async Task A_text_that_is_gone_leaves_nothing_behind()
    {
        string index = (await _database.AskAsync("from Docs order by Name")).Index;
        Assert.Contains(
            _database.LookInto(index).Structures(TestContext.Current.CancellationToken), part => part.Name == "longtexts");
        for (int i = 0; i < _texts.Length; i++)
            await PutAsync(i, $"short {i:00}");
        string[] names = await NamesAsync("from Docs order by Name");
        Assert.Equal([.. Enumerable.Range(0, _texts.Length).Select(i => $"short {i:00}")], names);
        // waits until the index has seen what the answer above knew without it
        await _database.AskAsync("from Docs order by Name");
        Assert.DoesNotContain(
            _database.LookInto(index).Structures(TestContext.Current.CancellationToken), part => part.Name == "longtexts");
    }

    private static int Compare(string left, string right) => string.CompareOrdinal(left, right);

    private Task PutAsync(int number, string name) =>
        _database.PutAsync($"docs/{number}", new JsonObject { ["Name"] = name }.ToJsonString(), "Docs");

    private async Task<string[]> NamesAsync(string query, string? parameters = null)
    {
        Answer answer = await _database.AskAsync(
            query, parameters, request => request with { WaitForNonStaleResults = false, NeverStale = true });
        return [.. answer.Rows.Select(row => row["Name"]!.GetValue<string>())]; // every document has one
    }
}
