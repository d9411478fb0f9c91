using System.Buffers;
using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Matching.Words;

/// <summary>
/// Finds the best entries of a query that is one word, as most are, by what stands beside the word in its dictionary: all its entries, or the best of them. What takes longer than that is to
/// make operators and to choose a way, so neither is done; the answer and the counters are those they give. Of several words all of which are wanted <see cref="WordsSearch"/> finds them. Anything more than words, and a word whose
/// best are not all beside it, is left to operators. It belongs to a view and is used by one query after the other.
/// </summary>
/// <remarks>Memory: some 8 KiB, and what <see cref="WordsSearch"/> takes.</remarks>
internal sealed class WordSearch(IndexView view) : TokenSink
{
    /// <summary>Longest text that is looked at, in UTF-16: three times as many bytes are on the stack.</summary>
    private const int MostChars = 64;

    /// <summary>Most hits asked for, those passed over counted.</summary>
    private const int MostWanted = ListHead.MaxEntries;

    /// <summary>What parts a text, but for spaces, or means more than itself: with one of these it is not words alone.</summary>
    private static readonly SearchValues<char> Special = SearchValues.Create("\t\r\n\"*");

    private WordField?[]? fields;
    private WordsSearch? many;
    private readonly QueryMeter meter = new();
    private readonly Posting[] postings = new Posting[FlatPostings.MaxEntries];
    private readonly float[] parts = new float[FlatPostings.MaxEntries];
    private readonly byte[] forms = new byte[TermForm.CutBytes];
    private readonly int[] ends = new int[WordsSearch.MostWords];
    private int words;

    private WordsSearch Many => many ??= new WordsSearch(view, meter);

    /// <summary>Runs a request; false where it is not for this, and nothing was done.</summary>
    /// <exception cref="Storage.CorruptionException">What stands beside the word is not as it was written.</exception>
    public bool TryRun(SearchRequest request, CancellationToken cancellationToken, out WordHits hits)
    {
        hits = default;
        if (!IsOfBest(request) || request.Query is not FullTextQuery query || FieldOf(query.Field) is not { } field || !TryRead(query.Text, field.Analyzer))
            return false;
        if (words > 1)
            return query.All && Many.TryRun(field, forms, ends.AsSpan(0, words), request, postings, cancellationToken, out hits);

        long before = view.PageVisits;
        meter.Count = default;
        if (!field.Terms.TryGet(forms.AsSpan(0, ends[0]), out ReadOnlySpan<byte> value))
        {
            hits = new WordHits([], [], 0, Measure(before));
            return true;
        }

        var payload = new TermPayload(value);
        Span<long> ids = stackalloc long[MostWanted];
        Span<float> scores = stackalloc float[MostWanted];
        var scorer = new TermScorer(field.Factors, payload.EntryCount);
        int wanted = (int)(request.Skip + request.Take), found;
        long total = payload.EntryCount;
        if (payload.Kind == PostingKind.Flat)
        {
            if (total > FlatPostings.MaxEntries)
                return false; // it is damaged, which operators say
            field.Norms.Reset();
            total = ScoreAll(payload, scorer);
            found = Best((int)total, wanted, ids, scores);
        }
        else if (payload.Best.IsEmpty)
        {
            return false;
        }
        else
        {
            meter.Count.BlocksDecoded++;
            meter.Count.BytesDecoded += payload.Best.Length;
            meter.Count.CandidatesScored += HeadRanking.Score(payload.Best, view.State.NextEntryId, wanted, ids, scores, scorer, 1, out bool isFinal);
            if (!isFinal)
                return false;
            found = wanted;
        }

        int skipped = (int)Math.Min(request.Skip, found);
        hits = new WordHits(ids[skipped..found].ToArray(), scores[skipped..found].ToArray(), total, Measure(before));
        return true;
    }

    /// <summary>Takes a word, if there is room for it; where there is not, there are too many.</summary>
    private protected override void Accept(ReadOnlySpan<byte> form, int position, int start, int end)
    {
        int before = words == 0 ? 0 : ends[Math.Min(words, ends.Length) - 1];
        if (words >= ends.Length || !form.TryCopyTo(forms.AsSpan(before)))
        {
            words = ends.Length + 1;
            return;
        }

        ends[words++] = before + form.Length;
    }

    /// <summary>Whether a page of the best by score is asked for, the first hit or the one behind some being known by its number.</summary>
    private static bool IsOfBest(SearchRequest request)
    {
        if (request.Take is <= 0 or > MostWanted || request.Skip > MostWanted - request.Take || request.WithPosition || !request.After.IsEmpty || request.OrderHint != OrderHint.Cheaper || request.Sort.Count != 1)
            return false;
        SortKey only = request.Sort[0];
        return only is { Kind: SortKind.Score, Descending: true };
    }

    private WordField?[] Open()
    {
        IReadOnlyList<IndexField> all = view.Schema.Fields;
        var fields = new WordField?[all.Count];
        if (view.Schema.IndexOf(IndexSchema.BoostField) >= 0)
            return fields;
        for (int i = 0; i < fields.Length; i++)
        {
            if (all[i] is not { Analysis: FieldAnalysis.FullText, Boost: 1 } || view.Dictionary(TreeNames.Terms(i)) is not { } terms)
                continue;
            fields[i] = new WordField(view, i, view.Analyzers[i].ForQueries, terms, meter);
        }

        return fields;
    }

    private WordField? FieldOf(string name)
    {
        fields ??= Open();
        foreach (WordField? field in fields)
        {
            if (field?.Name == name)
                return field;
        }

        return null;
    }

    /// <summary>Reads the words that a text is; false where it is more, or none, or a word stands there twice.</summary>
    private bool TryRead(string text, Analyzer analyzer)
    {
        words = 0;
        if (text.Length > MostChars || text.AsSpan().ContainsAny(Special))
            return false;
        Span<byte> utf8 = stackalloc byte[MostChars * 3];
        int parts = 0;
        for (ReadOnlySpan<char> rest = text; !rest.IsEmpty;)
        {
            int end = rest.IndexOf(' ');
            ReadOnlySpan<char> part = end < 0 ? rest : rest[..end];
            rest = end < 0 ? default : rest[(end + 1)..];
            if (part.IsEmpty)
                continue;
            int length = Encoding.UTF8.GetBytes(part, utf8);
            Begin(0);
            analyzer.Analyze(utf8[..length], this);
            if (words != ++parts || words > ends.Length || IsKnown(words - 1))
                return false;
        }

        return words > 0;
    }

    /// <summary>Whether a word is one of those before it.</summary>
    private bool IsKnown(int word)
    {
        ReadOnlySpan<byte> form = forms.AsSpan(ends[Math.Max(1, word) - 1]..ends[word]);
        for (int i = 0, start = 0; i < word; start = ends[i++])
        {
            if (form.SequenceEqual(forms.AsSpan(start..ends[i])))
                return true;
        }

        return false;
    }

    /// <summary>Scores all entries of a short list; returns how many there are.</summary>
    private int ScoreAll(TermPayload payload, TermScorer scorer)
    {
        int count = payload.Flat.CopyTo(postings.AsSpan(0, (int)payload.EntryCount));
        meter.Count.BlocksDecoded++;
        meter.Count.BytesDecoded += payload.Bytes;
        meter.Count.EntriesScanned += count;
        meter.Count.CandidatesScored += count;
        scorer.Score(postings.AsSpan(0, count), parts, 1);
        return count;
    }

    /// <summary>Of the entries just scored, writes the best, best first; returns how many these are.</summary>
    private int Best(int count, int wanted, Span<long> ids, Span<float> scores)
    {
        var best = new BestHits(ids[..wanted], scores[..wanted]);
        for (int i = 0; i < count; i++)
            best.Offer(postings[i].EntryId, parts[i]);
        return best.Count;
    }

    private QueryCounters Measure(long before) => meter.Count with { PagesRead = view.PageVisits - before };
}

/// <summary>What a <see cref="WordSearch"/> found.</summary>
/// <param name="Ids">The entries of the page, best first.</param>
/// <param name="Scores">Their scores.</param>
/// <param name="Total">All entries that have the word.</param>
/// <param name="Counters">What was done.</param>
internal readonly record struct WordHits(long[] Ids, float[] Scores, long Total, QueryCounters Counters);
