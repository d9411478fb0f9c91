using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Writing;

/// <summary>
/// An index that is tidied between changes, where tidying is stopped, cancelled and continued, has the same records as one that
/// never was.
/// </summary>
public sealed class TidyingTests
{
    [Fact]
    public void Tidying_that_is_stopped_cancelled_and_continued_changes_no_record()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var data = new RandomData(random);
        using TemporaryStore tidied = new(), plain = new();
        IndexWriter one = new(tidied.Environment, RandomChanges.Schema), other = new(plain.Environment, RandomChanges.Schema);
        IndexBatch batch = one.BeginBatch(), same = other.BeginBatch();
        int stopped = 0, cancelled = 0, completed = 0;
        for (int round = 1; round <= 20; round++)
        {
            for (int i = random.Next(60); i > 0; i--)
            {
                Action<IndexBatch> change = RandomChanges.Next(random, data, $"docs/{random.Next(150)}");
                change(batch);
                change(same);
            }

            one.Commit(batch, round, TestContext.Current.CancellationToken);
            other.Commit(same, round, TestContext.Current.CancellationToken);
            int steps = random.Next(40);
            bool cancels = random.Next(2) == 0;
            using var stop = new CancellationTokenSource();
            try
            {
                bool isComplete = one.Tidy(
                    () =>
                    {
                        if (steps-- > 0)
                            return true;
                        if (cancels)
                            stop.Cancel();
                        return cancels;
                    }, stop.Token);
                stopped += isComplete ? 0 : 1;
                completed += isComplete ? 1 : 0;
            }
            catch (OperationCanceledException)
            {
                cancelled++;
            }

            Assert.True(
                StoreContent.Of(tidied.Environment).SequenceEqual(StoreContent.Of(plain.Environment)),
                $"seed {seed}, round {round}");
            Assert.Empty(tidied.Environment.Check(TestContext.Current.CancellationToken).Problems);
        }

        Assert.True(stopped + cancelled + completed == 20 && stopped > 0 && cancelled > 0, $"seed {seed}");
    }
}
