using System.Buffers;
using System.Text.Json;
using System.Text.RegularExpressions;
using RadLine;
using Treepie.CommandLine.Http;

namespace Treepie.CommandLine.Queries;

/// <summary>
/// Completes queries while they are typed: words and functions of RQL, collections and indexes behind <c>from</c>, and the fields
/// of the first documents of the collection. Names are read once, fields once per collection. If reading them fails or takes too
/// long, only words of the language are offered.
/// </summary>
internal sealed partial class QueryCompletion(IQuerySource source) : ITextCompletion
{
    /// <summary>The number of documents read to find the fields of a collection.</summary>
    private const int SampledDocuments = 20;

    /// <summary>The depth to which nested objects are searched for fields.</summary>
    private const int MaxDepth = 4;

    private static readonly SearchValues<char> _breaks = SearchValues.Create("(,=<>!");

    private static readonly TimeSpan _patience = TimeSpan.FromSeconds(2);

    /// <summary>Words of the language, in the order in which they are offered.</summary>
    private static readonly string[] _words = [.. QueryWords.Keywords, .. QueryWords.Functions];

    private readonly Dictionary<string, string[]> _fields = new(StringComparer.OrdinalIgnoreCase);
    private QueryNames? _names;
    private string[] _offered = [];

    /// <inheritdoc/>
    public IEnumerable<string> GetCompletions(string prefix, string word, string suffix)
    {
        // a second Tab moves on to the next of the words offered
        if (!_offered.Contains(word, StringComparer.Ordinal))
            _offered = [.. Complete(prefix, word)];
        return _offered;
    }

    private IEnumerable<string> Complete(string prefix, string word)
    {
        int begin = word.AsSpan().LastIndexOfAny(_breaks) + 1;
        string typed = word[begin..];
        string[] before = prefix.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries);
        IEnumerable<string> known = before switch
        {
            [.., var from] when Is(from, "from") => [.. Names().Collections.Select(Quoted), "index"],
            [.., var from, var index] when Is(from, "from") && Is(index, "index") => Names().Indexes.Select(AlwaysQuoted),
            [] => _words,
            _ => [.. FieldsOf(prefix), .. _words],
        };
        return known
            .Where(name => name.TrimStart('\'').StartsWith(typed.TrimStart('\''), StringComparison.OrdinalIgnoreCase))
            .Select(name => word[..begin] + name);
    }

    private QueryNames Names() => _names ??= Ask(source.NamesAsync) ?? new QueryNames([], []);

    /// <summary>The fields of the collection or index that a query begins with.</summary>
    private string[] FieldsOf(string query)
    {
        if (Source().Match(query) is not { Success: true } found)
            return [];
        if (!_fields.TryGetValue(found.Value, out string[]? fields))
            _fields[found.Value] = fields = Ask(cancellation => SampleAsync(found.Value, cancellation)) ?? [];
        return fields;
    }

    private async Task<string[]> SampleAsync(string from, CancellationToken cancellationToken)
    {
        var query = new QueryText($"{from} limit {SampledDocuments}");
        await using Stream stream = await source.AnswerAsync(query, cancellationToken);
        using JsonDocument answer = await JsonDocument.ParseAsync(stream, default, cancellationToken);
        var fields = new SortedSet<string>(StringComparer.Ordinal);
        foreach (JsonElement document in answer.RootElement.GetProperty("Results").EnumerateArray())
            AddFields(document, "", MaxDepth, fields);
        return [.. fields];
    }

    private static void AddFields(JsonElement value, string path, int depth, SortedSet<string> fields)
    {
        if (value.ValueKind == JsonValueKind.Object && depth > 0)
        {
            foreach (JsonProperty member in value.EnumerateObject().Where(member => member.Name != "@metadata"))
            {
                string inner = (path.Length == 0 ? "" : path + ".") + Quoted(member.Name);
                fields.Add(inner);
                AddFields(member.Value, inner, depth - 1, fields);
            }
        }
        else if (value.ValueKind == JsonValueKind.Array)
        {
            foreach (JsonElement element in value.EnumerateArray())
                AddFields(element, path + "[]", depth, fields);
        }
    }

    /// <summary>Waits for an answer, as completion is synchronous. Returns null if it fails or takes too long.</summary>
    private static T? Ask<T>(Func<CancellationToken, Task<T>> ask)
        where T : class
    {
        using var patience = new CancellationTokenSource(_patience);
        try
        {
            return ask(patience.Token).GetAwaiter().GetResult();
        }
        catch (Exception error) when (error is ServerException or TreepieException or HttpRequestException or IOException
            or JsonException or OperationCanceledException)
        {
            return null;
        }
    }

    /// <summary>The name as RQL takes it: in quotes where it is not a word.</summary>
    private static string Quoted(string name) => Word().IsMatch(name) ? name : AlwaysQuoted(name);

    private static string AlwaysQuoted(string name) =>
        $"'{name.Replace("\\", @"\\", StringComparison.Ordinal).Replace("'", @"\'", StringComparison.Ordinal)}'";

    private static bool Is(string word, string keyword) => word.Equals(keyword, StringComparison.OrdinalIgnoreCase);

    [GeneratedRegex(@"^[A-Za-z_@][\w@]*$", RegexOptions.CultureInvariant)]
    private static partial Regex Word();

    [GeneratedRegex(
        @"^\s*from\s+(index\s+)?('([^'\\]|\\.)*'|[\w@]+)", RegexOptions.CultureInvariant | RegexOptions.IgnoreCase)]
    private static partial Regex Source();
}
