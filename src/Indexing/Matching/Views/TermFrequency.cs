using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Matching.Views;

/// <summary>Reads the frequency of a term of a full-text field in one entry.</summary>
internal static class TermFrequency
{
    /// <summary>Returns the frequency, or 0 if the entry does not have the term.</summary>
    public static int Of(IndexView view, string dictionary, ReadOnlySpan<byte> form, long id)
    {
        if (!view.TryGetTerm(dictionary, form, out TermPayload payload))
            return 0;
        if (payload.Kind == PostingKind.Flat)
        {
            FlatPostings flat = payload.Flat;
            while (flat.MoveNext(out Posting posting))
            {
                if (posting.EntryId == id)
                    return posting.Frequency;
            }

            return 0;
        }

        using var cursor = new PostingCursor(view.Postings(dictionary)!, payload.ListId); // a long list has a postings tree
        if (!cursor.TryGet(id >> PostingWindow.SizeBits, out PostingWindow window))
            return 0;
        int rank = window.Rank((int)(id & (PostingWindow.Size - 1)));
        return rank < 0 ? 0 : window.Frequency(rank);
    }
}
