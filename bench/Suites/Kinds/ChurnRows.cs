using System.Globalization;
using System.Text;
using Treepie.Bench.Measuring;
using Treepie.Kinds;
using Treepie.Writes;

namespace Treepie.Bench.Suites.Kinds;

/// <summary>A year in which as much is deleted each day as comes, of every kind: how far the files grow.</summary>
internal static class ChurnRows
{
    private const int DaysKept = 30, BytesOfAttachment = 20_000;

    public static async Task<BenchRow> MeasureAsync(int days, int documents, CancellationToken cancellationToken)
    {
        using var files = new Scratch();
        var random = new Random(1);
        double settled = 0, last = 0;
        using Database database = Database.Open(Path.Combine(files.Path, "db"));
        await database.Revisions.ConfigureAsync(
            new RevisionsConfiguration { Default = new RevisionsRule { MinimumToKeep = 3, PurgeOnDelete = true } },
            cancellationToken);
        for (int day = 0; day < days; day++)
        {
            await LiveAsync(database, day, documents, random, cancellationToken);
            double size = files.SizeBytes / 1048576.0;
            if (day < 3 * DaysKept)
                settled = Math.Max(settled, size);
            if (day >= days - DaysKept)
                last = Math.Max(last, size);
        }

        return new BenchRow($"churn of {days} days, size at its end", "MiB", false, last)
        {
            Limit = settled,
            Goals = [Goal.AtMost(1.1)],
            Note = $"limit: its greatest size in the first {3 * DaysKept} days; each day {documents} documents with an attachment, a "
                + $"counter and a time series come, a third is changed, and those of {DaysKept} days before are deleted",
        };
    }

    private static async Task LiveAsync(
        Database database, int day, int documents, Random random, CancellationToken cancellationToken)
    {
        byte[] content = new byte[BytesOfAttachment];
        var start = new DateTime(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc);
        for (int i = 0; i < documents; i++)
        {
            random.NextBytes(content);
            await using AttachmentUpload upload = database.BeginUpload();
            await upload.WriteAsync(content, cancellationToken);
            await upload.CompleteAsync(cancellationToken);
            string id = Id(day, i);
            using var batch = new WriteBatch();
            batch.Put(id, Json(random)).PutAttachment(id, "a", "x/y", upload).IncrementCounter(id, "likes", i).TimeSeries(
                id, "heart",
                [.. Enumerable.Range(0, 100).Select(
                    at => new TimeSeriesPoint(start.AddDays(day).AddMinutes(at), [random.Next(90)]))]);
            await database.WriteAsync(batch, cancellationToken);
        }

        using var changes = new WriteBatch();
        for (int i = 0; i < documents; i += 3)
            changes.Put(Id(day, i), Json(random));
        for (int i = 0; i < documents && day >= DaysKept; i++)
            changes.Delete(Id(day - DaysKept, i));
        await database.WriteAsync(changes, cancellationToken);
        await database.PurgeTombstonesAsync(database.LastEtag, cancellationToken);
    }

    private static string Id(int day, int number) => string.Create(CultureInfo.InvariantCulture, $"d/{day}/{number}");

    private static byte[] Json(Random random) => Encoding.UTF8.GetBytes(
        $$$"""{"draw":{{{random.Next()}}},"text":"{{{new string('t', random.Next(200, 800))}}}","@metadata":{"@collection":"Days"}}""");
}
