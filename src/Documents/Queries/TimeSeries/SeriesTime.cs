using System.Globalization;
using Treepie.Indexing.Queries;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.TimeSeries;

/// <summary>Parses times in time-series queries; UTC if no time zone is given.</summary>
internal static class SeriesTime
{
    /// <summary>Parses a value as a time. Returns null for null.</summary>
    /// <exception cref="InvalidQueryException">The value is not a time.</exception>
    public static DateTime? Parse(RqlQuery query, Expression expression, FieldValue value)
    {
        if (value.Kind == FieldValueKind.Null)
            return null;
        return value is { Kind: FieldValueKind.Text, Text: { } text }
            && DateTime.TryParse(
                text, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal,
                out DateTime time)
            ? time
            : throw RqlErrors.At(query.Text, expression.Position, "Expected is a time, such as '2024-01-31T12:00:00Z'.");
    }
}
