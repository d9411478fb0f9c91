using System.Globalization;
using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>Gathers the terms or numbers between two bounds.</summary>
internal sealed class RangeCompiler(QueryContext context)
{
    private readonly IndexView _view = context.View;

    /// <summary>The operator of a range.</summary>
    /// <param name="range">The range.</param>
    /// <param name="survivors">Entries it will be asked about at the most, because other clauses leave no more.</param>
    public Operator Compile(RangeQuery range, long survivors)
    {
        if (!TryOpen(range, out KeyRange keys))
            return new NoneOperator(context);

        int field = _view.Field(range.Field);
        bool inNumbers = keys.Dictionary == TreeNames.Numbers(field);
        bool canCompare = inNumbers && !_view.Statistics(field).EverHadSeveralValues;
        long mostTerms = canCompare ? MostTerms(field, survivors) : long.MaxValue;
        string? label = context.Tracer is null ? null : Label(range);
        RangeCount? count = canCompare ? context.CountOf(range, keys, field) : null;
        if (count is not { } known || known.Terms <= mostTerms)
        {
            var gathered = new UnionOperator(context) { Name = ("range", range.Field, label) };
            if (keys.IsLong)
                GatherWhole(gathered, field, keys);
            else
                Gather(gathered, field, keys, inNumbers);
            gathered.Seal();
            gathered.Decision = canCompare && context.Tracer is not null ? Gathered(field, mostTerms, survivors) : null;
            return gathered;
        }

        ColumnRangeOperator compared = Scan(field, keys.Low, range.LowInclusive, keys.High, range.HighInclusive, known.Entries);
        compared.Name = (range.Field, label);
        compared.Decision = context.Tracer is null ? null : Compared(field, mostTerms, survivors);
        return compared;
    }

    /// <summary>The operators of several ranges: those that are gathered are gathered into one.</summary>
    public List<Operator> Compile(RangesQuery ranges)
    {
        int field = _view.Field(ranges.Field);
        bool canCompare = !_view.Statistics(field).EverHadSeveralValues;
        long mostTerms = canCompare ? MostTerms(field, long.MaxValue) : long.MaxValue;
        var union = new UnionOperator(context)
        {
            Name = ("ranges", ranges.Field, string.Create(CultureInfo.InvariantCulture, $"{ranges.Ranges.Count:N0} ranges"))
        };
        var operators = new List<Operator> { union };
        foreach (RangeQuery range in ranges.Ranges)
        {
            if (!TryOpen(range, out KeyRange keys))
                continue;
            bool inNumbers = keys.Dictionary == TreeNames.Numbers(field);
            if (canCompare && inNumbers && RangeCount.Of(context, keys, field) is { } count && count.Terms > mostTerms)
                operators.Add(Compile(range, long.MaxValue));
            else if (keys.IsLong)
                GatherWhole(union, field, keys);
            else
                Gather(union, field, keys, inNumbers);
        }

        union.Seal();
        return operators;
    }

    /// <summary>The keys that a range is; false if it is none, as nothing compares with a bound of it.</summary>
    /// <exception cref="IndexQueryException">Its bounds are of two kinds.</exception>
    public bool TryOpen(RangeQuery range, out KeyRange keys)
    {
        keys = default;
        int field = _view.Field(range.Field);
        bool isNumber = IsNumber(range.Low) || IsNumber(range.High);
        bool isText = IsText(range.Low) || IsText(range.High);
        if (isNumber && isText)
            throw new IndexQueryException($"The range over '{range.Field}' has a number for one bound and a text for the other.");
        if (range.Low is { Kind: FieldValueKind.Null } || range.High is { Kind: FieldValueKind.Null })
            return false;

        // Words of a full-text field are terms only, so a number means its text there.
        bool inNumbers = isNumber && _view.Schema.Fields[field].Analysis != FieldAnalysis.FullText;
        byte[]? low = null;
        byte[]? high = null;
        if ((range.Low is { } first && (low = Bound(field, first, inNumbers)) is null)
            || (range.High is { } last && (high = Bound(field, last, inNumbers)) is null))
        {
            return false;
        }

        if (!inNumbers && (low is { Length: >= TermForm.HeadBytes } || high is { Length: >= TermForm.HeadBytes }))
        {
            keys = new KeyRange(TreeNames.Terms(field), low, range.LowInclusive, high, range.HighInclusive) { IsLong = true };
            return true;
        }

        // An open end of texts is where they end.
        keys = inNumbers || high is not null
            ? new KeyRange(
                inNumbers ? TreeNames.Numbers(field) : TreeNames.Terms(field), low, range.LowInclusive, high, range.HighInclusive)
            : new KeyRange(TreeNames.Terms(field), low, range.LowInclusive, TermForm.NoText.ToArray(), HighInclusive: false);
        return true;
    }

    /// <summary>
    /// Beyond how many numbers it is cheaper to compare. Comparing is done for the windows that are asked for: all of them, or
    /// those in which other clauses leave something, and then for their survivors alone.
    /// </summary>
    private long MostTerms(int field, long survivors)
    {
        const int AlwaysGathered = 16; // so few terms that nothing else pays
        return context.Hints.Range switch
        {
            RangeHint.Gather => long.MaxValue,
            RangeHint.Column => -1,
            _ => AlwaysGathered + (long)(CompareCost(field, survivors) / CostModel.GatheredTerm),
        };
    }

    /// <summary>Every chunk is looked at that has one of the survivors, once, and every window of numbers.</summary>
    private double CompareCost(int field, long survivors)
    {
        double asked = Math.Min(survivors, _view.State.EntryCount),
            chunks = _view.Tree(TreeNames.Sort(field))?.Count ?? 0,
            windows = _view.Tree(TreeNames.SortNumbers(field))?.Count ?? 0;
        double compared = asked * Math.Min(1, chunks * SortChunk.Entries / Math.Max(1, _view.State.EntryCount));
        return (Math.Min(asked, windows) * CostModel.NumberWindow) + (Math.Min(asked, chunks) * CostModel.ColumnChunk)
            + (compared * CostModel.ColumnCompare);
    }

    private PlanDecision Gathered(int field, long mostTerms, long survivors) => new(
        "how to find the range",
        "gather its terms",
        null,
        string.Create(CultureInfo.InvariantCulture, $"it has no more than {mostTerms:N0} different numbers"),
        [new PlanAlternative(
            "compare sort values", CompareCost(field, survivors), "each entry that other clauses leave is compared")]);

    private PlanDecision Compared(int field, long mostTerms, long survivors) => new(
        "how to find the range",
        "compare sort values",
        CompareCost(field, survivors),
        string.Create(
            CultureInfo.InvariantCulture,
            $"it has more than {mostTerms:N0} different numbers, and other clauses leave "
                + $"{(survivors == long.MaxValue ? "all" : survivors.ToString("N0", CultureInfo.InvariantCulture))} entries"),
        [new PlanAlternative("gather its terms", mostTerms * CostModel.GatheredTerm, "the cost is of those that were counted")]);

    private static string Label(RangeQuery range) =>
        $"{(range.LowInclusive ? "[" : "(")}{Text(range.Low)}, {Text(range.High)}{(range.HighInclusive ? "]" : ")")}";

    private static string Text(FieldValue? bound) => bound is { } value ? Encoding.UTF8.GetString(QueryValue.ToText(value)) : "…";

    /// <summary>Compares sort values with the bounds, which are moved to the nearest key that belongs to the range.</summary>
    private ColumnRangeOperator Scan(int field, byte[]? low, bool lowInclusive, byte[]? high, bool highInclusive, long entries)
    {
        if (low is not null && !lowInclusive)
            Step(low, +1);
        if (high is not null && !highInclusive)
            Step(high, -1);
        Operator all = new QueryCompiler(context, isScored: false).Compile(new MatchAllQuery());
        return new ColumnRangeOperator(context, all, context.OpenSortColumn(field), low, high, entries);
    }

    /// <summary>
    /// The next byte string in order. It may be the key of no number; bounds are only compared with.
    /// </summary>
    private static void Step(byte[] key, int direction)
    {
        for (int i = key.Length - 1; i >= 0; i--)
        {
            key[i] = (byte)(key[i] + direction);
            if (key[i] != (direction > 0 ? byte.MinValue : byte.MaxValue))
                return;
        }
    }

    private static bool IsNumber(FieldValue? value) => value is { Kind: FieldValueKind.Long or FieldValueKind.Double };

    private static bool IsText(FieldValue? value) => value is { Kind: FieldValueKind.Text or FieldValueKind.Boolean };

    /// <summary>The bound as a key of the dictionary; null if nothing compares with it (NaN).</summary>
    private byte[]? Bound(int field, FieldValue value, bool inNumbers)
    {
        if (inNumbers)
        {
            byte[] key = new byte[NumberKey.Bytes];
            return QueryValue.TryWriteNumber(value, key) ? key : null;
        }

        // A bound is one place in the order of terms, so it is never cut into words.
        FieldAnalysis analysis = _view.Schema.Fields[field].Analysis;
        byte[] text = QueryValue.ToText(value);
        ReadOnlySpan<byte> term = analysis == FieldAnalysis.FullText
            ? _view.Analyzers[field].Normalize(text)
            : WholeValue.Normalize(analysis, text, new TokenBuffer());
        return term.ToArray();
    }

    /// <summary>Adds all terms between the bounds.</summary>
    private void Gather(UnionOperator union, int field, KeyRange keys, bool inNumbers)
    {
        if (!inNumbers && _view.HasNumbersAlone(field))
        {
            GatherTexts(union, field, keys);
        }
        else if (_view.Dictionary(keys.Dictionary) is { } dictionary)
        {
            Tree? postings = _view.Postings(keys.Dictionary);
            using TermCursor cursor = dictionary.OpenCursor();
            for (bool found = keys.MoveFirst(cursor); found && keys.IsUpTo(cursor.Key); found = cursor.MoveNext())
            {
                context.Meter.Count.TermsScanned++;
                union.Add(new TermPayload(cursor.Value), postings);
            }
        }
    }

    /// <summary>
    /// As <see cref="Gather"/>, where a bound is as long as the part of a cut term that orders it: the terms that begin as the
    /// bounds do are compared as whole texts.
    /// </summary>
    private void GatherWhole(UnionOperator union, int field, KeyRange keys)
    {
        byte[]? from = Head(keys.Low), to = Head(keys.High);
        if (_view.HasNumbersAlone(field))
        {
            GatherTexts(union, field, keys with { Low = from });
        }
        else if (_view.Dictionary(keys.Dictionary) is { } dictionary)
        {
            Tree? postings = _view.Postings(keys.Dictionary);
            using TermCursor cursor = dictionary.OpenCursor();
            bool found = from is null ? cursor.MoveFirst() : cursor.Seek(from);
            for (; found && !IsBehind(cursor.Key, to); found = cursor.MoveNext())
            {
                if ((++context.Meter.Count.TermsScanned & 1023) == 0)
                    context.Check();
                ReadOnlySpan<byte> text = _view.WholeText(field, cursor.Key);
                if (keys.IsFrom(text) && keys.IsUpTo(text))
                    union.Add(new TermPayload(cursor.Value), postings);
            }
        }
    }

    /// <summary>What a cut term has of a text.</summary>
    private static byte[]? Head(byte[]? text) => text is { Length: > TermForm.HeadBytes } ? text[..TermForm.HeadBytes] : text;

    /// <summary>Whether a term, and so all that follow, is behind every text that begins as the upper bound does.</summary>
    private static bool IsBehind(ReadOnlySpan<byte> term, byte[]? head) =>
        TermForm.IsNoText(term) || (head is not null && term[..Math.Min(term.Length, head.Length)].SequenceCompareTo(head) > 0);

    /// <summary>As <see cref="Gather"/>, of texts that are kept as numbers.</summary>
    private void GatherTexts(UnionOperator union, int field, KeyRange keys)
    {
        using FieldTexts? texts = FieldTexts.Open(_view, field);
        // found, so it is there
        for (bool found = texts is not null && texts.Seek(keys.Low); found && keys.IsUpTo(texts!.Key); found = texts.MoveNext())
        {
            context.Meter.Count.TermsScanned++;
            if (keys.IsFrom(texts.Key))
                union.Add(texts.Payload, texts.Postings);
        }
    }
}
