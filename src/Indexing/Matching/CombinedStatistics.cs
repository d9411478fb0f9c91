using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Matching;

/// <summary>
/// What scores are reckoned from when an index and a tail of changes answer as one: counts of both, without the entries of the index that the tail has put anew or removed.
/// They are those that one index of the newer state would have, so scores are the same to the last bit.
/// </summary>
/// <param name="main">The index.</param>
/// <param name="tail">The changes.</param>
/// <param name="gone">Entries of the index that are no more, ascending.</param>
internal sealed class CombinedStatistics(IndexView main, IndexView tail, long[] gone)
{
    private readonly Dictionary<int, FieldStatistics> goneOf = [];
    private Dictionary<int, (TermTable Terms, List<int> Counts)>? goneTerms;

    /// <summary>Sums over a field of both, with the reference of the one whose entries are scored.</summary>
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

    /// <summary>Entries of both that have a term of a full-text field.</summary>
    public long EntriesWith(int field, ReadOnlySpan<byte> form)
    {
        string dictionary = TreeNames.Terms(field);
        long count = main.TryGetTerm(dictionary, form, out TermPayload payload) ? payload.EntryCount : 0;
        if (tail.TryGetTerm(dictionary, form, out payload))
            count += payload.EntryCount;
        return count - GoneWith(field, form);
    }

    private FieldStatistics Gone(int field)
    {
        if (goneOf.TryGetValue(field, out FieldStatistics? known))
            return known;

        var lost = new FieldStatistics();
        using var norms = new ChunkCursor(main.Tree(TreeNames.Norms(field)));
        foreach (long id in gone)
        {
            int length = new NormChunk(norms.Read(id >> NormChunk.EntryBits))[(int)(id & (NormChunk.Entries - 1))];
            lost.TotalTerms += length;
            lost.EntriesWithTerms += length > 0 ? 1 : 0;
        }

        goneOf.Add(field, lost);
        return lost;
    }

    private int GoneWith(int field, ReadOnlySpan<byte> form)
    {
        goneTerms ??= CountGone();
        if (!goneTerms.TryGetValue(field, out (TermTable Terms, List<int> Counts) counted))
            return 0;
        int ordinal = counted.Terms.Intern(form);
        return ordinal < counted.Counts.Count ? counted.Counts[ordinal] : 0;
    }

    private Dictionary<int, (TermTable Terms, List<int> Counts)> CountGone()
    {
        var counts = new Dictionary<int, (TermTable Terms, List<int> Counts)>();
        foreach (long id in gone)
            Count(main.Entries.Get(id), counts);
        return counts;
    }

    private void Count(EntryRecord record, Dictionary<int, (TermTable Terms, List<int> Counts)> counts)
    {
        while (record.MoveNextGroup())
        {
            bool isFullText = record.Group == EntryGroup.Terms && main.Schema.Fields[record.Field].Analysis == Schema.FieldAnalysis.FullText;
            if (isFullText && !counts.ContainsKey(record.Field))
                counts.Add(record.Field, (new TermTable(), []));
            while (record.MoveNextItem(out ReadOnlySpan<byte> item))
            {
                if (!isFullText)
                    continue;
                (TermTable terms, List<int> numbers) = counts[record.Field];
                int ordinal = terms.Intern(item);
                if (ordinal == numbers.Count)
                    numbers.Add(0);
                numbers[ordinal]++;
            }
        }
    }
}
