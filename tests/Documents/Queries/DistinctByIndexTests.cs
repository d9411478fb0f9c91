using System.Globalization;
using System.Text;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>
/// <c>select distinct</c> of a field of numbers is answered by an index that has all documents; as soon as one document had a
/// value that its term does not tell, by the documents again. Rows are the same.
/// </summary>
public sealed class DistinctByIndexTests : IAsyncLifetime
{
    private const int Documents = 400;

    /// <summary>Values that terms tell apart, with their row; null: the member is missing.</summary>
    private static readonly (string? Json, string Row)[] _values =
    [
        ("5", "5"), ("5.0", "5"), ("0", "0"), (null, "null"), ("-0.5", "-0.5"), ("-0.50", "-0.5"), ("-0", "0"), ("null", "null"),
        ("7", "7"), ("2.25", "2.25"), ("0.00000000000001", "0.00000000000001"), ("9007199254740992", "9007199254740992"),
        ("9007199254740993", "9007199254740993"), ("-9223372036854775808", "-9223372036854775808"),
    ];

    private readonly Database _database = Database.OpenInMemory();
    private readonly Dictionary<string, string> _rows = [];

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        for (int i = 0; i < Documents; i++)
            await PutAsync(i, (_values[i % 4].Json, _values[i % 4].Row));
    }

    public ValueTask DisposeAsync() => _database.DisposeAsync();

    [Theory]
    [InlineData("V", "V = 1 or Other = 1")]
    [InlineData("In.V", "Other = 1 and In.V = 1")]
    [InlineData("In.V", "exact(In.V = 'x')")]
    public async Task An_index_answers_while_documents_change(string path, string condition)
    {
        var random = new Random(Seed.Next());
        await _database.AskAsync($"from Docs where {condition}"); // makes the index
        for (int round = 0; round < 12; round++)
        {
            (string?, string)[] some = [.. _values.OrderBy(_ => random.Next()).Take(random.Next(1, 6))];
            for (int change = random.Next(Documents); change >= 0; change--)
            {
                int id = random.Next(Documents);
                if (random.Next(3) == 0 && _rows.Remove($"docs/{id}"))
                    await _database.DeleteAsync($"docs/{id}");
                else
                    await PutAsync(id, some[random.Next(some.Length)]);
            }

            await _database.AskAsync($"from Docs where {condition}"); // waits for the index
            await CompareAsync(path, isByIndex: true);
        }
    }

    [Theory]
    [InlineData("\"x\"", "x")]
    [InlineData("[5]", "[5]")]
    [InlineData("[]", "[]")]
    [InlineData("[null]", "[null]")]
    [InlineData("{\"A\":5}", "{\"A\":5}")]
    [InlineData("true", "true")]
    [InlineData("5e0", "5")]
    [InlineData("0e5", "0")]
    [InlineData("0.10000000000000000001", "0.10000000000000000001")]
    [InlineData("9007199254740993.0", "9007199254740993")]
    public async Task The_documents_answer_after_a_value_that_its_term_does_not_tell(string json, string row)
    {
        const string Condition = "from Docs where V = 5 or In.V = 5";
        await _database.AskAsync(Condition);
        await CompareAsync("V", isByIndex: true);
        await PutAsync(1, (json, row));
        await _database.AskAsync(Condition);
        await CompareAsync("V", isByIndex: false);
        await CompareAsync("In.V", isByIndex: false);
        await PutAsync(1, ("5", "5"));
        await _database.AskAsync(Condition);
        await CompareAsync("V", isByIndex: false); // the index knows that it was, not that it is no more
        _database.Indexes.Reset(Assert.Single(_database.Indexes.List()).Name);
        await _database.AskAsync(Condition);
        await CompareAsync("V", isByIndex: true);
    }

    [Fact]
    public async Task Documents_of_objects_in_arrays_are_told_apart()
    {
        await _database.AskAsync("from Docs where In.V = 5");
        await CompareAsync("In.V", isByIndex: true);
        await _database.PutAsync("docs/x", """{"In":[{"V":5}]}""", "Docs");
        await _database.AskAsync("from Docs where In.V = 5");
        _rows["docs/x"] = "[5]";
        await CompareAsync("In.V", isByIndex: false);
    }

    [Fact]
    public async Task The_documents_answer_where_the_index_lacks_some_or_the_result_is_a_page()
    {
        const string Condition = "from Docs where V = 5";
        await _database.AskAsync(Condition);
        string index = Assert.Single(_database.Indexes.List()).Name;
        Answer all = await _database.AskAsync("from Docs select distinct V limit 3");
        Assert.Equal((index, 3, Documents), (all.Index, all.Rows.Count, all.Total));
        Answer page = await _database.AskAsync("from Docs select distinct V limit 2");
        Assert.Equal(("collection/Docs", 2), (page.Index, page.Rows.Count));
        Answer rest = await _database.AskAsync("from Docs select distinct V limit 1, 1000");
        Assert.Equal(("collection/Docs", 3), (rest.Index, rest.Rows.Count));
        Answer beyond = await _database.AskAsync($"from Docs select distinct V limit {3 + all.Skipped}, 3");
        Assert.Empty(beyond.Rows);

        _database.Indexes.Control.Pause(index);
        await PutAsync(3, ("11", "11"));
        await CompareAsync("V", isByIndex: false);
    }

    [Fact]
    public async Task The_documents_answer_where_nearly_each_has_a_value_of_its_own()
    {
        for (int i = 0; i < Documents; i++)
            await PutAsync(i, (i.ToString(CultureInfo.InvariantCulture), i.ToString(CultureInfo.InvariantCulture)));
        await _database.AskAsync("from Docs where V = 5");
        await CompareAsync("V", isByIndex: false);
    }

    private async Task PutAsync(int id, (string? Json, string Row) value)
    {
        string member = value.Json is null ? "" : $"\"V\":{value.Json},";
        using var batch = new WriteBatch();
        batch.Put(
            $"docs/{id}",
            Encoding.UTF8.GetBytes($"{{{member}\"In\":{{{member}\"A\":1}},\"@metadata\":{{\"@collection\":\"Docs\"}}}}"));
        await _database.WriteAsync(batch, Cancel);
        _rows[$"docs/{id}"] = value.Row;
    }

    private async Task CompareAsync(string path, bool isByIndex)
    {
        Answer answer = await _database.AskAsync($"from Docs select distinct {path} as R");
        Assert.Equal(isByIndex, answer.Index.StartsWith("Auto/", StringComparison.Ordinal));
        Assert.Equal(
            _rows.Values.Distinct().Order(StringComparer.Ordinal), answer.Rows.Select(RowOf).Order(StringComparer.Ordinal));
        Assert.Equal(_rows.Count, answer.Total);
        Assert.Equal(_rows.Count - answer.Rows.Count, answer.Skipped);
    }

    private static string RowOf(System.Text.Json.Nodes.JsonObject row)
    {
        string text = row["R"] is { } value ? value.ToJsonString().Trim('"') : "null";
        return decimal.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out decimal number)
            ? (number / 1.0000000000000000000000000000m).ToString("0.############################", CultureInfo.InvariantCulture)
            : text;
    }
}
