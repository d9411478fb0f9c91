using System.Collections;
using System.Collections.Frozen;
using System.Globalization;
using System.Linq.Expressions;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Treepie.Linq;

namespace Treepie.IndexClasses;

/// <summary>Converts values to C# text as in documents: enumerations and times as the serializer writes them.</summary>
internal sealed class LiteralText(JsonSerializerOptions json)
{
    private static readonly FrozenSet<string> _keywords = FrozenSet.Create(
        "abstract", "as", "base", "bool", "break", "byte", "case", "catch", "char", "checked", "class", "const", "continue",
        "decimal", "default", "delegate", "do", "double", "else", "enum", "event", "explicit", "extern", "false", "finally",
        "fixed", "float", "for", "foreach", "goto", "if", "implicit", "in", "int", "interface", "internal", "is", "lock", "long",
        "namespace", "new", "null", "object", "operator", "out", "override", "params", "private", "protected", "public",
        "readonly", "ref", "return", "sbyte", "sealed", "short", "sizeof", "stackalloc", "static", "string", "struct", "switch",
        "this", "throw", "true", "try", "typeof", "uint", "ulong", "unchecked", "ushort", "using", "virtual", "void",
        "volatile", "while");

    /// <summary>Returns whether a name is a keyword.</summary>
    public static bool IsKeyword(string name) => _keywords.Contains(name);

    /// <summary>Converts a value.</summary>
    /// <exception cref="NotSupportedException">The value cannot be converted.</exception>
    public string Of(Expression node, object? value) => value switch
    {
        null => "null",
        bool truth => truth ? "true" : "false",
        string text => Quoted(text),
        char one => Quoted(one.ToString()),
        sbyte or byte or short or ushort or int => ((IFormattable)value).ToString(null, CultureInfo.InvariantCulture),
        uint or long or ulong => ((IFormattable)value).ToString(null, CultureInfo.InvariantCulture) + "L",
        double or float when !double.IsFinite(Convert.ToDouble(value, CultureInfo.InvariantCulture)) =>
            throw Refusal.Of(node, "Documents have no such number."),
        double number => number.ToString("R", CultureInfo.InvariantCulture) + "d",
        float number => number.ToString("R", CultureInfo.InvariantCulture) + "d",
        decimal number => number.ToString(CultureInfo.InvariantCulture) + "m",
        StringComparison or StringSplitOptions => $"{value.GetType().Name}.{value}",
        IDictionary => throw Refusal.Of(node, "Write a dictionary out where it is used, or take a member of the document."),
        IEnumerable items => OfItems(node, [.. items.Cast<object?>()]),
        _ => Written(node, value),
    };

    /// <summary>Returns whether values of an enumeration are stored as strings.</summary>
    public bool IsText(Type type) =>
        json.TryGetTypeInfo(type, out JsonTypeInfo? known)
            && JsonSerializer.SerializeToElement(Interpreter.DefaultOf(type), known).ValueKind == JsonValueKind.String;

    /// <summary>Returns a quoted string.</summary>
    public static string Quoted(string text)
    {
        var quoted = new StringBuilder("\"");
        foreach (char one in text)
        {
            if (one is '"' or '\\')
                quoted.Append('\\').Append(one);
            else if (char.IsControl(one) || char.IsSurrogate(one) || one is '\u2028' or '\u2029')
                quoted.Append("\\u").Append(((int)one).ToString("x4", CultureInfo.InvariantCulture));
            else
                quoted.Append(one);
        }

        return quoted.Append('"').ToString();
    }

    private string OfItems(Expression node, object?[] items) =>
        items.Length == 0 ? "new object[0]" : $"new[] {{ {string.Join(", ", items.Select(item => Of(node, item)))} }}";

    /// <summary>Converts a value that the serializer writes as a string or a number.</summary>
    private string Written(Expression node, object value)
    {
        if (!json.TryGetTypeInfo(value.GetType(), out JsonTypeInfo? type))
            throw Refusal.Of(node, $"The JSON options do not know the type {value.GetType().Name}.");
        JsonElement written = JsonSerializer.SerializeToElement(value, type);
        return written.ValueKind switch
        {
            JsonValueKind.String when value is DateTime or DateTimeOffset => $"DateTime.Parse({Quoted(written.GetString()!)})",
            JsonValueKind.String => Quoted(written.GetString()!), // it is a string
            JsonValueKind.Number => written.GetRawText(),
            JsonValueKind.True => "true",
            JsonValueKind.False => "false",
            _ => throw Refusal.Of(node, "Only texts, numbers, times and arrays of them can stand in an index from outside."),
        };
    }
}
