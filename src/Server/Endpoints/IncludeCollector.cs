using System.Text.Json;
using Microsoft.Extensions.Primitives;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Collects the ids in documents at given paths, such as <c>company</c> or <c>lines[].product</c>. Arrays on a path are
/// expanded; <c>$Keys</c> and <c>$Values</c> denote the keys and values of an object.
/// </summary>
internal sealed class IncludeCollector
{
    private readonly string[][] _paths;
    private readonly int _limit;
    private readonly HashSet<string> _seen = new(StringComparer.OrdinalIgnoreCase);
    private readonly List<string> _ids = [];

    public IncludeCollector(StringValues includePaths, int maxIds)
    {
        _limit = maxIds;
        _paths = new string[includePaths.Count][];
        for (int i = 0; i < includePaths.Count; i++)
            _paths[i] = Parse(includePaths[i] ?? "");
    }

    /// <summary>The ids in the order found, each once.</summary>
    public IReadOnlyList<string> Ids => _ids;

    public void CollectFrom(ReadOnlySpan<byte> body)
    {
        foreach (string[] path in _paths)
        {
            // Stored documents were checked against the depth limit when they were written, so none is applied here.
            var reader = new Utf8JsonReader(body, new JsonReaderOptions { MaxDepth = int.MaxValue });
            reader.Read();
            Collect(ref reader, path);
        }
    }

    /// <summary>Removes ids that are in the response anyway.</summary>
    public void Except(IReadOnlyList<string> loaded)
    {
        var there = new HashSet<string>(loaded, StringComparer.OrdinalIgnoreCase);
        _ids.RemoveAll(there.Contains);
    }

    private static string[] Parse(string path)
    {
        string[] parts = path.Split('.', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
        for (int i = 0; i < parts.Length; i++)
            if (parts[i].EndsWith("[]", StringComparison.Ordinal))
                parts[i] = parts[i][..^2];

        return parts.Length > 0 ? parts : throw WireException.BadRequest("The query string has an empty 'include='.");
    }

    // Starts at a value; leaves the reader on its last token.
    private void Collect(ref Utf8JsonReader reader, ReadOnlySpan<string> path)
    {
        switch (reader.TokenType)
        {
            case JsonTokenType.StartArray:
                while (reader.Read() && reader.TokenType != JsonTokenType.EndArray)
                    Collect(ref reader, path);
                break;

            case JsonTokenType.StartObject when path.Length > 0:
                CollectFromObject(ref reader, path);
                break;

            case JsonTokenType.StartObject:
                reader.Skip();
                break;

            case JsonTokenType.String when path.Length == 0:
                Add(reader.GetString());
                break;
        }
    }

    private void CollectFromObject(ref Utf8JsonReader reader, ReadOnlySpan<string> path)
    {
        bool keys = path is ["$Keys"];
        bool everyValue = path[0] == "$Values";
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            if (keys)
                Add(reader.GetString());

            bool wanted = everyValue || reader.ValueTextEquals(path[0]);
            reader.Read();
            if (wanted && !keys)
                Collect(ref reader, path[1..]);
            else
                reader.Skip();
        }
    }

    private void Add(string? id)
    {
        if (string.IsNullOrEmpty(id) || !_seen.Add(id))
            return;

        if (_ids.Count == _limit)
            throw WireException.TooLarge(
                $"The documents refer to more than {_limit:N0} others to include, the limit. Load fewer at a time.");

        _ids.Add(id);
    }
}
