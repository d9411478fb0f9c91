using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Matching.Views;

/// <summary>
/// Statistics for scoring an index combined with a tail of changes not yet indexed: the sums of both, less the entries that
/// the tail replaces or removes. They equal those of a single index of the newer state, so scores are identical to the last
/// bit.
/// </summary>
/// <param name="main">The index.</param>
/// <param name="tail">The changes.</param>
/// <param name="gone">Replaced or removed entries of the index, ascending.</param>
internal sealed class CombinedStatistics(IndexView main, IndexView tail, long[] gone)
{
    private readonly Dictionary<int, FieldStatistics> _goneOf = [];
    private Dictionary<int, GoneTerms>? _goneTerms;

    /// <summary>Number of entries of both sides.</summary>
    public long EntryCount => main.State.EntryCount + tail.State.EntryCount - gone.Length;

    /// <summary>Whether an entry of the index was replaced or removed.</summary>
    public bool IsGone(long id) => Array.BinarySearch(gone, id) >= 0;

    /// <summary>
    /// Statistics of a field over both sides, with the reference length of the side whose entries are scored.
    /// </summary>
    public FieldStatistics Of(int field, FieldStatistics own)
    {
        FieldStatistics index = main.Statistics(field), changes = tail.Statistics(field), lost = Gone(field);
        return new FieldStatistics
        {
            EntriesWithTerms = index.EntriesWithTerms + changes.EntriesWithTerms - lost.EntriesWithTerms,
            TotalTerms = index.TotalTerms + changes.TotalTerms - lost.TotalTerms,
            ReferenceLength = own.ReferenceLength,
            EverHadSeveralValues = own.EverHadSeveralValues,
            EverHadTextValue = own.EverHadTextValue,
        };
    }

    /// <summary>Number of entries of both sides that have a term.</summary>
    public long EntriesWith(int field, ReadOnlySpan<byte> form)
    {
        long count = main.TryGetText(field, form, out TermPayload payload) ? payload.EntryCount : 0;
        if (tail.TryGetText(field, form, out payload))
            count += payload.EntryCount;
        return count - GoneWith(field, form);
    }

    /// <summary>Whether a field has numbers on either side, other than those of replaced or removed entries.</summary>
    public bool HasNumbers(int field)
    {
        if (tail.HasNumbers(field))
            return true;
        string dictionary = TreeNames.Numbers(field);
        if (main.Dictionary(dictionary) is not { } numbers)
            return false;
        using TermCursor cursor = numbers.OpenCursor();
        for (bool isThere = cursor.MoveFirst(); isThere; isThere = cursor.MoveNext())
        {
            if (!AreGone(new TermPayload(cursor.Value), main.Postings(dictionary)))
                return true;
        }

        return false;
    }

    /// <summary>Whether all entries of a term were replaced or removed; reads no further than the first that was not.</summary>
    private bool AreGone(TermPayload payload, Tree? postings)
    {
        if (payload.EntryCount > gone.Length)
            return false;
        if (payload.Kind == PostingKind.Flat)
        {
            FlatPostings flat = payload.Flat;
            while (flat.MoveNext(out Posting posting))
            {
                if (!IsGone(posting.EntryId))
                    return false;
            }

            return true;
        }

        using var list = new PostingCursor(postings!, payload.ListId); // a long list has a postings tree
        ushort[] offsets = new ushort[PostingWindow.Size];
        for (long window = list.Next(0); window != PostingCursor.End; window = list.Next(window + 1))
        {
            list.TryGet(window, out PostingWindow found);
            foreach (ushort offset in offsets.AsSpan(0, found.CopyOffsets(offsets)))
            {
                if (!IsGone((window << PostingWindow.SizeBits) + offset))
                    return false;
            }
        }

        return true;
    }

    /// <summary>Number of replaced or removed entries that had a term.</summary>
    private int GoneWith(int field, ReadOnlySpan<byte> form)
    {
        _goneTerms ??= CountGone();
        return _goneTerms.TryGetValue(field, out GoneTerms? counted) ? counted.Count(form) : 0;
    }

    private FieldStatistics Gone(int field)
    {
        if (_goneOf.TryGetValue(field, out FieldStatistics? known))
            return known;

        var lost = new FieldStatistics();
        using var norms = new ChunkCursor(main.Tree(TreeNames.Norms(field)));
        foreach (long id in gone)
        {
            long window = NormChunk.WindowOf(id);
            int length = new NormChunk(norms.Read(NormChunk.NumberOf(window)), window)[NormChunk.SlotOf(id)];
            lost.TotalTerms += length;
            lost.EntriesWithTerms += length > 0 ? 1 : 0;
        }

        _goneOf.Add(field, lost);
        return lost;
    }

    private Dictionary<int, GoneTerms> CountGone()
    {
        var counts = new Dictionary<int, GoneTerms>();
        foreach (long id in gone)
            Count(main.Entries.Get(id), id, counts);
        return counts;
    }

    /// <summary>Counts the terms of an entry: its texts, and its numbers as text.</summary>
    private static void Count(EntryRecord record, long id, Dictionary<int, GoneTerms> counts)
    {
        Span<byte> text = stackalloc byte[32];
        while (record.MoveNextGroup())
        {
            if (!counts.TryGetValue(record.Field, out GoneTerms? terms))
                counts.Add(record.Field, terms = new GoneTerms());
            while (record.MoveNextItem(out ReadOnlySpan<byte> item))
                terms.Add(record.Group == EntryGroup.Numbers ? text[..NumberKey.Format(item, text)] : item, id);
        }
    }

    /// <summary>
    /// Number of entries that had each term of a field. An entry with a term both as a text and as a number counts once.
    /// </summary>
    private sealed class GoneTerms
    {
        private readonly TermTable _terms = new();
        private readonly List<(int Count, long Last)> _counts = [];

        public void Add(ReadOnlySpan<byte> term, long id)
        {
            int ordinal = _terms.Intern(term);
            if (ordinal == _counts.Count)
                _counts.Add((1, id));
            else if (_counts[ordinal].Last != id)
                _counts[ordinal] = (_counts[ordinal].Count + 1, id);
        }

        public int Count(ReadOnlySpan<byte> term)
        {
            int ordinal = _terms.Intern(term);
            if (ordinal == _counts.Count)
                _counts.Add((0, -1));
            return _counts[ordinal].Count;
        }
    }
}
