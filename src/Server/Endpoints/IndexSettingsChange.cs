using System.Text.Json;
using Treepie.Indexes;

namespace Treepie.Server.Endpoints;

/// <summary>A requested change of index settings; null members leave the setting unchanged.</summary>
internal readonly record struct IndexSettingsChange(IndexLockMode? LockMode, IndexPriority? Priority, bool? IsDisabled)
{
    /// <summary>Reads <c>LockMode</c>, <c>Priority</c> and <c>State</c>, all of which are optional.</summary>
    /// <exception cref="WireException">A value is not valid.</exception>
    public static IndexSettingsChange Read(JsonElement json) => new(
        Word<IndexLockMode>(json, "LockMode"),
        Word<IndexPriority>(json, "Priority"),
        State(json));

    /// <summary>Parses an enumeration value.</summary>
    public static T Parse<T>(string name, string? text)
        where T : struct, Enum =>
        text is not null && Enum.TryParse(text, ignoreCase: true, out T value) && !char.IsAsciiDigit(text[0]) && text[0] != '-'
            ? value
            : throw WireException.BadRequest($"'{name}' is one of {string.Join(", ", Enum.GetNames<T>())}; '{text}' is given.");

    public IndexSettings ApplyTo(IndexSettings settings) => settings with
    {
        LockMode = LockMode ?? settings.LockMode,
        Priority = Priority ?? settings.Priority,
        IsDisabled = IsDisabled ?? settings.IsDisabled,
    };

    private static T? Word<T>(JsonElement json, string name)
        where T : struct, Enum =>
        Text(json, name) is { } text ? Parse<T>(name, text) : null;

    /// <summary>
    /// Reads the state: Disabled and Normal disable and enable the index; the others, which clients send back as they received
    /// them, change nothing.
    /// </summary>
    private static bool? State(JsonElement json) => Text(json, "State") switch
    {
        null or "Idle" or "Error" => null,
        "Disabled" => true,
        "Normal" => false,
        { } text => throw WireException.BadRequest($"'State' is one of Normal, Disabled, Idle, Error; '{text}' is given."),
    };

    private static string? Text(JsonElement json, string name) =>
        json.TryGetProperty(name, out JsonElement value) && value.ValueKind == JsonValueKind.String ? value.GetString() : null;
}
