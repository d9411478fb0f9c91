using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;

namespace Treepie.Sessions;

/// <summary>
/// How objects are written where a program says nothing: by their public properties, private setters included; enumerations by
/// name (numbers are read too); times with seven digits of a second; a discriminator (<c>$type</c>) wherever it stands.
/// </summary>
internal static class EntityJsonOptions
{
    /// <summary>Options by reflection.</summary>
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
            // documents go into no web page, and é is shorter than its escape
            Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
            AllowOutOfOrderMetadataProperties = true, // somebody else may have written the document
            Converters = { new JsonStringEnumConverter(), new TimeJson() },
        };
    }

    /// <summary>
    /// What the serializer would write and not read back: properties with a private setter, and classes whose one constructor is
    /// not public.
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
