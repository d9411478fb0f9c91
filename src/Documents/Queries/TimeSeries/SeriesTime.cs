using System.Globalization;
using Treepie.Indexing.Queries;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.TimeSeries;

/// <summary>Moments of queries of time series; without a zone they are UTC.</summary>
internal static class SeriesTime
{
    /// <summary>Reads one; null for null.</summary>
    /// <exception cref="InvalidQueryException">It is none.</exception>
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
