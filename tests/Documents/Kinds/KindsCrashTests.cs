using System.Globalization;
using System.Text;
using Treepie.Documents.Tests.Backups;
using Treepie.Documents.Tests.BackupTasks;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Kinds;

/// <summary>
/// The power fails at every operation of the disk while documents and all that lies beside them change. A twin that never loses
/// power is told what was acknowledged: after each loss the database is, to the last byte that can be seen of it, what the twin
/// is, or what it becomes by the one change that was under way.
/// </summary>
public sealed class KindsCrashTests : IDisposable
{
    private const int Rounds = 60, LeastCrashes = 15;

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
    public async Task A_database_that_lost_power_again_and_again_equals_its_twin(bool isEncrypted)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var disk = new SimulatedDisk(new Random(seed)) { MapsSeeWrites = random.Next(2) == 0 };
        await using Database twin = Open(
            new SimulatedDisk(new Random(seed)), new Random(seed), isEncrypted: false, _indexesOfTwin.Path);
        Database? database = Open(disk, new Random(seed), isEncrypted, _indexes.Path); // the same draw: of one id
        Assert.Equal(twin.Id, database.Id);
        await ConfigureAsync(twin);
        await ConfigureAsync(database);
        int crashes = 0;
        for (int round = 0; round < Rounds; round++)
        {
            Change? under = null;
            disk.CrashAt = disk.Operations + random.Next(60);
            try
            {
                database ??= Open(disk, new Random(seed + round), isEncrypted, _indexes.Path);
                Assert.Equal(DatabaseText.Of(twin), DatabaseText.Of(database));
                for (int step = random.Next(4, 16); step > 0; step--)
                {
                    under = Draw(random, twin);
                    await under.Run(database);
                    await under.Run(twin);
                    under = null;
                    if (random.Next(6) == 0)
                        database.Environment.Checkpoint(Cancel);
                }
            }
            catch (Exception) when (disk.HasCrashed)
            {
                crashes++;
            }

            if (!disk.HasCrashed && random.Next(2) == 0)
                continue; // it goes on as it is
            await CloseAsync(database, disk);
            database = null;
            if (disk.HasCrashed || random.Next(2) == 0)
                disk.Crash();
            else
                disk.Resume();
            disk.CrashAt = -1;
            if (under is null)
                continue;
            await using Database after = Open(disk, new Random(seed + round), isEncrypted, _indexes.Path);
            if (under.HasSteps)
                await under.Run(after); // what of it is done stays so, and it goes on
            if (under.HasSteps || !DatabaseText.Of(twin).SequenceEqual(DatabaseText.Of(after)))
                await under.Run(twin);
            Assert.Equal(DatabaseText.Of(twin), DatabaseText.Of(after));
            KindInvariants.Check(after);
        }

        disk.CrashAt = -1;
        database ??= Open(disk, new Random(seed), isEncrypted, _indexes.Path);
        Assert.Equal(DatabaseText.Of(twin), DatabaseText.Of(database));
        KindInvariants.Check(database);
        Assert.Empty(database.Environment.Check(Cancel).Problems);
        await database.DisposeAsync();
        Assert.True(crashes >= LeastCrashes, $"seed {seed}: only {crashes} crashes");
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

    private static async Task ConfigureAsync(Database database)
    {
        await database.Revisions.ConfigureAsync(
            new RevisionsConfiguration
            {
                Collections = new Dictionary<string, RevisionsRule> { ["Users"] = new() { MinimumToKeep = 3 } },
            },
            Cancel);
        await database.TimeSeriesPolicies.ConfigureAsync(
            new TimeSeriesConfiguration().With(
                "Users",
                new TimeSeriesRules
                {
                    RawRetention = TimeSeriesPeriod.Of(TimeSpan.FromDays(3)),
                    Policies = [new TimeSeriesPolicy("ByHour", TimeSeriesPeriod.Of(TimeSpan.FromHours(1)))],
                }),
            Cancel);
        await database.Lifecycle.SetAsync(LifecycleTask.Expiration, new LifecycleSettings(), Cancel);
        await database.Lifecycle.SetAsync(LifecycleTask.Refresh, new LifecycleSettings(), Cancel);
    }

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

    /// <summary>A change, with all that is random of it drawn, so that both databases get the same.</summary>
    private Change Draw(Random random, Database twin)
    {
        _clock.Now = _clock.Now.AddMinutes(random.Next(40));
        string id = Invariant($"users/{random.Next(6)}"), other = Invariant($"users/{random.Next(6)}");
        string name = Invariant($"n{random.Next(3)}");
        bool isThere = Holds(twin, id), isOtherThere = Holds(twin, other), hasAttachment = HasAttachment(twin, id, name);
        int number = random.Next(1, 1000);
        switch (random.Next(21))
        {
            case 0 when isThere:
                return Of(batch => batch.Delete(id));
            case 1 when isThere:
                return Of(batch => batch.IncrementCounter(id, name, number - 500));
            case 2 when isThere:
                return Of(batch => batch.DeleteCounter(id, name));
            case 3 or 14 or 15 when isThere:
                int length = random.Next(3) switch
                {
                    0 => random.Next(30_000, 90_000),
                    1 => ContentRecord.PieceBytes + random.Next(2 * ContentRecord.PieceBytes), // it goes to the disk piece by piece
                    _ => random.Next(200),
                };
                byte fill = (byte)random.Next(3); // of one content there are several
                return new Change(database => AttachAsync(database, id, name, new string((char)('a' + fill), length)), false);
            case 4 when isThere && isOtherThere && hasAttachment && id != other:
                return Of(batch => batch.CopyAttachment(id, name, other, name));
            case 5 when isThere && hasAttachment:
                return Of(batch => batch.DeleteAttachment(id, name));
            case 6 or 7 when isThere:
                DateTime from = _clock.Now.UtcDateTime.AddMinutes(-random.Next(3000));
                TimeSeriesPoint[] points =
                    [.. Enumerable.Range(0, random.Next(1, 200)).Select(i => new TimeSeriesPoint(from.AddSeconds(i * 40), [i, number]))];
                (DateTime, DateTime)[] deletes = random.Next(4) == 0 ? [(from.AddMinutes(-60), from.AddMinutes(30))] : [];
                return Of(batch => batch.TimeSeries(id, "Heart", points, deletes));
            case 8:
                long index = CompareExchangeIndex(twin, name);
                return random.Next(3) == 0
                    ? Of(batch => batch.DeleteCompareExchange(name, index))
                    : Of(batch => batch.PutCompareExchange(name, Encoding.UTF8.GetBytes($"{{\"Object\":{number}}}"), index));
            case 9:
                return new Change(database => database.NextIdentityAsync(name, Cancel), false);
            case 10 when isThere:
                return Of(batch => batch.ForceRevision(id));
            case 16 when LastRevisions(twin, id) is { Count: > 0 } vectors:
                string vector = vectors[random.Next(vectors.Count)];
                return new Change(
                    database => database.Revisions.RevertAsync(new Dictionary<string, string> { [id] = vector }, Cancel), false);
            case 17 when LastRevisions(twin, id) is { Count: > 0 } vectors:
                string[] some = [vectors[random.Next(vectors.Count)]];
                return new Change(database => database.Revisions.DeleteAsync(id, some, Cancel), false);
            case 18 when isThere && hasAttachment:
                string newName = Invariant($"n{random.Next(3)}");
                return Of(batch => batch.MoveAttachment(id, name, id, newName));
            case 19 or 20:
                return new Change(
                    database =>
                    {
                        database.Compact(null, null, Cancel);
                        return Task.CompletedTask;
                    },
                    HasSteps: true);
            case 11:
                return new Change(database => database.Lifecycle.RunAsync(Cancel), HasSteps: true);
            case 12:
                return new Change(database => database.TimeSeriesPolicies.RunAsync(Cancel), HasSteps: true);
            default:
                string when = _clock.Now.UtcDateTime.AddMinutes(random.Next(-60, 200)).ToString("O", CultureInfo.InvariantCulture);
                string time = random.Next(4) switch { 0 => $",\"@expires\":\"{when}\"", 1 => $",\"@refresh\":\"{when}\"", _ => "" };
                byte[] json = Encoding.UTF8.GetBytes(
                    $"{{\"N\":{number},\"T\":\"{new string('x', random.Next(400))}\",\"@metadata\":{{\"@collection\":\"Users\"{time}}}}}");
                return Of(batch => batch.Put(id, json).Put(other, json));
        }
    }

    private static Change Of(Action<WriteBatch> write) => new(
        async database =>
        {
            using var batch = new WriteBatch(database.Options);
            write(batch);
            await database.WriteAsync(batch, Cancel);
        },
        HasSteps: false);

    private static async Task AttachAsync(Database database, string id, string name, string text)
    {
        await using var upload = database.BeginUpload();
        await upload.WriteAsync(Encoding.UTF8.GetBytes(text), Cancel);
        await upload.CompleteAsync(Cancel);
        using var batch = new WriteBatch(database.Options);
        await database.WriteAsync(batch.PutAttachment(id, name, "text/plain", upload), Cancel);
    }

    private static bool Holds(Database database, string id)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return snapshot.TryGet(id, out _);
    }

    private static bool HasAttachment(Database database, string id, string name)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return snapshot.Attachment(id, name) is not null;
    }

    private static List<string> LastRevisions(Database database, string id)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return [.. snapshot.Revisions(id, metadataOnly: true).Select(static revision => revision.ChangeVector)];
    }

    private static long CompareExchangeIndex(Database database, string key)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return snapshot.CompareExchange(key)?.Index ?? 0;
    }

    private static string Invariant(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);

    /// <summary>A change of a database.</summary>
    /// <param name="Run">Makes it.</param>
    /// <param name="HasSteps">Whether it is more than one transaction, each of which may be there after a crash; made again, it
    /// goes on.</param>
    private sealed record Change(Func<Database, Task> Run, bool HasSteps);
}
