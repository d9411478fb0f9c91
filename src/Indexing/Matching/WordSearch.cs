using System.Buffers;
using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Matching;

/// <summary>
/// Finds the best entries of a query that is one word, as most are, by what stands beside the word in its dictionary: all its entries, or the best of them. What takes longer than that is to
/// make operators and to choose a way, so neither is done; the answer and the counters are those they give. Anything more than a word, and a word whose best are not all beside it, is left
/// to them. It belongs to a view and is used by one query after the other.
/// </summary>
/// <remarks>Memory: some 8 KiB.</remarks>
internal sealed class WordSearch(IndexView view) : TokenSink
{
    /// <summary>Longest text that is looked at, in UTF-16: three times as many bytes are on the stack.</summary>
    private const int MostChars = 64;

    /// <summary>Most hits asked for, those passed over counted.</summary>
    private const int MostWanted = ListHead.MaxEntries;

    /// <summary>What parts a text or means more than itself: with one of these it is not a word alone.</summary>
    private static readonly SearchValues<char> Special = SearchValues.Create(" \t\r\n\"*");

    private WordField?[]? fields;
    private readonly QueryMeter meter = new();
    private readonly Posting[] postings = new Posting[FlatPostings.MaxEntries];
    private readonly float[] parts = new float[FlatPostings.MaxEntries];
    private readonly byte[] form = new byte[TermForm.CutBytes];
    private int formLength;
    private int words;

    /// <summary>Runs a request; false where it is not for this, and nothing was done.</summary>
    /// <exception cref="Storage.CorruptionException">What stands beside the word is not as it was written.</exception>
    public bool TryRun(SearchRequest request, out WordHits hits)
    {
        hits = default;
        if (!IsOfBest(request) || request.Query is not FullTextQuery query || FieldOf(query.Field) is not { } field || !TryReadWord(query.Text, field.Analyzer))
            return false;

        long before = view.PageVisits;
        meter.Count = default;
        if (!field.Terms.TryGet(form.AsSpan(0, formLength), out ReadOnlySpan<byte> value))
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

    /// <summary>Takes the word, if it is the first.</summary>
    private protected override void Accept(ReadOnlySpan<byte> form, int position, int start, int end)
    {
        if (++words > 1)
            return;
        form.CopyTo(this.form);
        formLength = form.Length;
    }

    /// <summary>Whether a page of the best by score is asked for, the first hit or the one behind some being known by its number.</summary>
    private static bool IsOfBest(SearchRequest request)
    {
        if (request.Take is <= 0 or > MostWanted || request.Skip > MostWanted - request.Take || request.WithPosition || !request.After.IsEmpty || request.OrderHint != OrderHint.Cheaper || request.Sort.Count != 1)
            return false;
        SortKey only = request.Sort[0];
        return only is { Kind: SortKind.Score, Descending: true };
    }

    private static WordField?[] Open(IndexView view)
    {
        IReadOnlyList<IndexField> all = view.Schema.Fields;
        var fields = new WordField?[all.Count];
        if (view.Schema.IndexOf(IndexSchema.BoostField) >= 0)
            return fields;
        for (int i = 0; i < fields.Length; i++)
        {
            if (all[i] is not { Analysis: FieldAnalysis.FullText, Boost: 1 } || view.Dictionary(TreeNames.Terms(i)) is not { } terms)
                continue;
            fields[i] = new WordField(all[i].Name, view.Analyzers[i].ForQueries, terms);
        }

        return fields;
    }

    private WordField? FieldOf(string name)
    {
        fields ??= Open(view);
        for (int i = 0; i < fields.Length; i++)
        {
            if (fields[i] is { } field && field.Name == name)
            {
                field.Open(view, i, meter);
                return field;
            }
        }

        return null;
    }

    /// <summary>Reads the word that a text is; false where it is more, or less.</summary>
    private bool TryReadWord(string text, Analyzer analyzer)
    {
        if (text.Length > MostChars || text.AsSpan().ContainsAny(Special))
            return false;
        Span<byte> utf8 = stackalloc byte[MostChars * 3];
        int length = Encoding.UTF8.GetBytes(text, utf8);
        words = 0;
        Begin(0);
        analyzer.Analyze(utf8[..length], this);
        return words == 1;
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
        int found = 0;
        for (int i = 0; i < count; i++)
        {
            // They come in the order of ids, so of equal scores the one before stays before.
            float score = parts[i];
            if (found == wanted)
            {
                if (score <= scores[found - 1])
                    continue;
                found--;
            }

            int place = found++;
            for (; place > 0 && scores[place - 1] < score; place--)
                (scores[place], ids[place]) = (scores[place - 1], ids[place - 1]);
            (scores[place], ids[place]) = (score, postings[i].EntryId);
        }

        return found;
    }

    private QueryCounters Measure(long before) => meter.Count with { PagesRead = view.PageVisits - before };

    /// <summary>A field whose words can be looked for.</summary>
    private sealed class WordField(string name, Analyzer analyzer, TermTree terms)
    {
        private LengthFactors? factors;
        private ChunkReader? norms;

        public string Name => name;

        public Analyzer Analyzer => analyzer;

        public TermTree Terms => terms;

        /// <summary>Lengths of the field.</summary>
        public LengthFactors Factors => factors!; // see Open

        /// <summary>Where these are read.</summary>
        public ChunkReader Norms => norms!; // see Open

        /// <summary>Looks up what is needed, once.</summary>
        public void Open(IndexView view, int number, QueryMeter meter)
        {
            if (factors is not null)
                return;
            norms = new ChunkReader(view.Norms(number), meter);
            factors = new LengthFactors(norms, view.Statistics(number));
        }
    }
}

/// <summary>What a <see cref="WordSearch"/> found.</summary>
/// <param name="Ids">The entries of the page, best first.</param>
/// <param name="Scores">Their scores.</param>
/// <param name="Total">All entries that have the word.</param>
/// <param name="Counters">What was done.</param>
internal readonly record struct WordHits(long[] Ids, float[] Scores, long Total, QueryCounters Counters);
