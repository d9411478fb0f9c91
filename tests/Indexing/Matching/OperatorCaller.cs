using Treepie.Indexing.Matching;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Tests.Matching;

/// <summary>Calls the methods of an operator at random and compares each result with the answer.</summary>
/// <param name="context">The query.</param>
/// <param name="root">The operator.</param>
/// <param name="answer">What it matches and scores.</param>
/// <param name="all">All entries of the index: sets to be narrowed have no others.</param>
/// <param name="random">Draws.</param>
internal sealed class OperatorCaller(
    QueryContext context, Operator root, OperatorAnswer answer, OperatorAnswer all, Random random)
{
    /// <summary>Calls a method for a window.</summary>
    public void Call(long window)
    {
        switch (random.Next(9))
        {
            case 0:
                WindowSet set = context.Rent();
                root.Fill(window, set);
                AssertMembers(answer.Matches(window), set, "Fill", window);
                context.Return(set);
                break;
            case 1 or 2:
                Combine(window, (SetOperation)random.Next(3));
                break;
            case 3:
                Keep(window);
                break;
            case 4:
                Contains(window);
                break;
            case 5:
                Assert.True(
                    root.Count(window) == answer.Matches(window).Length,
                    $"Count of window {window}: {root.Count(window)} instead of {answer.Matches(window).Length}");
                break;
            case 6:
                Score(window, answer.Matches(window), allMatch: true);
                break;
            case 7:
                Score(window, all.Matches(window), allMatch: false);
                break;
            default:
                AddBounds(window);
                break;
        }
    }

    private void Combine(long window, SetOperation operation)
    {
        ushort[] members = Some(all.Matches(window));
        WindowSet set = context.Rent();
        set.SetOffsets(members);
        if (random.Next(3) == 0)
            set.ToBits();
        if (members.Length == 0 && operation == SetOperation.Or && random.Next(2) == 0)
            set.SetEmpty();
        root.Combine(window, set, operation);
        ushort[] matches = answer.Matches(window);
        ushort[] expected = operation switch
        {
            SetOperation.And => [.. members.Where(offset => answer.Matches(window, offset))],
            SetOperation.AndNot => [.. members.Where(offset => !answer.Matches(window, offset))],
            _ => [.. members.Union(matches).Order()],
        };
        AssertMembers(expected, set, $"{operation} with {members.Length} entries", window);
        context.Return(set);
    }

    private void Keep(long window)
    {
        ushort[] offsets = Some(all.Matches(window));
        bool isWanted = random.Next(2) == 0;
        ushort[] expected = [.. offsets.Where(offset => answer.Matches(window, offset) == isWanted)];
        int kept = root.Keep(window, offsets, isWanted);
        Assert.True(
            expected.AsSpan().SequenceEqual(offsets.AsSpan(0, kept)),
            $"Keep of window {window}, wanted {isWanted}: {kept} instead of {expected.Length}");
    }

    private void Contains(long window)
    {
        ushort[] offsets = all.Matches(window);
        for (int i = 0; i < Math.Min(20, offsets.Length); i++)
        {
            ushort offset = offsets[random.Next(offsets.Length)];
            Assert.True(
                root.Contains((window << PostingWindow.SizeBits) + offset) == answer.Matches(window, offset),
                $"Contains {offset} of window {window} is not {answer.Matches(window, offset)}");
        }
    }

    /// <summary>Some hits get their score, times a boost, on top of what they have; others stay as they are.</summary>
    private void Score(long window, ushort[] candidates, bool allMatch)
    {
        ushort[] hits = Some(candidates);
        float boost = random.Next(3) switch { 0 => 1, 1 => 0.25f, _ => 3 };
        float[] scores = new float[hits.Length];
        root.Score(window, hits, scores, boost, allMatch);
        for (int i = 0; i < hits.Length; i++)
        {
            float expected = answer.Matches(window, hits[i]) ? boost * answer.Score(window, hits[i]) : 0;
            Assert.True(
                OperatorContractTests.IsNear(expected, scores[i]),
                $"Score of {hits[i]} of window {window}, all match: {allMatch}: {scores[i]} instead of {expected}");
        }

        float[] again = [.. Enumerable.Repeat(8f, hits.Length)];
        root.Score(window, hits, again, boost, allMatch);
        for (int i = 0; i < hits.Length; i++)
            Assert.True(OperatorContractTests.IsNear(8 + scores[i], again[i]), $"Score is not added: {again[i]}, {scores[i]}");
    }

    private void AddBounds(long window)
    {
        float boost = random.Next(3) switch { 0 => 1, 1 => 0.25f, _ => 3 };
        float[] bounds = [.. Enumerable.Repeat(1f, PostingWindow.Blocks)];
        root.AddBounds(window, bounds, boost);
        for (int block = 0; block < bounds.Length; block++)
        {
            float most = Math.Max(0, boost * answer.Most(window)[block]);
            Assert.True(
                bounds[block] * (1 + 1e-5f) >= 1 + most,
                $"AddBounds of block {block} of window {window}: {bounds[block] - 1}, but {most} is scored");
        }
    }

    /// <summary>All of some entries, few or many, or none.</summary>
    private ushort[] Some(ushort[] entries)
    {
        double share = random.Next(5) switch { 0 => 1, 1 => 0, 2 => 0.003, _ => random.NextDouble() };
        return [.. entries.Where(_ => random.NextDouble() < share)];
    }

    private static void AssertMembers(ushort[] expected, WindowSet set, string what, long window)
    {
        ushort[] members = new ushort[PostingWindow.Size];
        int count = set.CopyTo(members);
        Assert.True(
            expected.AsSpan().SequenceEqual(members.AsSpan(0, count)),
            $"{what} of window {window}: {count} entries instead of {expected.Length}");
        Assert.Equal(count, set.Count);
        Assert.Equal(count == 0, set.IsEmpty);
    }
}
