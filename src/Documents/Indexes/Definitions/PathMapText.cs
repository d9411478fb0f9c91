using System.Globalization;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using Treepie.Indexes.Fields;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// Writes definitions by path as maps in JavaScript, which take every name of a collection, field or member, for programs that
/// only know maps. <see cref="PathMap"/> is the inverse. Boosts and compound fields cannot be said by a map.
/// <code>
/// map("Orders", o => ({ "City": o.ShipTo?.City, "Product": o.Lines?.map(x => x?.Product), "Id": id(o) }))
/// </code>
/// </summary>
internal static class PathMapText
{
    private const string Document = "o";
    private const string Element = "x";

    private static readonly JavaScriptEncoder _encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping;

    /// <summary>Returns the maps of a definition that does not compute, one for each collection.</summary>
    public static IReadOnlyList<string> MapsOf(IndexDefinition definition)
    {
        string fields = string.Join(", ", definition.Fields.Select(static field => $"{Quoted(field.Name)}: {ValueOf(field)}"));
        IReadOnlyList<string> collections = definition.Collections.Count > 0
            ? definition.Collections
            : [AutoIndexDefinition.AllDocuments];
        return [.. collections.Select(collection => $"map({Quoted(collection)}, {Document} => ({{ {fields} }}))")];
    }

    private static string ValueOf(IndexFieldDefinition field)
    {
        if (field.Spatial is { } place)
            return place.Wkt is { } shape
                ? $"createSpatialField({Of(shape)})"
                : $"createSpatialField({Of(place.Latitude ?? "")}, {Of(place.Longitude ?? "")})";
        string value = Of(field.Path ?? field.Name);
        return field.Vector is null ? value : $"createVector({value})";
    }

    private static string Of(string path)
    {
        if (path == AutoIndexField.Id || FieldPath.TryParse(path) is not { } parsed)
            return $"id({Document})";
        int first = parsed.IsMetadata && parsed.Count > 1 ? 1 : 0;
        string start = first == 0 ? $"{Document}{Member(parsed, 0)}" : $"getMetadata({Document})[{Quoted(NameOf(parsed, 1))}]";
        return start + Rest(parsed, first);
    }

    /// <summary>Writes what follows the name of a member: its brackets, and the members below.</summary>
    private static string Rest(FieldPath path, int member)
    {
        var text = new StringBuilder();
        bool isLast = member == path.Count - 1;
        for (int level = 0; level < path.LevelsOf(member); level++)
        {
            int element = path.ElementOf(member, level);
            if (element >= 0)
                text.Append(CultureInfo.InvariantCulture, $"?.[{element}]");
            else if (!isLast && level == path.LevelsOf(member) - 1)
                return text.Append(
                        CultureInfo.InvariantCulture,
                        $"?.map({Element} => {Element}?{Member(path, member + 1, isOptional: true)}{Rest(path, member + 1)})")
                    .ToString();
        }

        return isLast
            ? text.ToString()
            : text.Append(CultureInfo.InvariantCulture, $"?{Member(path, member + 1, isOptional: true)}{Rest(path, member + 1)}")
                .ToString();
    }

    private static string Member(FieldPath path, int member, bool isOptional = false)
    {
        string name = NameOf(path, member);
        return IsIdentifier(name) ? $".{name}" : $"{(isOptional ? "." : "")}[{Quoted(name)}]";
    }

    private static string NameOf(FieldPath path, int member) => Encoding.UTF8.GetString(path.NameOf(member));

    private static bool IsIdentifier(string name) =>
        (char.IsLetter(name[0]) || name[0] is '_' or '$') && name.All(static c => char.IsLetterOrDigit(c) || c is '_' or '$');

    private static string Quoted(string text) => $"\"{JsonEncodedText.Encode(text, _encoder)}\"";
}
