using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>
/// Builds a disjunction of the most distinctive terms of an entry, read from its record, or of given texts. Costs one
/// dictionary lookup for each distinct term, at most <see cref="MoreLikeThisOptions.MaxTokensParsed"/> per field.
/// </summary>
internal sealed class MoreLikeThisCompiler(QueryCompiler compiler, QueryContext context, bool isScored)
{
    /// <summary>Maximum number of terms in the disjunction.</summary>
    public const int MaxTerms = 1_024;

    private readonly record struct Candidate(int Field, byte[] Form, double Weight);

    public Operator Compile(MoreLikeThisQuery query)
    {
        MoreLikeThisOptions options = query.Options;
        List<Candidate> candidates = Choose(query, out IndexView of, out long self);
        if (query.Texts is null && self < 0)
            return compiler.None();
        Operator any = compiler.Or([.. candidates.Select(candidate => Term(candidate, candidates[0].Weight, options))]);
        return self < 0 || of != context.View ? any : compiler.And([any, compiler.Except(new EntryOperator(context, self))]);
    }

    /// <summary>Returns the terms of a field that the query looks for.</summary>
    public IEnumerable<byte[]> FormsOf(MoreLikeThisQuery query, int field) =>
        Choose(query, out _, out _).Where(candidate => candidate.Field == field).Select(candidate => candidate.Form);

    /// <summary>Returns the most distinctive terms, at most as many as the query wants, best first.</summary>
    /// <param name="query">The query.</param>
    /// <param name="of">The view that has the entry.</param>
    /// <param name="self">The entry; negative if there is none.</param>
    private List<Candidate> Choose(MoreLikeThisQuery query, out IndexView of, out long self)
    {
        MoreLikeThisOptions options = query.Options;
        if (options.MaxQueryTerms is < 1 or > MaxTerms)
            throw new IndexQueryException(
                $"'MaximumQueryTerms' of 'moreLikeThis()' is a number from 1 to {MaxTerms:N0}; {options.MaxQueryTerms} is not.");
        if (!float.IsFinite(options.BoostFactor) || options.BoostFactor < 0)
            throw new IndexQueryException(
                $"'BoostFactor' of 'moreLikeThis()' is a number of at least 0; {options.BoostFactor} is not.");
        _ = compiler.Boosted(options.BoostFactor);

        int[] fields = options.Fields.Count > 0
            ? [.. options.Fields.Select(context.View.Field)]
            : [.. Enumerable.Range(0, context.View.Schema.Fields.Count).Where(compiler.IsFullText)];
        if (fields.Length == 0)
            throw new IndexQueryException(
                "'moreLikeThis()' compares words, but the index has no full-text field. Name one in the option 'Fields', as "
                    + "search(F).");

        (of, self) = query.Key is not null
            ? Find(query.Key)
            : query.First is not null ? Find(query.First) : (context.View, -1);
        var candidates = new List<Candidate>();
        foreach (int field in fields)
        {
            IEnumerable<(byte[] Form, int Frequency)> terms = self >= 0
                ? TermsOf(of, self, field)
                : TermsOf(query.Texts?.Invoke(context.View.Schema.Fields[field].Name) ?? [], field);
            candidates.AddRange(Weigh(field, terms.Take(options.MaxTokensParsed), options));
        }

        candidates.Sort(
            static (x, y) => x.Weight != y.Weight
                ? y.Weight.CompareTo(x.Weight)
                : x.Field != y.Field ? x.Field.CompareTo(y.Field) : x.Form.AsSpan().SequenceCompareTo(y.Form));
        return candidates.Count <= options.MaxQueryTerms ? candidates : candidates[..options.MaxQueryTerms];
    }

    private IEnumerable<Candidate> Weigh(int field, IEnumerable<(byte[] Form, int Frequency)> terms, MoreLikeThisOptions options)
    {
        var stopWords = options.StopWords.SelectMany(word => compiler.Words(field, Encoding.UTF8.GetBytes(word)))
            .Select(word => Convert.ToHexString(word.Form))
            .ToHashSet();
        long entries = context.EntryCount;
        foreach ((byte[] form, int frequency) in terms)
        {
            if (frequency < options.MinTermFrequency
                || form.Length < options.MinWordLength
                || (options.MaxWordLength > 0 && form.Length > options.MaxWordLength)
                || stopWords.Contains(Convert.ToHexString(form)))
            {
                continue;
            }

            long own = context.View.TryGetText(field, form, out TermPayload payload) ? payload.EntryCount : 0;
            long having = context.EntriesWith(field, form, own);
            if (having > 0
                && having >= options.MinDocumentFrequency
                && having <= options.MaxDocumentFrequency
                && having * 100 <= entries * (double)options.MaxDocumentFrequencyPercentage)
                yield return new Candidate(field, form, frequency * Bm25.Idf(entries, having));
        }
    }

    private Operator Term(Candidate candidate, double best, MoreLikeThisOptions options)
    {
        Operator term = (Operator?)compiler.Word(candidate.Field, candidate.Form, withPositions: false) ?? compiler.None();
        return isScored && options.Boost && best > 0
            ? new BoostOperator(context, term, (float)(options.BoostFactor * candidate.Weight / best))
            : term;
    }

    /// <summary>
    /// Finds the entry with a key and the view that has it, which may be the other side of a combined index.
    /// </summary>
    private (IndexView View, long Id) Find(string key)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(key);
        if (context.Combined is not { } combined)
            return (context.View, context.View.Find(utf8));
        return combined.TryFind(utf8, out QueryContext where, out long id) ? (where.View, id) : (context.View, -1);
    }

    /// <summary>Finds the first entry that matches a condition; in a combined index, the index before its changes.</summary>
    private (IndexView View, long Id) Find(IndexQuery condition)
    {
        if (context.Combined is not { } combined)
            return (context.View, First(context, condition));
        long id = First(combined.Main, combined.Present(condition));
        return id >= 0 ? (combined.Main.View, id) : (combined.Tail.View, First(combined.Tail, condition));
    }

    private static long First(QueryContext context, IndexQuery condition)
    {
        Operator root = new QueryCompiler(context, isScored: false).Compile(condition);
        WindowSet set = context.Rent();
        long first = -1;
        for (long window = root.Next(0); window != Operator.End && first < 0; window = root.Next(window + 1))
        {
            context.Check();
            root.Fill(window, set);
            if (set.IsEmpty)
                continue;
            ushort[] members = context.RentOffsets();
            set.CopyTo(members);
            first = (window << PostingWindow.SizeBits) + members[0];
        }

        context.Return(set);
        return first;
    }

    /// <summary>Returns the terms an entry has in a field, with their frequencies.</summary>
    private List<(byte[] Form, int Frequency)> TermsOf(IndexView view, long id, int field)
    {
        var terms = new List<(byte[], int)>();
        if (!view.Entries.TryGet(id, out EntryRecord record))
            return terms;

        while (record.MoveNextGroup())
        {
            while (record.MoveNextItem(out ReadOnlySpan<byte> item))
            {
                if (record.Field == field && record.Group == EntryGroup.Terms && !TermForm.IsNoText(item))
                    terms.Add(
                        (item.ToArray(), compiler.IsFullText(field)
                            ? TermFrequency.Of(view, TreeNames.Terms(field), item, id)
                            : 1));
            }
        }

        return terms;
    }

    /// <summary>Returns the terms of texts, with their frequencies.</summary>
    private IEnumerable<(byte[] Form, int Frequency)> TermsOf(IReadOnlyList<string> texts, int field) => texts
        .SelectMany(text => compiler.Words(field, Encoding.UTF8.GetBytes(text)))
        .GroupBy(word => Convert.ToHexString(word.Form))
        .Select(group => (group.First().Form, group.Count()));
}
