using System.Text.Json;

namespace Treepie.Json;

/// <summary>
/// A set of named definitions, in the format of database records: <c>{"Names":{"Name":"Names","Code":"{…}"}}</c>. Names are not
/// case-sensitive. Immutable.
/// </summary>
internal sealed class NamedCode
{
    /// <summary>The maximum length of a name, in characters.</summary>
    public const int MaxNameLength = 256;

    /// <summary>The error message if <see cref="IsName"/> is false.</summary>
    public const string NameRule = "a name has 1 to 256 letters, digits, '_', '-' and dots.";

    private readonly SortedDictionary<string, string> _byName = new(StringComparer.OrdinalIgnoreCase);

    private NamedCode(IEnumerable<(string Name, string Code)> definitions)
    {
        foreach ((string name, string code) in definitions)
        {
            _byName.Remove(name); // the new name may differ in case
            _byName[name] = code;
        }

        All = [.. _byName.Select(static pair => (pair.Key, pair.Value))];
    }

    public static NamedCode Empty { get; } = new([]);

    /// <summary>All definitions, ordered by name.</summary>
    public IReadOnlyList<(string Name, string Code)> All { get; }

    /// <summary>Whether a definition can have this name.</summary>
    public static bool IsName(string name) =>
        name.Length is > 0 and <= MaxNameLength && name.All(static c => char.IsLetterOrDigit(c) || c is '_' or '-' or '.');

    public static NamedCode FromJson(ReadOnlyMemory<byte> json)
    {
        using var document = JsonDocument.Parse(json);
        return Read(document.RootElement);
    }

    /// <summary>Reads definitions; skips members that are not definitions.</summary>
    public static NamedCode Read(JsonElement json) => new(
        json.ValueKind != JsonValueKind.Object
            ? []
            : json.EnumerateObject()
                .Where(static member =>
                    member.Value.ValueKind == JsonValueKind.Object
                    && member.Value.TryGetProperty("Code"u8, out JsonElement code)
                    && code.ValueKind == JsonValueKind.String)
                .Select(static member => (member.Name, member.Value.GetProperty("Code"u8).GetString() ?? "")));

    /// <summary>Returns the form that <see cref="Read"/> accepts, or null if there are no definitions.</summary>
    public byte[]? ToJson() => All.Count == 0 ? null : JsonBytes.Of(Write);

    public void Write(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        foreach ((string name, string code) in All)
        {
            json.WriteStartObject(name);
            json.WriteString("Name"u8, name);
            json.WriteString("Code"u8, code);
            json.WriteEndObject();
        }

        json.WriteEndObject();
    }

    /// <summary>Returns this set and others, which replace definitions of the same name.</summary>
    public NamedCode With(IEnumerable<(string Name, string Code)> others) => new(All.Concat(others));

    /// <summary>Returns this set without a definition, or null if there is none of this name.</summary>
    public NamedCode? Without(string name) => _byName.ContainsKey(name)
        ? Where((known, _) => !string.Equals(known, name, StringComparison.OrdinalIgnoreCase))
        : null;

    /// <summary>Returns the definitions that satisfy a condition.</summary>
    public NamedCode Where(Func<string, string, bool> condition) => new(All.Where(one => condition(one.Name, one.Code)));
}
