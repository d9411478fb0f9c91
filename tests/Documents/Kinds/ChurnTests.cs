using System.Globalization;
using System.Text;
using Treepie.Documents.Tests.BackupTasks;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Kinds;

/// <summary>
/// Deletes and expiry of every kind free their pages: the file does not grow while the content stays the same size.
/// </summary>
public sealed class ChurnTests : IDisposable
{
    private const int Days = 90, DaysKept = 8, DocumentsPerDay = 60;

    private readonly TemporaryDirectory _directory = new();
    private readonly ManualClock _clock = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_quarter_of_a_year_of_churn_keeps_its_size(bool isCompressed)
    {
        var random = new Random(Seed.Next());
        await using Database database = Database.Open(_directory.Path, new DatabaseOptions { TimeProvider = _clock });
        await database.Lifecycle.SetAsync(LifecycleTask.Expiration, new LifecycleSettings(), Cancel);
        await database.Revisions.ConfigureAsync(new() { Default = new() { MinimumToKeep = 2, PurgeOnDelete = true } }, Cancel);
        if (isCompressed)
            await database.Compression.ConfigureAsync(new() { AllCollections = true }, Cancel);
        var sizes = new List<long>();
        for (int day = 0; day < Days; day++)
        {
            await LiveAsync(database, day, random);
            database.Environment.Checkpoint(Cancel);
            sizes.Add(new FileInfo(Path.Combine(_directory.Path, "documents", "data.treepie")).Length);
        }

        long settled = sizes[(2 * DaysKept)..(4 * DaysKept)].Max(), last = sizes[^DaysKept..].Max();
        Assert.True(last <= settled * 1.1, $"it grew from {settled:N0} to {last:N0} bytes: {string.Join(", ", sizes)}");
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.InRange(snapshot.DocumentCount, DocumentsPerDay, (DaysKept + 1) * DocumentsPerDay);
        Assert.InRange(snapshot.Kinds.ContentCount, 1, (DaysKept + 1) * DocumentsPerDay);
        KindInvariants.Check(database);
    }

    /// <summary>A day: what is old goes, half by expiry and half by deletes; new documents come with something of each kind.</summary>
    private async Task LiveAsync(Database database, int day, Random random)
    {
        _clock.Now = _clock.Now.AddDays(1);
        byte[] content = new byte[6_000];
        for (int i = 0; i < DocumentsPerDay; i++)
        {
            string id = Invariant($"d/{day}/{i}");
            random.NextBytes(content);
            await using var upload = database.BeginUpload();
            await upload.WriteAsync(content, Cancel);
            await upload.CompleteAsync(Cancel);
            using var batch = new WriteBatch(database.Options);
            batch.Put(id, Json(i, i % 2 == 0 ? _clock.Now.AddDays(DaysKept) : null, random))
                .PutAttachment(id, "a", "x/y", upload)
                .IncrementCounter(id, "likes", random.Next(100))
                .TimeSeries(
                    id, "heart",
                    [.. Enumerable.Range(0, 50).Select(
                        at => new TimeSeriesPoint(_clock.Now.UtcDateTime.AddMinutes(at), [random.Next(90)]))]);
            await database.WriteAsync(batch, Cancel);
        }

        using (var changes = new WriteBatch(database.Options))
        {
            for (int i = 0; i < DocumentsPerDay; i += 3)
                changes.Put(Invariant($"d/{day}/{i}"), Json(i, i % 2 == 0 ? _clock.Now.AddDays(DaysKept) : null, random));
            for (int i = 1; i < DocumentsPerDay && day >= DaysKept; i += 2)
                changes.Delete(Invariant($"d/{day - DaysKept}/{i}"));
            await database.WriteAsync(changes, Cancel);
        }

        await database.Lifecycle.RunAsync(Cancel);
        await database.Compression.RunAsync(null, Cancel);
        await database.PurgeTombstonesAsync(database.LastEtag, Cancel);
    }

    private static byte[] Json(int number, DateTimeOffset? expires, Random random)
    {
        string time = expires is { } at
            ? Invariant($",\"@expires\":\"{at.UtcDateTime:yyyy-MM-ddTHH:mm:ss.fffffff}Z\"")
            : "";
        return Encoding.UTF8.GetBytes(Invariant(
            $"{{\"Number\":{number},\"Draw\":{random.Next()},\"Text\":\"{new string('t', random.Next(200, 800))}\",")
            + $"\"@metadata\":{{\"@collection\":\"Days\"{time}}}}}");
    }

    private static string Invariant(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
