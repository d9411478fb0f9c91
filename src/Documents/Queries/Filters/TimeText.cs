using System.Buffers;
using Treepie.Indexes.Definitions;
using Treepie.Indexing.Queries;

namespace Treepie.Queries.Filters;

/// <summary>
/// A moment as clients of the wire write it, <c>2024-01-01T00:00:00.0000000</c>: with a <c>Z</c> behind it in parameters, without
/// in the documents they store (or with, as they are told to). Both are the same moment in a comparison. What has fewer digits,
/// or an offset, is a text like any other; so is all inside <c>exact()</c>.
/// </summary>
internal static class TimeText
{
    private const string Form = "0000-00-00T00:00:00.0000000";

    private static readonly SearchValues<char> _digits = SearchValues.Create("0123456789");

    /// <summary>Whether a value is such a moment.</summary>
    public static bool Is(FieldValue value, AutoIndexFieldKind kind)
    {
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

    /// <summary>
    /// Of the ways to write the moment the one that comes first in the order of texts; any other value as it is.
    /// </summary>
    // a moment has text
    public static FieldValue First(FieldValue value, AutoIndexFieldKind kind) =>
        Is(value, kind) ? FieldValue.Of(value.Text![..Form.Length]) : value;

    /// <summary>Of the ways to write the moment the one that comes last; any other value as it is.</summary>
    // as above
    public static FieldValue Last(FieldValue value, AutoIndexFieldKind kind) =>
        Is(value, kind) ? FieldValue.Of(value.Text![..Form.Length] + "Z") : value;
}
