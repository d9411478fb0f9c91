using System.Reflection;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;

namespace Treepie.Linq;

/// <summary>The JSON names of members of C# types.</summary>
internal static class MemberNames
{
    /// <summary>Returns the name of a member of a type without serializer metadata, such as an anonymous one.</summary>
    public static string Of(MemberInfo member, JsonSerializerOptions options) =>
        member.GetCustomAttribute<JsonPropertyNameAttribute>()?.Name
            ?? options.PropertyNamingPolicy?.ConvertName(member.Name)
            ?? member.Name;

    /// <summary>Returns the name of a member of a type; null if it is not serialized.</summary>
    public static string? Of(MemberInfo member, JsonTypeInfo owner)
    {
        string? written = null; // computed lazily: it needs reflection, which most types do without
        foreach (JsonPropertyInfo property in owner.Properties)
            if (property.AttributeProvider is MemberInfo own
                ? own.Name == member.Name
                : property.Name == (written ??= Of(member, owner.Options)))
                return property.Get is null ? null : property.Name;
        written ??= Of(member, owner.Options);
        return member.DeclaringType is { } declaring
            && declaring != owner.Type
            && owner.Options.TryGetTypeInfo(declaring, out JsonTypeInfo? json)
            && json.Properties.Any(property => property.Name == written)
                ? written
                : null;
    }
}
