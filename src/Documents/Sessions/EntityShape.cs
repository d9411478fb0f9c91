using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;

namespace Treepie.Sessions;

/// <summary>
/// Rejects types whose entities would lose data when they are stored and loaded again, before anything is written.
/// </summary>
internal static class EntityShape
{
    /// <summary>Checks a type and all types it contains.</summary>
    /// <exception cref="TreepieException">A part of it would be lost; the message names the type and member, and says what to
    /// do.</exception>
    public static void Check(JsonTypeInfo json) => Check(json, []);

    private static void Check(JsonTypeInfo json, HashSet<Type> seen)
    {
        if (!seen.Add(json.Type))
            return;

        if (json.Kind is JsonTypeInfoKind.Enumerable or JsonTypeInfoKind.Dictionary)
        {
            if (json.ElementType is { } element && json.Options.TryGetTypeInfo(element, out JsonTypeInfo? of))
                Check(of, seen);
            return;
        }

        if (json.Kind != JsonTypeInfoKind.Object)
            return;

        if ((json.Type.IsAbstract || json.Type.IsInterface) && json.PolymorphismOptions is null)
            throw new TreepieException(
                $"{json.Type.Name} is {(json.Type.IsInterface ? "an interface" : "abstract")} and does not say which types are "
                + $"derived from it: what is stored could not be loaded. "
                + "Mark it with [JsonDerivedType] for each, with a discriminator, or use a class.");
        CheckFields(json);
        foreach (JsonPropertyInfo property in json.Properties)
            if (property.Get is not null
                && property.CustomConverter is null
                && json.Options.TryGetTypeInfo(property.PropertyType, out JsonTypeInfo? of))
                Check(of, seen);
        foreach (JsonDerivedType derived in json.PolymorphismOptions?.DerivedTypes ?? [])
            if (json.Options.TryGetTypeInfo(derived.DerivedType, out JsonTypeInfo? of))
                Check(of, seen);
    }

    [UnconditionalSuppressMessage(
        "Trimming", "IL2075", Justification = "A field that was trimmed away holds nothing that could be lost.")]
    private static void CheckFields(JsonTypeInfo json)
    {
        foreach (FieldInfo field in json.Type.GetFields(BindingFlags.Public | BindingFlags.Instance))
        {
            bool isWritten = json.Properties.Any(
                property => property.AttributeProvider is FieldInfo own && own.Name == field.Name);
            if (!isWritten && !json.Options.IncludeFields && field.GetCustomAttribute<JsonIgnoreAttribute>() is null)
                throw new TreepieException(
                    $"{json.Type.Name}.{field.Name} is a field, which is not written to documents: its value would be lost. Make "
                    + $"it a property, mark it with [JsonInclude] or "
                    + "[JsonIgnore], or set IncludeFields in the JSON options.");
        }
    }
}
