using System.Buffers;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Fields;
using Treepie.Indexing.Queries;

namespace Treepie.Queries.Filters;

/// <summary>
/// UTC times as clients serialize them, <c>2024-01-01T00:00:00.0000000</c>: with a trailing <c>Z</c> in parameters, and without
/// in stored documents unless configured otherwise. Both forms compare as equal. Times with fewer digits or with an offset are
/// ordinary strings, and so is everything inside <c>exact()</c>.
/// </summary>
internal static class TimeText
{
    private const string Form = "0000-00-00T00:00:00.0000000";

    private static readonly SearchValues<char> _digits = SearchValues.Create("0123456789");

    /// <summary>Whether a value is such a time, or, for a field of moments, any time.</summary>
    public static bool Is(FieldValue value, AutoIndexFieldKind kind)
    {
        if (kind == AutoIndexFieldKind.Utc)
            return value is { Kind: FieldValueKind.Text, Text: { } time } && UtcTime.Of(time) is not null;
        if (kind == AutoIndexFieldKind.Exact
            || value is not { Kind: FieldValueKind.Text, Text: { } text }
            || text.Length < Form.Length
            || text.Length > Form.Length + 1)
            return false;
        if (text.Length > Form.Length && text[^1] is not ('Z' or 'z'))
            return false;
        for (int i = 0; i < Form.Length; i++)
        {
            bool fits = Form[i] == '0' ? _digits.Contains(text[i]) : char.ToUpperInvariant(text[i]) == Form[i];
            if (!fits)
                return false;
        }

        return true;
    }

    /// <summary>Returns the form of the time that sorts first as text; any other value unchanged.</summary>
    // not null: Is checked that the value is text
    public static FieldValue First(FieldValue value, AutoIndexFieldKind kind) =>
        kind == AutoIndexFieldKind.Utc ? Moment(value)
        : Is(value, kind) ? FieldValue.Of(value.Text![..Form.Length])
        : value;

    /// <summary>Returns the form of the time that sorts last as text; any other value unchanged.</summary>
    // not null: see First
    public static FieldValue Last(FieldValue value, AutoIndexFieldKind kind) =>
        kind == AutoIndexFieldKind.Utc ? Moment(value)
        : Is(value, kind) ? FieldValue.Of(value.Text![..Form.Length] + "Z")
        : value;

    private static FieldValue Moment(FieldValue value) =>
        value is { Kind: FieldValueKind.Text, Text: { } time } && UtcTime.Of(time) is { } moment ? FieldValue.Of(moment) : value;
}
