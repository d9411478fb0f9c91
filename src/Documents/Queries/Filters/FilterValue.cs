using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Fields;
using Treepie.Indexing.Queries;
using Treepie.Json;

namespace Treepie.Queries.Filters;

/// <summary>
/// A value that a filter compares. A missing value is null; arrays and objects equal nothing. As in an index, booleans are texts,
/// and a number of a document is also its text.
/// </summary>
internal readonly struct FilterValue
{
    /// <summary>2^63, the first number behind the greatest <c>long</c>.</summary>
    private const double BehindLongs = 9223372036854775808;

    private readonly JsonValueKind _kind;
    private readonly double _number;
    private readonly long? _whole;
    private readonly bool _isBoolean;

    private FilterValue(
        JsonValueKind kind, double number = 0, long? whole = null, string? text = null, bool isBoolean = false) =>
        (_kind, _number, _whole, Text, _isBoolean) = (kind, number, whole, text, isBoolean);

    /// <summary>The text in its comparison form; null if the value is neither a string nor a boolean.</summary>
    public string? Text { get; }

    /// <summary>The text of a string, boolean or number; null of other values.</summary>
    public string? Spelled => _kind == JsonValueKind.Number
        ? _whole?.ToString(CultureInfo.InvariantCulture) ?? _number.ToString("R", CultureInfo.InvariantCulture).ToLowerInvariant()
        : Text;

    /// <summary>Converts a value of a document or a parameter.</summary>
    /// <param name="json">The value.</param>
    /// <param name="isExact">Whether comparisons are case-sensitive.</param>
    public static FilterValue Of(JsonElement json, bool isExact) => json.ValueKind switch
    {
        JsonValueKind.Undefined => new FilterValue(JsonValueKind.Null),
        JsonValueKind.String => Of(json.GetString() ?? "", isExact),
        JsonValueKind.True => new FilterValue(JsonValueKind.String, text: "true", isBoolean: true),
        JsonValueKind.False => new FilterValue(JsonValueKind.String, text: "false", isBoolean: true),
        JsonValueKind.Number => new FilterValue(
            JsonValueKind.Number, json.GetDouble(), json.TryGetInt64(out long whole) ? whole : null),
        _ => new FilterValue(json.ValueKind),
    };

    /// <summary>Converts a string.</summary>
    public static FilterValue Of(string text, bool isExact)
    {
        if (isExact)
            return new FilterValue(JsonValueKind.String, text: text);
        string moment = TimeText.First(FieldValue.Of(text), AutoIndexFieldKind.Value).Text ?? text;
        return new FilterValue(JsonValueKind.String, text: Folded(moment));
    }

    /// <summary>Converts a number that was computed.</summary>
    public static FilterValue Of(long number) => new(JsonValueKind.Number, number, number);

    /// <summary>
    /// Returns what a function makes of a text that was kept unchanged. Other values become null, as do texts for which the
    /// function returns null.
    /// </summary>
    public FilterValue Map(Func<string, FilterValue?> function) =>
        (Text is { } text && !_isBoolean ? function(text) : null) ?? new FilterValue(JsonValueKind.Null);

    /// <summary>
    /// Returns the moment of a time that was kept unchanged, in the form in which an index stores it, with case folded. A given
    /// text that is not a time is compared with moments as text. Other values become null.
    /// </summary>
    public FilterValue ToMoment(bool isGiven) =>
        Map(text => (UtcTime.Of(text) ?? (isGiven ? text : null)) is { } compared
            ? new FilterValue(JsonValueKind.String, text: Folded(compared))
            : null);

    /// <summary>Writes the value as JSON; one that equals nothing is null.</summary>
    public void Write(IBufferWriter<byte> output)
    {
        if (_kind == JsonValueKind.String && Text is not null)
            JsonStrings.Write(output, Encoding.UTF8.GetBytes(Text));
        else
            output.Write(Encoding.UTF8.GetBytes(Spelled ?? "null"));
    }

    public bool IsEqualTo(FilterValue other) =>
        _kind == JsonValueKind.Null ? other._kind == JsonValueKind.Null : CompareTo(other) == 0;

    /// <summary>
    /// Compares with another value of the same kind, or a number with a text. Returns null if the two have no order.
    /// </summary>
    public int? CompareTo(FilterValue other)
    {
        if (_kind == JsonValueKind.Number && other._kind == JsonValueKind.String)
            return CompareTexts(Spelled, other.Text);
        if (_kind != other._kind)
            return null;
        return _kind switch
        {
            JsonValueKind.String => CompareTexts(Text, other.Text),
            JsonValueKind.Number when _whole is { } mine && other._whole is { } its => mine.CompareTo(its),
            JsonValueKind.Number => CompareReals(other),
            _ => null,
        };
    }

    /// <summary>Folds a text as an index does: these three letters have no case that leads to those they are equal to.</summary>
    public static string Folded(string text) => Ascii.IsValid(text)
        ? text.ToLowerInvariant()
        : text.Replace('\u017F', 's').Replace('\u212A', 'k').Replace('\u1E9E', '\u00DF').ToUpperInvariant().ToLowerInvariant();

    /// <summary>Compares as UTF-8 bytes compare: characters of two units are after all others.</summary>
    public static int CompareTexts(string? left, string? right)
    {
        if (left is null || right is null)
            return string.CompareOrdinal(left, right);
        int same = left.AsSpan().CommonPrefixLength(right);
        return same == left.Length || same == right.Length ? left.Length - right.Length : Rank(left[same]) - Rank(right[same]);

        static int Rank(char unit) => char.IsSurrogate(unit) ? unit + 0x10000 : unit;
    }

    private int CompareReals(FilterValue other)
    {
        int order = _number.CompareTo(other._number);
        return order == 0 && _number == BehindLongs
            ? (_whole is null ? 1 : 0) - (other._whole is null ? 1 : 0) // the greatest longs are rounded up to it
            : order;
    }
}
