using System.Text;
using Treepie.Indexing.Terms;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Terms;

/// <summary>
/// Ranges of a dictionary are counted the same, by as many pages, whether leaves were gone through before or not: of a dictionary
/// whose leaves are under several pages.
/// </summary>
public sealed class LeafSumsTests
{
    private const int Count = 12_000;

    [Fact]
    public void What_was_gone_through_is_counted_as_what_was_not()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var store = new TemporaryStore();
        byte[][] terms = new byte[Count][];
        for (int i = 0; i < Count; i++)
        {
            terms[i] = new byte[250];
            random.NextBytes(terms[i]);
            Encoding.ASCII.GetBytes($"{i:D6}", terms[i]);
        }

        store.Environment.Write(transaction =>
        {
            var writer = new TermTreeWriter(transaction.GetOrCreateTree("terms"), static value => value[0] + 1);
            foreach (byte[] term in terms)
                writer.Put(term, term.AsSpan(249, 1));
            writer.Flush();
            return true;
        }, TestContext.Current.CancellationToken);

        using ReadTransaction read = store.Environment.BeginRead();
        Tree tree = read.FindTree("terms")!; // just written
        Assert.True(tree.Record.Levels > 2, "its leaves are under several pages");
        var known = new TermTree(tree);
        for (int round = 0; round < 60; round++)
        {
            int low = random.Next(Count), high = Math.Min(Count - 1, low + random.Next(round % 2 == 0 ? Count : 2_000));
            (long Terms, long Weight, long Visits) first = Between(new TermTree(tree), low, high),
                second = Between(known, low, high),
                again = Between(known, low, high);
            Assert.True(first == second && first == again, $"seed {seed}, {low} to {high}: {first}, {second}, {again}");
            Assert.Equal(Enumerable.Range(low, high - low).Sum(i => terms[i][249] + 1L), first.Weight);
            Assert.Equal(high - low, first.Terms);
        }

        // From one term up to before another.
        (long Terms, long Weight, long Visits) Between(TermTree dictionary, int low, int high)
        {
            long before = read.PageVisits, count = 0, weight = 0;
            using TermCursor cursor = dictionary.OpenCursor(), end = dictionary.OpenCursor();
            Assert.True(cursor.Seek(terms[low]) && end.Seek(terms[high]));
            while (!cursor.IsInBlockOf(end))
            {
                long passed = 0;
                if (cursor.Index == 0)
                {
                    cursor.SkipBlocks(end, dictionary.Sums, out passed, out long weighs);
                    count += passed;
                    weight += weighs;
                }

                for (bool isSame = passed == 0; isSame; isSame = cursor.Index > 0)
                {
                    (count, weight) = (count + 1, weight + cursor.Value[0] + 1);
                    cursor.MoveNext();
                }
            }

            for (; !cursor.Key.SequenceEqual(terms[high]); cursor.MoveNext())
                (count, weight) = (count + 1, weight + cursor.Value[0] + 1);
            return (count, weight, read.PageVisits - before);
        }
    }
}
