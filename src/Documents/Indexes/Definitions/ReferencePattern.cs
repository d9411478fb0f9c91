using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Computations;
using Treepie.Store;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// The pattern of the ids of reference documents: text with fields of the output in braces, each with an optional format, as
/// in <c>reports/{Company}/{OrderedAt:yyyy-MM}</c>. A doubled brace stands for one. Immutable.
/// </summary>
internal sealed class ReferencePattern
{
    private const int MaxLength = 512;

    private readonly List<(string Text, string? Format, bool IsField)> _parts = [];

    private ReferencePattern()
    {
    }

    /// <summary>The fields in the pattern.</summary>
    public IEnumerable<string> Fields => _parts.Where(part => part.IsField).Select(part => part.Text);

    /// <summary>Parses a pattern.</summary>
    /// <exception cref="FormatException">The pattern is not valid; the message ends a sentence.</exception>
    public static ReferencePattern Parse(string text)
    {
        if (text.Length is 0 or > MaxLength)
            throw new FormatException($"a pattern has 1 to {MaxLength} characters.");
        var pattern = new ReferencePattern();
        var literal = new StringBuilder();
        for (int at = 0; at < text.Length; at++)
        {
            char one = text[at];
            if (one is not ('{' or '}') || (at + 1 < text.Length && text[at + 1] == one))
            {
                literal.Append(one);
                at += one is '{' or '}' ? 1 : 0;
                continue;
            }

            int end = one == '{' ? text.IndexOf('}', at) : -1;
            if (end < 0)
                throw new FormatException($"the brace at character {at + 1} has no other; two braces stand for one.");
            string[] field = text[(at + 1)..end].Split(':', 2);
            pattern._parts.Add((literal.ToString(), null, false));
            literal.Clear();
            pattern._parts.Add((field[0].Trim(), field.Length > 1 ? FormatOf(field[1]) : null, true));
            at = end;
        }

        pattern._parts.Add((literal.ToString(), null, false));
        if (!pattern.Fields.Any() || pattern.Fields.Any(string.IsNullOrEmpty))
            throw new FormatException("a pattern names one field or more in braces, as in 'reports/{Company}'.");
        return pattern;
    }

    /// <summary>Returns the id for an output.</summary>
    /// <exception cref="FormatException">A field is missing or does not fit its format, or the result is not a valid
    /// id.</exception>
    public string IdOf(ReadOnlySpan<byte> output)
    {
        var reader = new Utf8JsonReader(output);
        JsonElement json = JsonElement.ParseValue(ref reader);
        var id = new StringBuilder();
        foreach ((string text, string? format, bool isField) in _parts)
            id.Append(isField ? TextOf(json, text, format) : text);
        string made = id.ToString();
        Span<byte> folded = stackalloc byte[DocumentId.MaxFoldedBytes];
        bool isId = made.Length > 0 && made[^1] is not ('/' or '|') && !made.Any(char.IsControl);
        return isId && DocumentId.TryFold(made, folded, out _)
            ? made
            : throw new FormatException($"the reference '{Shortened(made)}' cannot be the id of a document");
    }

    private static string FormatOf(string format) =>
        format.Length > 0 && ValueFormat.IsBounded(format)
            ? format
            : throw new FormatException($"'{Shortened(format)}' is not a format of a time or a number.");

    private static string TextOf(JsonElement json, string field, string? format)
    {
        if (!json.TryGetProperty(field, out JsonElement value) || value.ValueKind is JsonValueKind.Null)
            throw new FormatException($"the field '{field}' of its reference is missing or null");
        if (value.ValueKind is JsonValueKind.Object or JsonValueKind.Array)
            throw new FormatException($"the field '{field}' of its reference is not a single value");
        string text = value.ValueKind == JsonValueKind.String ? value.GetString() ?? "" : value.GetRawText();
        if (format is null)
            return text;
        if (value.ValueKind == JsonValueKind.String
            && DateTime.TryParse(text, CultureInfo.InvariantCulture, DateTimeStyles.RoundtripKind, out DateTime time))
            return time.ToString(format, CultureInfo.InvariantCulture);
        return value.ValueKind == JsonValueKind.Number && value.TryGetDecimal(out decimal number)
            ? number.ToString(format, CultureInfo.InvariantCulture)
            : throw new FormatException(
                $"the field '{field}' of its reference, '{Shortened(text)}', is no time and no number, for which its format is");
    }

    private static string Shortened(string text) => text.Length <= 64 ? text : text[..64] + "…";
}
