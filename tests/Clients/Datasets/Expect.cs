using System.Globalization;
using System.Text;

namespace Treepie.Clients.Tests.Datasets;

/// <summary>Comparisons that say what is missing, what is too much, and what stands where.</summary>
internal static class Expect
{
    private const int Shown = 10;

    /// <summary>All expected ids, each once, and none else, in any order; and the total says so.</summary>
    public static void SameIds(IEnumerable<string> expected, QueryAnswer answer)
    {
        SameIds(expected, answer.Ids, answer.Query);
        Assert.True(
            answer.Total == answer.Results.Count,
            $"{answer.Query}\nhas {answer.Results.Count} results and says it has {answer.Total}.");
    }

    /// <inheritdoc cref="SameIds(IEnumerable{string},QueryAnswer)"/>
    public static void SameIds(IEnumerable<string> expected, IReadOnlyCollection<string> actual, string what)
    {
        var wanted = expected.ToHashSet(StringComparer.OrdinalIgnoreCase);
        Assert.True(wanted.Count > 0, $"{what}\nexpects nothing: the test would pass without an engine.");
        var got = new HashSet<string>(StringComparer.OrdinalIgnoreCase);
        List<string> twice = [.. actual.Where(id => !got.Add(id))];
        List<string> missing = [.. wanted.Where(id => !got.Contains(id))];
        List<string> tooMuch = [.. got.Where(id => !wanted.Contains(id))];
        if (twice.Count + missing.Count + tooMuch.Count == 0)
            return;

        var message = new StringBuilder($"{what}\nexpected {wanted.Count} documents, got {actual.Count}.\n");
        List("missing", missing, message);
        List("too much", tooMuch, message);
        List("more than once", twice, message);
        Assert.Fail(message.ToString());
    }

    /// <summary>
    /// The same keys in the same order. Where keys are equal the documents may stand in any order, which comparing keys allows.
    /// </summary>
    public static void SameOrder<TKey>(IReadOnlyList<TKey> expected, IReadOnlyList<TKey> actual, string what)
    {
        Assert.True(expected.Count == actual.Count, $"{what}\nexpected {expected.Count} results, got {actual.Count}.");
        for (int i = 0; i < expected.Count; i++)
            if (!EqualityComparer<TKey>.Default.Equals(expected[i], actual[i]))
                Assert.Fail(
                    $"{what}\nplace {i}: expected {expected[i]}, got {actual[i]}.\nexpected: … {Around(expected, i)}\ngot:      "
                        + $"… {Around(actual, i)}");
    }

    private static string Around<TKey>(IReadOnlyList<TKey> keys, int at) =>
        string.Join(" | ", keys.Skip(Math.Max(0, at - 2)).Take(6));

    private static void List(string title, List<string> ids, StringBuilder message)
    {
        if (ids.Count > 0)
            message.AppendLine(
                CultureInfo.InvariantCulture,
                $"{title} ({ids.Count}): {string.Join(", ", ids.Take(Shown))}{(ids.Count > Shown ? ", …" : "")}");
    }
}
