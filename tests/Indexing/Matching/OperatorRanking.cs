using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.Tests.Matching;

/// <summary>
/// Takes the best of a window as a ranking does, and checks at each step that nothing that reaches the threshold is lost.
/// </summary>
internal sealed class OperatorRanking(QueryContext context, Operator root, OperatorAnswer answer)
{
    private readonly EntryBounds _entries = new(context);

    /// <summary>Returns the scores of the entries that were left.</summary>
    public float[] Visit(long window, float threshold, bool counts)
    {
        float[] bounds = new float[PostingWindow.Blocks];
        root.AddBounds(window, bounds, 1);
        for (int block = 0; block < bounds.Length; block++)
            Assert.True(
                answer.Most(window)[block] < threshold || bounds[block] * Bm25.BoundMargin >= answer.Most(window)[block],
                $"AddBounds of block {block} of window {window}: {bounds[block]}, but {answer.Most(window)[block]} is scored");

        WindowSet set = context.Rent();
        int count = root.Select(window, set, threshold, counts);
        ushort[] members = new ushort[PostingWindow.Size];
        members = members[..set.CopyTo(members)];
        Assert.True(
            count == (counts ? answer.Matches(window).Length : members.Length),
            $"Select of window {window} counts {count}, and selects {members.Length} of {answer.Matches(window).Length}");
        AssertKept(window, members, threshold, "Select");
        Span<ulong> words = new ulong[BitmapKernels.Words];
        set.CopyWords(words);
        context.Return(set);
        if (threshold > 0)
        {
            root.Narrow(window, words, threshold);
            AssertKept(window, Members(words), threshold, "Narrow");
            _entries.Begin(words);
            root.AddBounds(window, _entries.Rest, 1, _entries);
            _entries.Narrow(window, words, threshold, Bm25.BoundMargin);
            AssertKept(window, Members(words), threshold, "bounds by entry");
        }

        ushort[] hits = Members(words);
        float[] scores = new float[hits.Length];
        root.Score(window, hits, scores, 1, allMatch: true);
        for (int i = 0; i < hits.Length; i++)
            Assert.True(
                OperatorContractTests.IsNear(answer.Score(window, hits[i]), scores[i]),
                $"Score of {hits[i]} of window {window}: {scores[i]} instead of {answer.Score(window, hits[i])}");
        return scores;
    }

    private void AssertKept(long window, ushort[] members, float threshold, string what)
    {
        Assert.False(members.Except(answer.Matches(window)).Any(), $"{what} of window {window} adds entries");
        ushort[] lost = [.. answer.Reaching(window, threshold).Except(members)];
        Assert.True(
            lost.Length == 0,
            $"{what} of window {window} leaves out {lost.FirstOrDefault()} and {lost.Length - 1} more that reach {threshold}");
    }

    private static ushort[] Members(ReadOnlySpan<ulong> words)
    {
        ushort[] members = new ushort[PostingWindow.Size];
        return members[..BitmapKernels.Decode(words, members)];
    }
}
