using System.Globalization;
using System.Text;
using Treepie.Documents.Tests.BackupTasks;
using Treepie.Documents.Tests.Store;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Kinds;

/// <summary>
/// The power fails at every operation of the disk while documents and all that lies beside them change. A twin that never loses
/// power is told what was acknowledged: after each loss the database is, to the last byte that can be seen of it, what the twin
/// is, or what it becomes by the one change that was under way.
/// </summary>
public sealed class KindsCrashTests
{
    private const int Rounds = 60, LeastCrashes = 15;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_database_that_lost_power_again_and_again_equals_its_twin(bool isEncrypted)
    {
        await using var twins = new PowerLossTwins(isEncrypted);
        Random random = twins.Random;
        await ConfigureAsync(twins.Twin);
        await ConfigureAsync(twins.Reopen());
        for (int round = 0; round < Rounds; round++)
        {
            Change? under = null;
            await twins.RunAsync(60, async database =>
            {
                twins.AssertEqual();
                for (int step = random.Next(4, 16); step > 0; step--)
                {
                    under = Draw(random, twins);
                    await under.Run(database);
                    await under.Run(twins.Twin);
                    under = null;
                    if (random.Next(6) == 0)
                        database.Environment.Checkpoint(Cancel);
                }
            });
            if (!twins.Disk.HasCrashed && random.Next(2) == 0)
                continue; // it goes on as it is
            await twins.CloseAsync(losesPower: twins.Disk.HasCrashed || random.Next(2) == 0);
            if (under is null)
                continue;
            if (under.HasSteps)
                await under.Run(twins.Reopen()); // what of it is done stays so, and it goes on
            if (under.HasSteps || !twins.AreEqual())
                await under.Run(twins.Twin);
            twins.AssertEqual();
            KindInvariants.Check(twins.Reopen());
        }

        twins.Disk.CrashAt = -1;
        twins.AssertEqual();
        KindInvariants.Check(twins.Reopen());
        Assert.Empty(twins.Reopen().Environment.Check(Cancel).Problems);
        Assert.True(twins.Crashes >= LeastCrashes, $"seed {twins.Seed}: only {twins.Crashes} crashes");
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

    /// <summary>A change, with all that is random of it drawn, so that both databases get the same.</summary>
    private static Change Draw(Random random, PowerLossTwins twins)
    {
        (Database twin, ManualClock clock) = (twins.Twin, twins.Clock);
        clock.Now = clock.Now.AddMinutes(random.Next(40));
        string id = Invariant($"users/{random.Next(6)}"), other = Invariant($"users/{random.Next(6)}");
        string name = Invariant($"n{random.Next(3)}");
        bool isThere = Holds(twin, id), isOtherThere = Holds(twin, other), hasAttachment = HasAttachment(twin, id, name);
        int number = random.Next(1, 1000);
        switch (random.Next(23))
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
                DateTime from = clock.Now.UtcDateTime.AddMinutes(-random.Next(3000));
                TimeSeriesPoint[] points =
                    [.. Enumerable.Range(0, random.Next(1, 200)).Select(i => new TimeSeriesPoint(from.AddSeconds(i * 40), [i, number]))];
                (DateTime, DateTime)[] deletes = random.Next(4) == 0 ? [(from.AddMinutes(-60), from.AddMinutes(30))] : [];
                return Of(batch => batch.TimeSeries(id, "Heart", points, deletes));
            case 8:
                long index = CompareExchangeIndex(twin, name);
                string end = clock.Now.UtcDateTime.AddMinutes(random.Next(100)).ToString("O", CultureInfo.InvariantCulture);
                string expiry = random.Next(2) == 0 ? $",\"@metadata\":{{\"@expires\":\"{end}\"}}" : "";
                return random.Next(3) == 0
                    ? Of(batch => batch.DeleteCompareExchange(name, index))
                    : Of(batch => batch.PutCompareExchange(
                        name, Encoding.UTF8.GetBytes($"{{\"Object\":{number}{expiry}}}"), index));
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
            case 21 when isThere && isOtherThere:
                DateTime copied = clock.Now.UtcDateTime.AddMinutes(-random.Next(3000));
                return Of(batch => batch.CopyTimeSeries(id, "Heart", other, name, copied, copied.AddMinutes(number)));
            case 22:
                DatabaseRecord record = twin.GetRecord() with
                {
                    Settings = new Dictionary<string, ReadOnlyMemory<byte>>
                    {
                        [name] = Encoding.UTF8.GetBytes($"{{\"n\":{number}}}"),
                    },
                };
                return new Change(database => database.SetRecordAsync(record, record.Etag, Cancel), HasSteps: false);
            case 11:
                return new Change(database => database.Lifecycle.RunAsync(Cancel), HasSteps: true);
            case 12:
                return new Change(database => database.TimeSeriesPolicies.RunAsync(Cancel), HasSteps: true);
            default:
                string when = clock.Now.UtcDateTime.AddMinutes(random.Next(-60, 200)).ToString("O", CultureInfo.InvariantCulture);
                string time = random.Next(4) switch { 0 => $",\"@expires\":\"{when}\"", 1 => $",\"@refresh\":\"{when}\"", _ => "" };
                byte[] json = Encoding.UTF8.GetBytes(
                    $"{{\"N\":{number},\"T\":\"{new string('x', random.Next(400))}\",\"@metadata\":{{\"@collection\":\"Users\"{time}}}}}");
                return Of(batch => batch.Put(id, json).Put(other, json));
        }
    }

    private static Change Of(Action<WriteBatch> write) =>
        new(database => PowerLossTwins.WriteAsync(database, write), HasSteps: false);

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
