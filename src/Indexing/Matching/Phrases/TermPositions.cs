using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Matching.Phrases;

/// <summary>Reads the positions of a term of a full-text field in one entry.</summary>
internal static class TermPositions
{
    /// <summary>Returns the positions, ascending; empty if the entry does not have the term.</summary>
    public static int[] Of(IndexView view, string dictionary, ReadOnlySpan<byte> form, long id)
    {
        if (!view.TryGetTerm(dictionary, form, out TermPayload payload))
            return [];
        if (payload.Kind == PostingKind.Flat)
            return OfFlat(payload.Flat, id);

        using var cursor = new PostingCursor(view.Postings(dictionary)!, payload.ListId); // a long list has a postings tree
        if (view.Positions(dictionary) is not { } places || !cursor.TryHold(id >> PostingWindow.SizeBits, out HeldWindow held))
            return [];
        int rank = held.Postings.Rank((int)(id & (PostingWindow.Size - 1)));
        return rank < 0 ? [] : new PositionCursor(places, payload.ListId).Read(held, rank).ToArray();
    }

    private static int[] OfFlat(FlatPostings flat, long id)
    {
        while (flat.MoveNext(out Posting posting))
        {
            ReadOnlySpan<byte> encoded = flat.TakePositions(posting);
            if (posting.EntryId != id)
                continue;
            int[] positions = new int[posting.Frequency];
            int last = 0;
            foreach (ref int position in positions.AsSpan())
                position = last += Varint.Read(ref encoded);
            return positions;
        }

        return [];
    }
}
