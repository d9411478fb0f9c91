using System.Buffers.Binary;
using Treepie.Bench.Measuring;

namespace Treepie.Bench.Suites.Kinds;

/// <summary>Attachments up and down through the server, beside the same bytes through a Kestrel that keeps nothing.</summary>
internal static class AttachmentRows
{
    private const int KiB = 1024, MiB = 1024 * KiB;
    private const int SmallAnswerBytes = 100;
    private const string Document = "files/1";

    public static async Task<IReadOnlyList<BenchRow>> MeasureAsync(
        int rounds, int bytesPerRound, CancellationToken cancellationToken)
    {
        using var folder = new Scratch();
        await using ServerUnderTest server = await ServerUnderTest.StartAsync(folder.Path);
        var files = new HttpDatabase(server.Client, "bench");
        await files.CreateAsync(cancellationToken);
        await files.PutAsync(Document, "{}", cancellationToken);
        var rows = new List<BenchRow>();
        foreach ((string title, int bytes) in new[] { ("64 KiB", 64 * KiB), ("16 MiB", 16 * MiB) })
            rows.AddRange(
                await OfSizeAsync(files, title, bytes, rounds, Math.Max(1, bytesPerRound / bytes), cancellationToken));
        rows.Add(new BenchRow("attachments over HTTP, greatest memory of the server", "MiB", false, server.PeakResidentMiB));
        return rows;
    }

    private static async Task<IReadOnlyList<BenchRow>> OfSizeAsync(
        HttpDatabase files, string title, int bytes, int rounds, int calls, CancellationToken cancellationToken)
    {
        await using ServerUnderTest sink = await ServerUnderTest.StartLimitAsync(SmallAnswerBytes),
            source = await ServerUnderTest.StartLimitAsync(bytes);
        HttpDatabase up = new(sink.Client, "bench"), down = new(source.Client, "bench");
        byte[] content = new byte[bytes], buffer = new byte[64 * KiB];
        new Random(1).NextBytes(content);
        List<double> uploads = [], downloads = [], uploadLimits = [], downloadLimits = [];
        for (int round = -1; round < rounds; round++) // the first is not counted
        {
            int first = (round + 1) * calls;
            double upload = await RateAsync(i => UploadAsync(files, first + i)),
                uploadLimit = await RateAsync(i => UploadAsync(up, first + i)),
                download = await RateAsync(i => DownloadAsync(files, i)),
                downloadLimit = await RateAsync(i => DownloadAsync(down, i));
            if (round < 0)
                continue;
            uploads.Add(upload);
            uploadLimits.Add(uploadLimit);
            downloads.Add(download);
            downloadLimits.Add(downloadLimit);
        }

        return
        [
            Row("upload", uploads, uploadLimits) with
            {
                Note = "limit: the same bytes to a bare Kestrel, which keeps nothing; each upload is durable, and other content",
            },
            Row("download", downloads, downloadLimits) with { Note = "limit: the same bytes from the memory of a bare Kestrel" },
        ];

        BenchRow Row(string way, List<double> rates, List<double> limits) =>
            BenchRow.Of($"attachments of {title} over HTTP, {way}", "MiB/s", higherIsBetter: true, rates) with
            {
                Limit = Statistics.Median(limits),
                Goals = [new Goal(0.8, IsLimit: true)],
            };

        async Task<double> RateAsync(Func<int, Task> call)
        {
            double seconds = await Timing.SecondsAsync(async () =>
            {
                for (int i = 0; i < calls; i++)
                    await call(i);
            });
            return (double)calls * bytes / MiB / seconds;
        }

        Task UploadAsync(HttpDatabase database, int number)
        {
            BinaryPrimitives.WriteInt32LittleEndian(content, number); // equal contents are stored once
            return database.UploadAsync(Document, $"{bytes}-{number % calls}", content, cancellationToken);
        }

        async Task DownloadAsync(HttpDatabase database, int number)
        {
            long length = await database.DownloadAsync(Document, $"{bytes}-{number}", buffer, cancellationToken);
            if (length != bytes)
                throw new InvalidOperationException($"An attachment of {bytes} bytes came as {length}.");
        }
    }
}
