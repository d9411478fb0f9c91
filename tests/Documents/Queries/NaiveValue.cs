using System.Globalization;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>One value that a path leads to, in the naive reading of a document.</summary>
internal sealed record NaiveValue(NaiveKind Kind, string Text, double Number)
{
    /// <summary>Values at a path: a list of members without brackets, arrays walked element by element.</summary>
    public static List<NaiveValue> At(JsonNode? node, IReadOnlyList<string> members, int next = 0)
    {
        if (node is JsonArray array)
            return array.Count == 0 && next == members.Count ? [Null] : [.. array.SelectMany(e => At(e, members, next))];
        if (next == members.Count)
            return [Of(node)];

        return node is JsonObject body && body.TryGetPropertyValue(members[next], out JsonNode? member)
            ? At(member, members, next + 1)
            : [];
    }

    /// <summary>Texts at a path that words are looked for in: values, and of an object all texts inside it.</summary>
    public static List<string> SearchedAt(JsonNode? node, IReadOnlyList<string> members, int next = 0)
    {
        if (node is JsonArray array)
            return [.. array.SelectMany(e => SearchedAt(e, members, next))];
        if (next < members.Count)
            return node is JsonObject body && body.TryGetPropertyValue(members[next], out JsonNode? member)
                ? SearchedAt(member, members, next + 1)
                : [];
        return node is JsonObject whole ? TextsIn(whole) : Of(node) is { Kind: not NaiveKind.Null } value ? [value.Text] : [];
    }

    private static List<string> TextsIn(JsonNode? node) => node switch
    {
        JsonObject body => [.. body.SelectMany(member => TextsIn(member.Value))],
        JsonArray array => [.. array.SelectMany(TextsIn)],
        _ => node?.GetValueKind() == JsonValueKind.String ? [node.GetValue<string>()] : [],
    };

    /// <summary>Without case, as far as the tests' alphabets go.</summary>
    public static string Fold(string text) => text.ToUpperInvariant().ToLowerInvariant();

    /// <summary>Order of texts: of their UTF-8.</summary>
    public static int Compare(string left, string right) =>
        Encoding.UTF8.GetBytes(left).AsSpan().SequenceCompareTo(Encoding.UTF8.GetBytes(right));

    private static NaiveValue Null { get; } = new(NaiveKind.Null, "", 0);

    private static NaiveValue Of(JsonNode? node) => node?.GetValueKind() switch
    {
        null => Null,
        JsonValueKind.String => new NaiveValue(NaiveKind.Text, node.GetValue<string>(), 0),
        JsonValueKind.True => new NaiveValue(NaiveKind.Text, "true", 0),
        JsonValueKind.False => new NaiveValue(NaiveKind.Text, "false", 0),
        JsonValueKind.Number => new NaiveValue(
            NaiveKind.Number,
            double.Parse(node.ToJsonString(), CultureInfo.InvariantCulture).ToString("R", CultureInfo.InvariantCulture),
            double.Parse(node.ToJsonString(), CultureInfo.InvariantCulture)),
        _ => new NaiveValue(NaiveKind.Object, "\U0010FFFF", 0),
    };
}

/// <summary>Kinds of <see cref="NaiveValue"/>.</summary>
internal enum NaiveKind
{
    Null,
    Text,
    Number,
    Object,
}
