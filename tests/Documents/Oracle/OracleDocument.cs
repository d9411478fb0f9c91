using System.Text.Json.Nodes;

namespace Treepie.Documents.Tests.Oracle;

/// <summary>
/// A document with the values that conditions have asked it for, each read from the JSON once. Paths are told apart by
/// reference: one array of names stands for one path.
/// </summary>
public sealed class OracleDocument(string id, JsonObject body)
{
    private readonly Dictionary<string[], List<OracleValue>> _values = [];
    private readonly Dictionary<string[], string> _rows = [];

    public string Id { get; } = id;

    /// <summary>The id as conditions on it compare it.</summary>
    public OracleText FoldedId { get; } = new OracleText(id).Folded;

    public JsonObject Body { get; } = body;

    /// <summary>The values at a path, arrays taken apart.</summary>
    public List<OracleValue> At(string[] path)
    {
        if (!_values.TryGetValue(path, out List<OracleValue>? values))
            _values.Add(path, values = OracleValue.At(Body, path));
        return values;
    }

    /// <summary>The whole value at a path without arrays before its end, as a text that tells values apart.</summary>
    public string Row(string[] path)
    {
        if (!_rows.TryGetValue(path, out string? row))
        {
            row = OracleValue.Whole(
                path.Aggregate((JsonNode?)Body, static (at, name) => at is JsonObject parent ? parent[name] : null));
            _rows.Add(path, row);
        }

        return row;
    }

    public override string ToString() => $"{Id} {Body.ToJsonString()}";
}
