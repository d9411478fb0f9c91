using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Sorting;
using Treepie.Indexing.Terms;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Indexing.Searching;

/// <summary>
/// An equality condition of a query whose entries a <see cref="CompoundKey"/> holds in the requested order, or would if it
/// existed.
/// </summary>
/// <param name="Equality">The condition.</param>
/// <param name="Entries">Number of entries that match it.</param>
/// <param name="Number">Number of the compound key; -1 if the index has none for it.</param>
/// <param name="Prefix">Common prefix of the keys of these entries.</param>
/// <param name="IsAll">Whether the query has no other condition.</param>
internal sealed record CompoundRange(TermQuery Equality, long Entries, int Number, byte[] Prefix, bool IsAll)
{
    /// <summary>The range over the order's first field that hits must be in; null for all values.</summary>
    public OrderRange? Within { get; private init; }

    /// <summary>The lowest sort value of an entry in that range, as stored in keys; null if unbounded.</summary>
    public byte[]? Low { get; private init; }

    /// <summary>The highest sort value of an entry in that range, as stored in keys; null if unbounded.</summary>
    public byte[]? High { get; private init; }

    /// <summary>Whether the index has the compound key.</summary>
    public bool IsThere => Number >= 0;

    /// <summary>
    /// Returns the equality condition with the fewest entries for which a compound key exists, or could exist. Null if the
    /// order is not by values or no condition is an equality.
    /// </summary>
    /// <param name="context">The query.</param>
    /// <param name="request">The request.</param>
    /// <param name="range">The range over the first field of the order, if there is one.</param>
    public static CompoundRange? Find(QueryContext context, SearchRequest request, OrderRange? range)
    {
        if (request.Take == 0
            || request.Sort.Count == 0
            || SortPlan.NeedsScores(request.Sort)
            || context.Combined is not null)
            return null;

        SortKey first = request.Sort[0];
        if (OrderOf(first) is not { } order)
            return null;

        if (request.Query is TermQuery only)
            return Of(context, only, first, order, isAll: true);
        if (request.Query is not AndQuery)
            return null;

        CompoundRange? best = null;
        foreach (IndexQuery clause in QueryCompiler.Flatten(request.Query))
        {
            if (clause is TermQuery equality
                && Of(context, equality, first, order, isAll: false) is { } found
                && (best is null || IsBetter(found, best)))
                best = found;
        }

        return best is { IsThere: true } && range is not null
            ? best with
            {
                Within = range,
                Low = range.Keys.Low is { } low ? CompoundKeyText.OrderOfTerm(low, order) : null,
                High = range.Keys.High is { } high ? CompoundKeyText.OrderOfTerm(high, order) : null,
            }
            : best;
    }

    /// <summary>Expected number of entries that match the equality and are within the range.</summary>
    public double LikelyMet(QueryContext context, string orderField)
    {
        if (Within is null || context.CountOf(Within.Query, Within.Keys, context.View.Field(orderField)) is not { } count)
            return Entries;
        return Entries * (double)count.Entries / Math.Max(1, context.View.State.EntryCount);
    }

    /// <summary>The compound key that the request would use.</summary>
    public CompoundKey KeyFor(SortKey first) => new(Equality.Field, first.Field, OrderOf(first) ?? CompoundOrder.Text);

    private static bool IsBetter(CompoundRange one, CompoundRange other) =>
        one.IsThere != other.IsThere ? one.IsThere : one.Entries < other.Entries;

    private static CompoundOrder? OrderOf(SortKey key) => key.Kind switch
    {
        SortKind.Text => CompoundOrder.Text,
        SortKind.Long => CompoundOrder.Long,
        SortKind.Double => CompoundOrder.Double,
        _ => null,
    };

    private static CompoundRange? Of(QueryContext context, TermQuery equality, SortKey first, CompoundOrder order, bool isAll)
    {
        int field = context.View.Field(equality.Field), orderField = context.View.Field(first.Field);
        FieldAnalysis analysis = context.View.Schema.Fields[field].Analysis;
        if (equality.Value.Kind == FieldValueKind.Null
            || analysis is not (FieldAnalysis.LowerCaseKeyword or FieldAnalysis.Keyword))
            return null;

        Span<byte> form = stackalloc byte[CompoundKeyText.MaxEqualBytes];
        bool isNumber = equality.Value.Kind is FieldValueKind.Long or FieldValueKind.Double;
        if (!(isNumber
            ? TryNumber(context, field, equality.Value, form, out int length, out long entries)
            : TryText(context, field, analysis, equality.Value, form, out length, out entries)))
            return null;

        int number = context.View.Compound(field, orderField, order);
        return new CompoundRange(
            equality, entries, number, number < 0 ? [] : CompoundKeyText.Prefix(form[..length], isNumber), isAll);
    }

    private static bool TryNumber(
        QueryContext context, int field, FieldValue value, Span<byte> form, out int length, out long entries)
    {
        (length, entries) = (NumberKey.Bytes, 0);
        if (!QueryValue.TryWriteNumber(value, form)
            || !context.View.TryGetTerm(TreeNames.Numbers(field), form[..length], out TermPayload payload))
            return false;
        entries = payload.EntryCount;
        return true;
    }

    /// <summary>
    /// Returns false also if the field has numbers: a text matches these as well, but a compound key stores them as numbers.
    /// </summary>
    private static bool TryText(
        QueryContext context, int field, FieldAnalysis analysis, FieldValue value, Span<byte> form, out int length,
        out long entries)
    {
        (length, entries) = (0, 0);
        if (context.View.TermCount(TreeNames.Numbers(field)) > 0)
            return false;
        ReadOnlySpan<byte> term = context.Rent<ValueText>().Form(analysis, value);
        if (term.Length > form.Length || !context.View.TryGetTerm(TreeNames.Terms(field), term, out TermPayload payload))
            return false;
        term.CopyTo(form);
        (length, entries) = (term.Length, payload.EntryCount);
        return true;
    }
}
