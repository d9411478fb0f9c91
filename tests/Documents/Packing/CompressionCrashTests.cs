using System.Globalization;
using System.Text;
using Treepie.Documents.Tests.Store;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Packing;

/// <summary>
/// The power fails while documents are written, compressed and learned from. A twin that never loses power, and compresses
/// nothing, is told what was acknowledged: the database is as the twin to the last byte that can be seen.
/// </summary>
public sealed class CompressionCrashTests
{
    private const int Rounds = 40, LeastCrashes = 10, LeastPacked = 100;

    private static readonly string[] _words = ["river", "harbour", "mountain", "lighthouse", "station", "orchard", "library"];

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_compressed_database_that_lost_power_again_and_again_equals_its_twin(bool isEncrypted)
    {
        await using var twins = new PowerLossTwins(isEncrypted);
        foreach (Database each in new[] { twins.Twin, twins.Reopen() })
        {
            await each.Revisions.ConfigureAsync(new() { Default = new() { MinimumToKeep = 2 } }, Cancel);
            await each.Compression.ConfigureAsync(new() { AllCollections = true }, Cancel);
        }

        for (int round = 0; round < Rounds; round++)
        {
            Action<WriteBatch>? under = null;
            await twins.RunAsync(80, async database =>
            {
                for (int step = twins.Random.Next(4, 16); step > 0; step--)
                {
                    if (twins.Random.Next(4) == 0)
                    {
                        await database.Compression.RunAsync(null, Cancel);
                        continue;
                    }

                    under = Draw(twins);
                    await PowerLossTwins.WriteAsync(database, under);
                    await PowerLossTwins.WriteAsync(twins.Twin, under);
                    under = null;
                    if (twins.Random.Next(6) == 0)
                        database.Environment.Checkpoint(Cancel);
                }
            });
            await twins.CloseAsync();
            if (under is not null && !twins.AreEqual())
                await PowerLossTwins.WriteAsync(twins.Twin, under);
            twins.AssertEqual();
        }

        Assert.Empty(twins.Reopen().Environment.Check(Cancel).Problems);
        Assert.True(twins.Crashes >= LeastCrashes, $"seed {twins.Seed}: only {twins.Crashes} crashes");
        long packed = Packed(twins.Reopen());
        Assert.True(packed >= LeastPacked, $"seed {twins.Seed}: only {packed} documents were packed");
    }

    private static long Packed(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        using DocumentCursor cursor = snapshot.ByEtag();
        long packed = 0;
        while (cursor.MoveNext())
            packed += cursor.Current.IsPacked ? 1 : 0;
        return packed;
    }

    /// <summary>Some documents of one of two collections, or changes of what is there.</summary>
    private static Action<WriteBatch> Draw(PowerLossTwins twins)
    {
        Random random = twins.Random;
        twins.Clock.Now = twins.Clock.Now.AddMinutes(1);
        string collection = random.Next(3) == 0 ? "Places" : "Users";
        if (random.Next(4) == 0)
        {
            string id = Invariant($"{collection}/{random.Next(400)}");
            return random.Next(2) == 0 ? batch => batch.Delete(id) : batch => batch.DeleteByPrefix(id);
        }

        var documents = new List<(string Id, byte[] Json)>();
        for (int i = random.Next(1, 60); i > 0; i--)
        {
            var text = new StringBuilder();
            for (int words = random.Next(5, 150); words > 0; words--)
                text.Append(_words[random.Next(_words.Length)]).Append(' ');
            documents.Add(
                (Invariant($"{collection}/{random.Next(400)}"),
                    Encoding.UTF8.GetBytes(
                        Invariant(
                            $"{{\"Number\":{random.Next(1_000_000)},\"Text\":\"{text}\",\"@metadata\":{{\"@collection\":\"{collection}\"}}}}"))));
        }

        bool skips = random.Next(2) == 0;
        return batch =>
        {
            foreach ((string id, byte[] json) in documents)
                batch.Put(id, json, null, null, forceRevision: skips);
        };
    }

    private static string Invariant(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
