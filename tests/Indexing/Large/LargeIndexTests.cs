using System.Globalization;
using System.Text;
using Treepie.Indexing.Catalogue;
using Treepie.Storage;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Large;

/// <summary>
/// Indexes of so many entries that all ways to rank are taken, over several commits with removals: each query is answered as
/// usual, by every way that can be told to be taken, and by scoring every hit, to the last bit the same; and one in some by the
/// oracle. With <c>TREEPIE_ROUNDS</c> from 2 on so many indexes are made, larger ones, and asked more.
/// </summary>
public sealed class LargeIndexTests
{
    private static readonly int _rounds = int.TryParse(
        Environment.GetEnvironmentVariable("TREEPIE_ROUNDS"), CultureInfo.InvariantCulture, out int rounds) ? rounds : 1;

    private static bool IsThorough => _rounds > 1;

    /// <summary>Queries after each commit.</summary>
    private static int Queries => IsThorough ? 300 : 40;

    [Fact]
    public void Every_way_to_answer_gives_what_scoring_every_hit_and_what_the_oracle_give()
    {
        for (int round = 0; round < _rounds; round++)
        {
            int seed = Seed.Next();
            try
            {
                Run(new Random(seed));
            }
            catch (Exception error)
            {
                throw new InvalidOperationException($"TREEPIE_SEED={seed} TREEPIE_ROUNDS={_rounds}: {error.Message}", error);
            }
        }
    }

    private static void Run(Random random)
    {
        var model = new LargeModel();
        var data = new LargeData(random, model);
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, data.Schema);
        IndexBatch batch = writer.BeginBatch();
        int entries = IsThorough && random.Next(4) == 0 ? random.Next(100_000, 200_000) : random.Next(15_000, 80_000),
            commits = random.Next(1, 5);
        bool leavesGaps = random.Next(3) == 0;
        for (int commit = 0; commit < commits; commit++)
        {
            Change(
                batch, model, data, random, commit == 0 ? entries : random.Next(3) == 0 ? entries / 4 : random.Next(3_000),
                commit, entries);
            writer.Commit(batch, commit + 1, TestContext.Current.CancellationToken);
            model.Commit();
            if (leavesGaps)
                LeaveGap(environment, random);
            using var searcher = new IndexSearcher(environment);
            var asker = new LargeAsker(searcher, model, data, random);
            for (int i = 0; i < Queries; i++)
                asker.Ask();
        }

        using (var searcher = new IndexSearcher(environment))
        using (var tail = new IndexTail(searcher))
        {
            LargeModel changed = model.Copy();
            IndexBatch changes = tail.BeginBatch();
            Change(changes, changed, data, random, random.Next(3_000), commits, entries);
            tail.Fill(changes, TestContext.Current.CancellationToken);
            changed.Commit();
            var asker = new LargeAsker(searcher, changed, data, random) { Tail = tail };
            for (int i = 0; i < Queries; i++)
                asker.Ask();
        }

        Assert.Empty(environment.Check().Problems);
    }

    /// <summary>
    /// Entries that follow are numbered on from far behind, as if all between had come and gone: there are many more windows than
    /// have entries.
    /// </summary>
    private static void LeaveGap(StorageEnvironment environment, Random random)
    {
        long gap = random.Next(4) switch
        {
            0 => random.Next(4_096),
            1 => random.Next(100_000),
            2 =>
            4_096 * random.Next(1_000),
            _ => random.Next(20_000_000)
        };
        environment.Write(transaction =>
        {
            Tree tree = transaction.GetOrCreateTree(TreeNames.Index);
            IndexState state = IndexState.Read(tree);
            state.NextEntryId += gap;
            state.Write(tree);
            return true;
        });
    }

    private static void Change(
        IndexBatch batch, LargeModel model, LargeData data, Random random, int changes, int commit, int entries)
    {
        double growth = commit == 0 ? 1 : random.Next(3) switch { 0 => 1, 1 => 4, _ => 0.3 };
        int removed = random.Next(3) switch { 0 => 0, 1 => 3, _ => 10 },
            first = random.Next(entries),
            near = random.Next(2) == 0 ? entries : 6_000;
        for (int i = 0; i < changes; i++)
        {
            int place = commit == 0
                ? i
                : random.Next(3) == 0 ? entries + random.Next(entries) : (first + random.Next(near)) % entries;
            string key = "e/" + place;
            if (commit > 0 && random.Next(10) < removed)
            {
                batch.Delete(Encoding.UTF8.GetBytes(key));
                model.Delete(key);
                continue;
            }

            LargeEntry entry = data.Entry(key, place, growth);
            LargeData.Put(batch, entry);
            model.Put(entry);
        }
    }
}
