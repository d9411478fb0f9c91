using System.Text;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests;

public sealed class StorageEnvironmentTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void A_value_is_there_after_reopening()
    {
        using (StorageEnvironment environment = StorageEnvironment.Open(_directory.Path))
            environment.Write(transaction => transaction.GetOrCreateTree("things").Put("key"u8, "value"u8));

        using (StorageEnvironment environment = StorageEnvironment.Open(_directory.Path))
        using (ReadTransaction read = environment.BeginRead())
        {
            Tree tree = read.FindTree("things")!;
            Assert.True(tree.TryGet("key"u8, out ReadOnlySpan<byte> value));
            Assert.Equal("value", Encoding.UTF8.GetString(value));
            Assert.True(environment.Check(TestContext.Current.CancellationToken).IsClean);
        }
    }

    [Theory]
    [InlineData(Durability.Durable)]
    [InlineData(Durability.Relaxed)]
    public void Random_changes_read_as_the_model_does_with_snapshots_checkpoints_and_reopening(Durability durability)
    {
        var random = new Random(Seed.Next());
        var options = new StorageOptions { Durability = durability };
        var model = new Model();
        var workload = new Workload(random, new WorkloadShape());
        var held = new List<(ReadTransaction Read, Model Model)>();
        StorageEnvironment environment = StorageEnvironment.Open(_directory.Path, options);
        try
        {
            for (int i = 0; i < 300; i++)
            {
                environment.Write(workload.Next(model), TestContext.Current.CancellationToken);
                int action = random.Next(100);
                if (action < 10)
                    held.Add((environment.BeginRead(), model.Copy()));
                if (action is >= 10 and < 20 && held.Count > 0)
                    Release(held, random.Next(held.Count));
                if (action is >= 20 and < 25)
                    environment.Checkpoint(TestContext.Current.CancellationToken);
                if (action is >= 25 and < 27)
                {
                    while (held.Count > 0)
                        Release(held, 0);
                    AssertClean(environment, model);
                    environment.Dispose();
                    environment = StorageEnvironment.Open(_directory.Path, options);
                    AssertClean(environment, model);
                }
            }

            while (held.Count > 0)
                Release(held, 0);
            AssertClean(environment, model);
        }
        finally
        {
            foreach ((ReadTransaction read, _) in held)
                read.Dispose();
            environment.Dispose();
        }
    }

    private static void Release(List<(ReadTransaction Read, Model Model)> held, int index)
    {
        (ReadTransaction read, Model model) = held[index];
        held.RemoveAt(index);
        using (read)
            model.AssertEqual(read);
    }

    private static void AssertClean(StorageEnvironment environment, Model model)
    {
        Assert.Empty(environment.Check(TestContext.Current.CancellationToken).Problems);
        using ReadTransaction read = environment.BeginRead();
        model.AssertEqual(read);
    }
}
