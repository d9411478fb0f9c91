using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Indexes.Fields;
using Treepie.Indexing.Queries;
using Treepie.Queries.TimeSeries;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// Compiles conditions on time-series entries to functions: on <c>Value</c>, <c>Values[n]</c>, <c>Tag</c>, <c>Timestamp</c> and
/// fields of the document that the tag names. String comparisons ignore case, as elsewhere.
/// </summary>
internal sealed class SeriesConditions(RqlQuery query, QueryParameters parameters, string? tagAlias)
{
    /// <summary>Compiles a condition.</summary>
    /// <exception cref="InvalidQueryException">The expression is not a condition on entries.</exception>
    public Func<SeriesEntry, bool> Bind(Expression expression)
    {
        switch (expression)
        {
            case AndExpression all:
                Func<SeriesEntry, bool>[] clauses = [.. all.Clauses.Select(Bind)];
                return entry => Array.TrueForAll(clauses, clause => clause(entry));
            case OrExpression either:
                Func<SeriesEntry, bool>[] branches = [.. either.Clauses.Select(Bind)];
                return entry => Array.Exists(branches, branch => branch(entry));
            case NotExpression negated:
                Func<SeriesEntry, bool> inner = Bind(negated.Clause);
                return entry => !inner(entry);
            case LiteralExpression { Kind: LiteralKind.True }:
                return static _ => true;
            case CompareExpression compare:
                return Compare(compare);
            case BetweenExpression between:
                (Func<SeriesEntry, FieldValue> operand, FieldValue low, FieldValue high) = (
                    Operand(between.Operand), Value(between.Operand, between.Low), Value(between.Operand, between.High));
                return entry => operand(entry) is var value && Order(value, low) is >= 0 && Order(value, high) is <= 0;
            case InExpression { All: false } list:
                Func<SeriesEntry, FieldValue> member = Operand(list.Operand);
                FieldValue[] values = [.. parameters.Values(list.Values)];
                return entry => member(entry) is var value && Array.Exists(values, one => AreEqual(value, one));
            default:
                throw RqlErrors.At(
                    query.Text, expression.Position,
                    "Expected is a condition on entries of the time series: Value, Values[0], Tag or Timestamp with a "
                    + "comparison, "
                        + "'between' or 'in'.");
        }
    }

    /// <summary>Compiles a grouping key.</summary>
    public Func<SeriesEntry, string?> BindKey(PathExpression key)
    {
        Func<SeriesEntry, FieldValue> operand = Operand(key);
        return entry => operand(entry) switch
        {
            { Kind: FieldValueKind.Text } value => value.Text,
            { Kind: FieldValueKind.Long } value => value.Long.ToString(System.Globalization.CultureInfo.InvariantCulture),
            { Kind: FieldValueKind.Double } value =>
                value.Double.ToString("R", System.Globalization.CultureInfo.InvariantCulture),
            { Kind: FieldValueKind.Null } => null,
            var value => value.ToString(),
        };
    }

    private Func<SeriesEntry, bool> Compare(CompareExpression compare)
    {
        Func<SeriesEntry, FieldValue> operand = Operand(compare.Left);
        FieldValue given = Value(compare.Left, compare.Right);
        return compare.Operator switch
        {
            CompareOperator.Equal => entry => AreEqual(operand(entry), given),
            CompareOperator.NotEqual => entry => !AreEqual(operand(entry), given),
            CompareOperator.Less => entry => Order(operand(entry), given) is < 0,
            CompareOperator.LessOrEqual => entry => Order(operand(entry), given) is <= 0,
            CompareOperator.Greater => entry => Order(operand(entry), given) is > 0,
            _ => entry => Order(operand(entry), given) is >= 0,
        };
    }

    private Func<SeriesEntry, FieldValue> Operand(Expression expression)
    {
        if (expression is not PathExpression { Segments: [var first, ..] } path)
            throw NoOperand(expression);
        if (path.Segments.Count > 1)
            return first.Name == tagAlias && first.Elements.Count == 0
                ? OfDocument(FieldPath.TryParse(string.Join('.', path.Segments.Skip(1))) ?? throw NoOperand(expression))
                : throw NoOperand(expression);
        if (RqlKeywords.Is(first.Name, "Value") && first.Elements.Count == 0)
            return static entry => NumberOf(entry, 0);
        if (RqlKeywords.Is(first.Name, "Values") && first.Elements is [>= 0 and var index])
            return entry => NumberOf(entry, index);
        if (RqlKeywords.Is(first.Name, "Tag") && first.Elements.Count == 0)
            return static entry => entry.Tag is null ? FieldValue.Null : FieldValue.Of(entry.Tag);
        return IsTimestamp(expression) ? static entry => FieldValue.Of(entry.Ticks) : throw NoOperand(expression);
    }

    private static bool IsTimestamp(Expression expression) =>
        expression is PathExpression { Segments: [{ Elements.Count: 0 } only] } && RqlKeywords.Is(only.Name, "Timestamp");

    /// <summary>Returns the value to compare with; compared with <c>Timestamp</c>, it is parsed as a time.</summary>
    private FieldValue Value(Expression operand, Expression given)
    {
        FieldValue value = parameters.Value(given);
        return IsTimestamp(operand)
            ? FieldValue.Of(SeriesTime.Parse(query, given, value)?.Ticks ?? 0)
            : value;
    }

    private InvalidQueryException NoOperand(Expression expression) => RqlErrors.At(
        query.Text, expression.Position,
        "Expected is Value, Values[0], Tag, Timestamp, or a field of the document that 'load Tag as' names.");

    private static FieldValue NumberOf(SeriesEntry entry, int index) =>
        index < entry.Count ? FieldValue.Of(entry.Values[index]) : FieldValue.Null;

    private static Func<SeriesEntry, FieldValue> OfDocument(FieldPath path) => entry =>
    {
        var json = new ArrayBufferWriter<byte>();
        if (entry.TagDocument() is not { } body || !JsonPathReader.TryWrite(body, path, json))
            return FieldValue.Null;
        var reader = new Utf8JsonReader(json.WrittenSpan);
        reader.Read();
        return reader.TokenType switch
        {
            JsonTokenType.String => FieldValue.Of(reader.GetString() ?? ""),
            JsonTokenType.Number => FieldValue.Of(reader.GetDouble()),
            JsonTokenType.True => FieldValue.Of(true),
            JsonTokenType.False => FieldValue.Of(false),
            JsonTokenType.Null => FieldValue.Null,
            _ => FieldValue.Of(Encoding.UTF8.GetString(json.WrittenSpan)),
        };
    };

    private static bool AreEqual(FieldValue a, FieldValue b) =>
        a.Kind == FieldValueKind.Null || b.Kind == FieldValueKind.Null ? a.Kind == b.Kind : Order(a, b) is 0;

    /// <summary>Compares two values. Returns null if they are not comparable.</summary>
    private static int? Order(FieldValue a, FieldValue b)
    {
        if (IsNumber(a) && IsNumber(b))
            return a.Kind == FieldValueKind.Long && b.Kind == FieldValueKind.Long
                ? a.Long.CompareTo(b.Long)
                : Number(a).CompareTo(Number(b));
        if (a.Kind == FieldValueKind.Text && b.Kind == FieldValueKind.Text)
            return string.Compare(a.Text, b.Text, StringComparison.OrdinalIgnoreCase);
        return a.Kind == b.Kind && a.Equals(b) ? 0 : null;
    }

    private static bool IsNumber(FieldValue value) => value.Kind is FieldValueKind.Long or FieldValueKind.Double;

    private static double Number(FieldValue value) => value.Kind == FieldValueKind.Long ? value.Long : value.Double;
}
