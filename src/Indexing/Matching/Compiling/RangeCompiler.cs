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

/// <summary>Compiles ranges of terms or numbers: gathers them from the dictionary or compares sort values.</summary>
internal sealed class RangeCompiler(QueryContext context)
{
    private readonly IndexView _view = context.View;

    /// <summary>Compiles a range.</summary>
    /// <param name="range">The range.</param>
    /// <param name="survivors">Upper bound on the entries it will be evaluated for, given the other clauses.</param>
    /// <param name="needsAll">Whether all matches will be read.</param>
    public Operator Compile(RangeQuery range, long survivors, bool needsAll = false)
    {
        if (!TryOpen(range, out KeyRange keys))
            return new NoneOperator(context);

        int field = _view.Field(range.Field);
        bool inNumbers = keys.Dictionary == TreeNames.Numbers(field);
        bool canCompare = inNumbers && !_view.Statistics(field).EverHadSeveralValues;
        long mostTerms = canCompare ? MostTerms(field, survivors) : long.MaxValue;
        string? label = context.Tracer is null ? null : Label(range);
        RangeCount? count = canCompare ? context.CountOf(range, keys, field) : null;
        if (!inNumbers && !keys.IsLong && TryCompareTexts(field, keys, needsAll, Gathered) is { } texts)
        {
            texts.Name = ("range", range.Field, label);
            return texts;
        }

        if (count is not { } known || known.Terms <= mostTerms)
        {
            UnionOperator gathered = Gathered();
            gathered.Decision = canCompare && context.Tracer is not null ? WhyGathered(field, mostTerms, survivors) : null;
            return gathered;
        }

        ColumnRangeOperator compared = Scan(field, keys.Low, range.LowInclusive, keys.High, range.HighInclusive, known.Entries);
        compared.Name = (range.Field, label);
        compared.Decision = context.Tracer is null ? null : WhyCompared(field, mostTerms, survivors);
        return compared;

        UnionOperator Gathered()
        {
            var gathered = new UnionOperator(context) { Name = ("range", range.Field, label) };
            if (keys.IsLong)
                GatherWhole(gathered, field, keys);
            else
                Gather(gathered, field, keys, inNumbers);
            gathered.Seal();
            return gathered;
        }
    }

    /// <summary>
    /// Compiles a range of texts that are so many that comparing sort values may be cheaper; null to gather them from the
    /// dictionary.
    /// </summary>
    /// <param name="field">The field.</param>
    /// <param name="keys">The range, as keys of the dictionary of texts.</param>
    /// <param name="needsAll">Whether all matches will be read.</param>
    /// <param name="gather">Gathers the entries of the texts.</param>
    public TextRangeOperator? TryCompareTexts(int field, KeyRange keys, bool needsAll, Func<UnionOperator> gather)
    {
        const int AlwaysGathered = 1_024; // gathering these costs a few windows of comparing
        if (context.Hints.Range == RangeHint.Gather
            || _view.HasNumbersAlone(field)
            || RangeCount.Of(context, keys, field) is not { } count)
            return null;
        bool isCheaper = count.Terms > AlwaysGathered
            && (!needsAll || TextRangeOperator.MostCompared(count.Terms) > _view.State.EntryCount);
        if (!isCheaper && context.Hints.Range != RangeHint.Column)
            return null;
        Operator all = new QueryCompiler(context, isScored: false).Compile(new MatchAllQuery());
        return new TextRangeOperator(context, all, context.OpenSortColumn(field), keys, count, gather);
    }

    /// <summary>Compiles several ranges. Those that are gathered share one union.</summary>
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

    /// <summary>Converts a range to keys; false if it matches nothing because a bound is null or not comparable.</summary>
    /// <exception cref="IndexQueryException">One bound is a number and the other a text.</exception>
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

        // A full-text field has only terms, so a number means its text there.
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

        // An open upper end of texts is bounded by the key that follows all texts.
        keys = inNumbers || high is not null
            ? new KeyRange(
                inNumbers ? TreeNames.Numbers(field) : TreeNames.Terms(field), low, range.LowInclusive, high, range.HighInclusive)
            : new KeyRange(TreeNames.Terms(field), low, range.LowInclusive, TermForm.NoText.ToArray(), HighInclusive: false);
        return true;
    }

    /// <summary>
    /// The number of distinct numbers above which comparing sort values is cheaper than gathering. Comparing reads only the
    /// windows requested: all of them, or those in which other clauses leave survivors, and then only these survivors.
    /// </summary>
    private long MostTerms(int field, long survivors)
    {
        const int AlwaysGathered = 16; // so few that no other plan pays
        return context.Hints.Range switch
        {
            RangeHint.Gather => long.MaxValue,
            RangeHint.Column => -1,
            _ => AlwaysGathered + (long)(CompareCost(field, survivors) / CostModel.GatheredTerm),
        };
    }

    /// <summary>Cost of comparing: each chunk with a survivor and each window of numbers is read once.</summary>
    private double CompareCost(int field, long survivors)
    {
        double asked = Math.Min(survivors, _view.State.EntryCount),
            chunks = _view.Tree(TreeNames.Sort(field))?.Count ?? 0,
            windows = _view.Tree(TreeNames.SortNumbers(field))?.Count ?? 0;
        double compared = asked * Math.Min(1, chunks * SortChunk.Entries / Math.Max(1, _view.State.EntryCount));
        return (Math.Min(asked, windows) * CostModel.NumberWindow) + (Math.Min(asked, chunks) * CostModel.ColumnChunk)
            + (compared * CostModel.ColumnCompare);
    }

    private PlanDecision WhyGathered(int field, long mostTerms, long survivors) => new(
        "how to find the range",
        "gather its terms",
        null,
        string.Create(CultureInfo.InvariantCulture, $"it has no more than {mostTerms:N0} different numbers"),
        [new PlanAlternative(
            "compare sort values", CompareCost(field, survivors), "each entry that other clauses leave is compared")]);

    private PlanDecision WhyCompared(int field, long mostTerms, long survivors) => new(
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

    /// <summary>
    /// Compares sort values with the bounds, after moving exclusive bounds to the nearest key inside the range.
    /// </summary>
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
    /// Changes a key to the next or previous byte string of its length. It need not encode a number, as bounds are only
    /// compared with.
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

    /// <summary>Returns the bound as a key of the dictionary, or null if nothing compares with it (NaN).</summary>
    private byte[]? Bound(int field, FieldValue value, bool inNumbers)
    {
        if (inNumbers)
        {
            byte[] key = new byte[NumberKey.Bytes];
            return QueryValue.TryWriteNumber(value, key) ? key : null;
        }

        // A bound is one position in the order of terms, so it is never split into words.
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
    /// As <see cref="Gather"/>, for a bound at least as long as the kept head of a truncated term: terms that begin like a
    /// bound are compared as whole texts.
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

    /// <summary>The head that a truncated term keeps of a text.</summary>
    private static byte[]? Head(byte[]? text) => text is { Length: > TermForm.HeadBytes } ? text[..TermForm.HeadBytes] : text;

    /// <summary>
    /// Whether a term, and therefore every later one, follows all texts that begin with the head of the upper bound.
    /// </summary>
    private static bool IsBehind(ReadOnlySpan<byte> term, byte[]? head) =>
        TermForm.IsNoText(term) || (head is not null && term[..Math.Min(term.Length, head.Length)].SequenceCompareTo(head) > 0);

    /// <summary>As <see cref="Gather"/>, for texts that are stored as numbers.</summary>
    private void GatherTexts(UnionOperator union, int field, KeyRange keys)
    {
        using FieldTexts? texts = FieldTexts.Open(_view, field);
        // texts is not null once a text was found
        for (bool found = texts is not null && texts.Seek(keys.Low); found && keys.IsUpTo(texts!.Key); found = texts.MoveNext())
        {
            context.Meter.Count.TermsScanned++;
            if (keys.IsFrom(texts.Key))
                union.Add(texts.Payload, texts.Postings);
        }
    }
}
