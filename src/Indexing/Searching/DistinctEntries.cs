using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Terms;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Searching;

/// <summary>Finds the first entry of each number of a field, by its dictionary.</summary>
internal static class DistinctEntries
{
    /// <summary>
    /// Returns the entries; null if there are more than <paramref name="most"/>, or if entries with the same number may have
    /// different values.
    /// </summary>
    public static List<long>? Find(IndexView view, int field, int most, CancellationToken cancellationToken)
    {
        string dictionary = TreeNames.Numbers(field);
        if (view.Schema.Fields[field].Analysis is not (FieldAnalysis.Keyword or FieldAnalysis.LowerCaseKeyword)
            || !view.Statistics(field).AreNumbersExact
            || view.TermCount(dictionary) > most)
            return null;

        var entries = new List<long>();
        if (view.Dictionary(dictionary) is not { } terms)
            return entries;
        using var context = new QueryContext(view, cancellationToken);
        ushort[] offsets = context.RentOffsets();
        using TermCursor cursor = terms.OpenCursor();
        for (bool isValid = cursor.MoveFirst(); isValid; isValid = cursor.MoveNext())
        {
            context.Check();
            entries.Add(FirstOf(context, view.Postings(dictionary), new TermPayload(cursor.Value), offsets));
        }

        return entries;
    }

    private static long FirstOf(QueryContext context, Tree? postings, TermPayload payload, ushort[] offsets)
    {
        if (payload.Kind == PostingKind.Flat)
        {
            FlatPostings flat = payload.Flat;
            return flat.MoveNext(out Posting first) ? first.EntryId : throw Damaged();
        }

        using var list = new PostingCursor(postings ?? throw Damaged(), payload.ListId, context.Meter);
        long window = list.Next(0);
        if (window == PostingCursor.End || !list.TryGet(window, out PostingWindow found))
            throw Damaged();
        return found.CopyOffsets(offsets) > 0 ? (window << PostingWindow.SizeBits) + offsets[0] : throw Damaged();
    }

    private static CorruptionException Damaged() =>
        new("A number of the index has no entries. Reset the index to build it again.");
}
