using System.Globalization;
using System.Text.Json.Nodes;

namespace Treepie.Documents.Tests.Oracle;

/// <summary>
/// A value of a document as the page on the query language has it: text, number, boolean, null, or an object that is equal to
/// nothing. With its own folding and its own comparisons; nothing of the engine is called.
/// </summary>
/// <param name="Text">How it reads as a text; null where it has none.</param>
/// <param name="Number">As a number; null where it is none.</param>
/// <param name="IsNull">Whether it is null.</param>
public sealed record OracleValue(OracleText? Text, decimal? Number, bool IsNull)
{
    /// <summary>What stands at a path, arrays taken apart: nothing where it is missing, a null for an empty array.</summary>
    public static List<OracleValue> At(JsonNode? root, IReadOnlyList<string> path)
    {
        var found = new List<OracleValue>();
        Walk(root, path, 0, found);
        return found;
    }

    /// <summary>A whole value as a text that tells values apart, but not how they are spelled.</summary>
    public static string Whole(JsonNode? value) => value switch
    {
        null => "null",
        JsonArray elements => $"[{string.Join(',', elements.Select(Whole))}]",
        JsonObject members => $"{{{string.Join(',', members.Select(member => $"{member.Key}:{Whole(member.Value)}"))}}}",
        JsonValue single => Scalar(single.ToJsonString(), single) is { Number: { } number }
            ? (number / 1.0000000000000000000000000000m).ToString(CultureInfo.InvariantCulture)
            : single.ToJsonString(),
        _ => throw new ArgumentException($"There is no {value.GetType()}.", nameof(value)),
    };

    /// <summary>Whether anything is there, be it null.</summary>
    public static bool IsThere(JsonObject root, IReadOnlyList<string> path)
    {
        JsonNode? at = root;
        foreach (string name in path)
        {
            if (at is not JsonObject parent || !parent.TryGetPropertyValue(name, out at))
                return false;
        }

        return true;
    }

    private static void Walk(JsonNode? at, IReadOnlyList<string> path, int place, List<OracleValue> found)
    {
        switch (at)
        {
            case JsonArray { Count: 0 } when place == path.Count:
                found.Add(new OracleValue(null, null, IsNull: true));
                break;
            case JsonArray elements:
                foreach (JsonNode? element in elements)
                    Walk(element, path, place, found);
                break;
            case JsonObject parent when place < path.Count:
                if (parent.TryGetPropertyValue(path[place], out JsonNode? child))
                    Walk(child, path, place + 1, found);
                break;
            case null when place == path.Count:
                found.Add(new OracleValue(null, null, IsNull: true));
                break;
            case JsonObject:
                found.Add(new OracleValue(null, null, IsNull: false));
                break;
            case JsonValue value when place == path.Count:
                found.Add(Scalar(value.ToJsonString(), value));
                break;
        }
    }

    private static OracleValue Scalar(string json, JsonValue value) => json[0] switch
    {
        '"' => new OracleValue(new OracleText(value.GetValue<string>()), null, false),
        't' or 'f' => new OracleValue(new OracleText(json), null, false),
        _ => new OracleValue(
            new OracleText(json), decimal.Parse(json, NumberStyles.Float, CultureInfo.InvariantCulture), false),
    };
}
