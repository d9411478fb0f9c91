using Treepie.Bench.Measuring;
using Treepie.Bench.Suites.Kinds;
using Treepie.Bench.Suites.Reading;

namespace Treepie.Bench.Suites;

/// <summary>What lies beside documents, and how they are kept: time series, counters, revisions, compression, expiry.</summary>
internal sealed class KindsSuite : ISuite
{
    private const int EntriesOfAYear = 366 * 24 * 60;

    public string Name => "kinds";

    public string Question =>
        """
        What does data beside documents cost? *Time series*: a year with an entry per minute, from a stated seed: a sensor with
        one decimal, a random walk, and bursts every second with pauses. Appended in durable batches of 1,000; the size on disk
        when both engines have compacted; minimum, maximum, average and count by hour and by month, compared with an SQLite table
        `(series, time, value)` with that primary key and `group by`. The number of entries in the groups must be right.
        *Counters*: 100 clients, each increment durable, compared with SQLite's upsert. *Revisions*: puts of documents with and
        without. *Attachments*: uploads and downloads through the server, one after another, compared with the same bytes through
        a bare Kestrel. *Compression*: compressed documents compared with plain ones and SQLite (sizes without indexes,
        compacted). *Expiration*: documents that expire while others are written. And a year of churn.
        """.ReplaceLineEndings("\n");

    public async Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken)
    {
        var rows = new List<BenchRow>();
        foreach (MadeSeries series in MadeSeries.All(quick ? 5_000 : EntriesOfAYear))
        {
            progress.WriteLine($"kinds: {series.Name}");
            rows.AddRange(await SeriesRows.MeasureAsync(series, quick ? 1 : 11, cancellationToken));
        }

        foreach (int counters in (int[])[1, 10_000])
        {
            progress.WriteLine($"kinds: {counters} counters");
            rows.Add(await BesideRows.CountersAsync(counters, TimeSpan.FromSeconds(quick ? 0.2 : 10), cancellationToken));
        }

        progress.WriteLine("kinds: revisions");
        rows.AddRange(await BesideRows.RevisionsAsync(quick ? 1_000 : 50_000, cancellationToken));
        progress.WriteLine("kinds: attachments");
        rows.AddRange(
            await AttachmentRows.MeasureAsync(quick ? 1 : 5, (quick ? 1 : 256) * 1024 * 1024, cancellationToken));
        foreach (ReadSet set in (ReadSet[])[ReadSet.Films(new Movies(quick)), ReadSet.Made(quick ? 2_000 : 200_000)])
        {
            progress.WriteLine($"kinds: compression of {set.Name}");
            rows.AddRange(await CompressionRows.MeasureAsync(set, quick ? 1 : 5, cancellationToken));
        }

        progress.WriteLine("kinds: churn");
        rows.Add(await ChurnRows.MeasureAsync(quick ? 100 : 365, quick ? 3 : 200, cancellationToken));
        progress.WriteLine("kinds: expiry");
        rows.AddRange(await BesideRows.ExpiryAsync(quick ? 1_000 : 1_000_000, cancellationToken));
        return rows;
    }
}
