using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;

namespace Treepie.Sessions;

/// <summary>
/// The default serialization of entities: public properties, including those with private setters; enumerations by name (numbers
/// are accepted when reading); times with seven digits of a second; a discriminator (<c>$type</c>) at any position.
/// </summary>
internal static class EntityJsonOptions
{
    /// <summary>Returns options that use reflection.</summary>
    [RequiresUnreferencedCode("Serializes by reflection.")]
    [RequiresDynamicCode("Serializes by reflection.")]
    public static JsonSerializerOptions ByReflection(int maxDepth)
    {
        var resolver = new DefaultJsonTypeInfoResolver();
        resolver.Modifiers.Add(UsePrivateMembers);
        return new JsonSerializerOptions
        {
            MaxDepth = maxDepth,
            TypeInfoResolver = resolver,
            // documents are not embedded in web pages, and é is shorter than its escape
            Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
            AllowOutOfOrderMetadataProperties = true, // other programs may have written the document
            Converters = { new JsonStringEnumConverter(), new TimeJson() },
        };
    }

    /// <summary>
    /// Supports what the serializer would write but not read back: properties with a private setter, and classes whose only
    /// constructor is not public.
    /// </summary>
    [RequiresUnreferencedCode("Looks for members by reflection.")]
    private static void UsePrivateMembers(JsonTypeInfo json)
    {
        if (json.Kind != JsonTypeInfoKind.Object)
            return;

        foreach (JsonPropertyInfo property in json.Properties)
            if (property.Set is null && property.AttributeProvider is PropertyInfo { SetMethod: { } setter })
                property.Set = (entity, value) => setter.Invoke(entity, [value]);

        const BindingFlags own = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;
        if (json.CreateObject is null
            && json.Type.GetConstructors().Length == 0
            && json.Type.GetConstructor(own, []) is { } constructor
            && !json.Type.IsAbstract)
            json.CreateObject = () => constructor.Invoke(null);
    }
}
