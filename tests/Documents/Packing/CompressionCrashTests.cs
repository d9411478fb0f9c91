using System.Globalization;
using System.Text;
using Treepie.Documents.Tests.Backups;
using Treepie.Documents.Tests.BackupTasks;
using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Packing;

/// <summary>
/// The power fails while documents are written, compressed and learned from. A twin that never loses power, and compresses
/// nothing, is told what was acknowledged: the database is as the twin to the last byte that can be seen.
/// </summary>
public sealed class CompressionCrashTests : IDisposable
{
    private const int Rounds = 40, LeastCrashes = 10, LeastPacked = 100;

    private static readonly string[] _words = ["river", "harbour", "mountain", "lighthouse", "station", "orchard", "library"];

    private readonly TemporaryDirectory _indexes = new();
    private readonly TemporaryDirectory _indexesOfTwin = new();
    private readonly ManualClock _clock = new();
    private readonly EncryptionKey _key = EncryptionKey.Generate();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _indexes.Dispose();
        _indexesOfTwin.Dispose();
        _key.Dispose();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_compressed_database_that_lost_power_again_and_again_equals_its_twin(bool isEncrypted)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var disk = new SimulatedDisk(new Random(seed)) { MapsSeeWrites = random.Next(2) == 0 };
        await using Database twin = Open(
            new SimulatedDisk(new Random(seed)), new Random(seed), isEncrypted: false, _indexesOfTwin.Path);
        Database? database = Open(disk, new Random(seed), isEncrypted, _indexes.Path);
        foreach (Database each in new[] { twin, database })
        {
            await each.Revisions.ConfigureAsync(new() { Default = new() { MinimumToKeep = 2 } }, Cancel);
            await each.Compression.ConfigureAsync(new() { AllCollections = true }, Cancel);
        }

        int crashes = 0;
        for (int round = 0; round < Rounds; round++)
        {
            Action<WriteBatch>? under = null;
            disk.CrashAt = disk.Operations + random.Next(80);
            try
            {
                database ??= Open(disk, new Random(seed + round), isEncrypted, _indexes.Path);
                for (int step = random.Next(4, 16); step > 0; step--)
                {
                    if (random.Next(4) == 0)
                    {
                        await database.Compression.RunAsync(null, Cancel);
                        continue;
                    }

                    under = Draw(random);
                    await WriteAsync(database, under);
                    await WriteAsync(twin, under);
                    under = null;
                    if (random.Next(6) == 0)
                        database.Environment.Checkpoint(Cancel);
                }
            }
            catch (Exception) when (disk.HasCrashed)
            {
                crashes++;
            }

            await CloseAsync(database, disk);
            database = null;
            disk.Crash();
            disk.CrashAt = -1;
            database = Open(disk, new Random(seed + round), isEncrypted, _indexes.Path);
            if (under is not null && !DatabaseText.Of(twin).SequenceEqual(DatabaseText.Of(database)))
                await WriteAsync(twin, under);
            Assert.Equal(DatabaseText.Of(twin), DatabaseText.Of(database));
        }

        Assert.Empty(database!.Environment.Check(Cancel).Problems);
        Assert.True(crashes >= LeastCrashes, $"seed {seed}: only {crashes} crashes");
        long packed = Packed(database);
        await database.DisposeAsync();
        Assert.True(packed >= LeastPacked, $"seed {seed}: only {packed} documents were packed");
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

    private static async Task CloseAsync(Database? database, SimulatedDisk disk)
    {
        try
        {
            if (database is not null)
                await database.DisposeAsync();
        }
        catch (Exception) when (disk.HasCrashed)
        {
        }
    }

    private static async Task WriteAsync(Database database, Action<WriteBatch> write)
    {
        using var batch = new WriteBatch(database.Options);
        write(batch);
        await database.WriteAsync(batch, Cancel);
    }

    /// <summary>Some documents of one of two collections, or changes of what is there.</summary>
    private Action<WriteBatch> Draw(Random random)
    {
        _clock.Now = _clock.Now.AddMinutes(1);
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

    private Database Open(SimulatedDisk disk, Random random, bool isEncrypted, string indexes)
    {
        StorageEnvironment environment = StorageEnvironment.Open(
            new World(disk, new SimulatedClock(), random, IsBackgroundAllowed: false) { PagesPerBitmap = 64 },
            new StorageOptions { EncryptionKey = isEncrypted ? _key : null, ScratchBudgetBytes = 1 << 20 });
        try
        {
            return new Database(indexes, environment, new DatabaseOptions { TimeProvider = _clock, Name = "storm" });
        }
        catch
        {
            environment.Dispose();
            throw;
        }
    }
}
