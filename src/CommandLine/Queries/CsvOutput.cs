using System.Buffers;
using System.Text;
using System.Text.Json;

namespace Treepie.CommandLine.Queries;

/// <summary>
/// Writes results as CSV (RFC 4180): the id if there is one, then the members, with nested members by path
/// (<c>ShipTo.City</c>) and arrays as JSON. The columns are those of the first thousand results; members that only later results
/// have are left out and reported.
/// </summary>
internal sealed class CsvOutput(TextWriter output)
{
    /// <summary>Number of results that determine the columns before the first line is written.</summary>
    private const int RowsForColumns = 1000;

    private const string IdColumn = "@id";

    private readonly List<Dictionary<string, string>> _waiting = [];
    private readonly HashSet<string> _unknown = new(StringComparer.Ordinal);
    private static readonly SearchValues<char> _quoted = SearchValues.Create(",\"\r\n");
    private List<string>? _columns;

    /// <summary>Members that are not columns because they occurred too late.</summary>
    public IReadOnlyCollection<string> LeftOut => _unknown;

    public void Add(ReadOnlyMemory<byte> result)
    {
        using JsonDocument json = JsonDocument.Parse(result, new JsonDocumentOptions { MaxDepth = 1024 });
        var cells = new Dictionary<string, string>(StringComparer.Ordinal);
        if (json.RootElement.TryGetProperty("@metadata", out JsonElement metadata)
            && metadata.ValueKind == JsonValueKind.Object
            && metadata.TryGetProperty("@id", out JsonElement id))
            cells[IdColumn] = id.ToString();
        Flatten("", json.RootElement, cells);
        if (_columns is not null)
        {
            Write(cells);
            return;
        }

        _waiting.Add(cells);
        if (_waiting.Count == RowsForColumns)
            Begin();
    }

    /// <summary>Writes the buffered results.</summary>
    public void End()
    {
        if (_columns is null)
            Begin();
        output.Flush();
    }

    private static void Flatten(string path, JsonElement value, Dictionary<string, string> cells)
    {
        foreach (JsonProperty member in value.EnumerateObject())
        {
            string name = path.Length == 0 ? member.Name : $"{path}.{member.Name}";
            if (name == "@metadata")
                continue;
            if (member.Value.ValueKind == JsonValueKind.Object)
                Flatten(name, member.Value, cells);
            else if (member.Value.ValueKind != JsonValueKind.Null)
                cells[name] = member.Value.ValueKind == JsonValueKind.String
                    ? member.Value.GetString() ?? ""
                    : member.Value.GetRawText();
        }
    }

    private static string Quoted(string text) =>
        text.AsSpan().IndexOfAny(_quoted) >= 0 || text.AsSpan().Trim().Length != text.Length
            ? $"\"{text.Replace("\"", "\"\"", StringComparison.Ordinal)}\""
            : text;

    private void Begin()
    {
        _columns = [.. _waiting.SelectMany(static row => row.Keys).Distinct(StringComparer.Ordinal)];
        if (_columns.Remove(IdColumn))
            _columns.Insert(0, IdColumn);
        if (_columns.Count > 0)
            WriteLine(_columns);
        foreach (Dictionary<string, string> row in _waiting)
            Write(row);
        _waiting.Clear();
    }

    private void Write(Dictionary<string, string> row)
    {
        List<string> columns = _columns ?? [];
        _unknown.UnionWith(row.Keys.Except(columns, StringComparer.Ordinal));
        WriteLine(columns.Select(column => row.GetValueOrDefault(column, "")));
    }

    private void WriteLine(IEnumerable<string> cells)
    {
        var line = new StringBuilder();
        line.AppendJoin(',', cells.Select(Quoted)).Append("\r\n");
        output.Write(line);
    }
}
