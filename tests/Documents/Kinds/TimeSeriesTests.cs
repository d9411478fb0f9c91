using System.Text;
using Treepie.Kinds;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Kinds;

public sealed class TimeSeriesTests : IDisposable
{
    private static readonly DateTime _start = new(2026, 1, 31, 12, 0, 0, DateTimeKind.Utc);

    private readonly TemporaryDirectory _directory = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Entries_come_back_in_order_with_values_and_tags()
    {
        await using Database database = await OpenAsync();
        await database.WriteAsync(
            new WriteBatch().TimeSeries(
                "d/1", "Heart",
                [Point(2, 7.5, "w/2"), Point(1, 60), new TimeSeriesPoint(
                    _start.AddTicks(3), [1, double.MinValue, double.Epsilon])]),
            Cancel);
        await database.WriteAsync(new WriteBatch().TimeSeries("D/1", "HEART", [Point(1, 61, "w/1")]), Cancel);
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.Equal(
            [$"{_start.AddTicks(3):O} 1,{double.MinValue},{double.Epsilon} ", $"{_start.AddMinutes(1):O} 61 w/1", $"{_start.AddMinutes(2):O} 7.5 w/2"],
            snapshot.TimeSeries("d/1", "heart").Select(Text));
        Assert.Equal(
            [new TimeSeriesStatistics("Heart", 3, _start.AddTicks(3), _start.AddMinutes(2))], snapshot.TimeSeriesOf("d/1"));
        Assert.True(snapshot.TryGet("d/1", out Document document));
        var output = new System.Buffers.ArrayBufferWriter<byte>();
        document.WriteTo(output);
        Assert.Contains(
            "\"@flags\":\"HasTimeSeries\",\"@timeseries\":[\"Heart\"]", Encoding.UTF8.GetString(output.WrittenSpan),
            StringComparison.Ordinal);
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task A_range_is_copied_to_another_series_whatever_its_length()
    {
        await using Database database = await OpenAsync();
        TimeSeriesPoint[] points = [.. Enumerable.Range(0, 25_000).Select(static i => Point(i, i, i % 7 == 0 ? "t/1" : null))];
        await database.WriteAsync(
            new WriteBatch().Put("d/2", "{}"u8)
                .TimeSeries("d/1", "A", points)
                .TimeSeries("d/2", "b", [Point(1, -1), Point(5, -5)]),
            Cancel);
        IReadOnlyList<WriteResult> results = await database.WriteAsync(
            new WriteBatch().CopyTimeSeries("D/1", "a", "d/2", "B", _start.AddMinutes(3), _start.AddMinutes(24_000)), Cancel);
        Assert.True(results[0].Beside is TimeSeriesResult { IsCopy: true, DocumentId: "d/2" });
        using (DatabaseSnapshot snapshot = database.BeginRead())
        {
            Assert.Equal(points.Select(Text), snapshot.TimeSeries("d/1", "A").Select(Text));
            Assert.Equal(
                [Text(Point(1, -1)), .. points[3..24_001].Select(Text)], snapshot.TimeSeries("d/2", "b").Select(Text));
        }

        // The whole series, to one of the same document that does not exist; one that does not exist, to nowhere.
        await database.WriteAsync(
            new WriteBatch().CopyTimeSeries("d/1", "A", "d/1", "New").CopyTimeSeries("d/1", "none", "d/1", "Nowhere"), Cancel);
        using (DatabaseSnapshot snapshot = database.BeginRead())
            Assert.Equal(
                [("A", 25_000L), ("New", 25_000L)],
                snapshot.TimeSeriesOf("d/1").Select(static one => (one.Name, one.Count)));
        KindInvariants.Check(database);
        foreach ((string from, string to) in ((string, string)[])[("d/1", "d/9"), ("d/9", "d/1")])
            await Assert.ThrowsAsync<DocumentNotFoundException>(
                () => database.WriteAsync(new WriteBatch().Put("d/3", "{}"u8).CopyTimeSeries(from, "A", to, "C"), Cancel));
        Assert.Throws<InvalidDocumentException>(
            () => new WriteBatch().CopyTimeSeries("d/1", "A", "d/2", "C", _start.AddDays(1), _start));
        Assert.Equal(2, database.GetStatistics().DocumentCount);
    }

    [Fact]
    public async Task A_copy_that_is_undone_and_runs_again_is_whole()
    {
        Database database = await OpenAsync();
        using (var batch = new WriteBatch())
        {
            batch.TimeSeries("d/1", "a", [.. Enumerable.Range(0, 25_000).Select(i => Point(i, i))]);
            await database.WriteAsync(batch, Cancel);
        }

        byte[] id = "d/1"u8.ToArray();
        var copy = new TimeSeriesCopyCommand(("d/1", id, "a"), ("d/1", id, "b"u8.ToArray()), _start, DateTime.MaxValue);
        Assert.Throws<TimeoutException>(() => database.Write<bool>(writer =>
        {
            copy.Apply(writer);
            throw new TimeoutException("It is undone.");
        }));
        database.Write(writer =>
        {
            copy.Apply(writer);
            writer.Save();
            return true;
        });
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.Equal([("a", 25_000L), ("b", 25_000L)], snapshot.TimeSeriesOf("d/1").Select(static one => (one.Name, one.Count)));
    }

    [Fact]
    public async Task Random_work_agrees_with_sorted_maps()
    {
        var random = new Random(Seed.Next());
        var series = new SortedDictionary<string, SortedDictionary<DateTime, TimeSeriesPoint>>(StringComparer.Ordinal)
        {
            ["a"] = [],
            ["b"] = [],
            ["inc:c"] = []
        };
        Database database = await OpenAsync();
        for (int step = 0; step < 150; step++)
        {
            string name = series.Keys.ElementAt(random.Next(3));
            SortedDictionary<DateTime, TimeSeriesPoint> known = series[name];
            int from = random.Next(20_000), length = random.Next(3) == 0 ? random.Next(3000) : random.Next(20);
            using var batch = new WriteBatch();
            switch (random.Next(7))
            {
                case 0:
                    (DateTime begin, DateTime end) = (_start.AddSeconds(from), _start.AddSeconds(from + (length * 2)));
                    batch.TimeSeries("d/1", name, [], [(begin, end)]);
                    foreach (DateTime gone in known.Keys.Where(time => time >= begin && time <= end).ToList())
                        known.Remove(gone);
                    break;
                case 1 when random.Next(8) == 0:
                    batch.Delete("d/1").Put("d/1", "{}"u8);
                    foreach (SortedDictionary<DateTime, TimeSeriesPoint> each in series.Values)
                        each.Clear();
                    break;
                default:
                    var points = new List<TimeSeriesPoint>();
                    for (int i = 0; i < length; i++)
                    {
                        double[] values = [
                            .. Enumerable.Range(0, random.Next(1, 4))
                                .Select(_ => random.Next(3) == 0 ? random.NextDouble() : random.Next(100))];
                        points.Add(
                            new TimeSeriesPoint(
                                _start.AddSeconds(from + random.Next(2 * length)).AddTicks(random.Next(20) == 0 ? 7 : 0), values,
                                random.Next(3) == 0 ? $"tag/{random.Next(400)}" : null));
                    }

                    foreach (TimeSeriesPoint point in points)
                        known[point.Timestamp] = name == "inc:c"
                            && known.TryGetValue(point.Timestamp, out TimeSeriesPoint? before) ? Sum(before, point) : point;
                    batch.TimeSeries("D/1", name.ToUpperInvariant(), points);
                    break;
            }

            await database.WriteAsync(batch, Cancel);
            if (step % 25 == 24)
            {
                Compare(database, series, random);
                await database.DisposeAsync();
                database = Database.Open(Path.Combine(_directory.Path, "data"));
            }
        }

        Compare(database, series, random);
        KindInvariants.Check(database);
        await database.DisposeAsync();
    }

    [Fact]
    public async Task Regular_series_take_few_bytes_and_segments_know_their_aggregates()
    {
        await using Database database = await OpenAsync();
        const int Points = 50_000;
        await database.WriteAsync(
            new WriteBatch().TimeSeries(
                "d/1", "s",
                [.. Enumerable.Range(0, Points)
                    .Select(static i => new TimeSeriesPoint(_start.AddSeconds(i * 10), [20 + (i / 100 % 10)]))]),
            Cancel);
        using DatabaseSnapshot snapshot = database.BeginRead();
        long bytes = 0, count = 0;
        double sum = 0;
        foreach (byte[] key in snapshot.Kinds.Segments(KindKey.TimeSeriesPrefix("d/1"u8, "s"u8)))
        {
            ReadOnlySpan<byte> value = snapshot.Kinds.RecordOf(key).Value;
            bytes += value.Length;
            var segment = new TimeSeriesSegment(value);
            (int number, double min, double max, double total, double first, double last) = segment.Aggregate(0);
            List<double> values = [.. segment.Unpack().Select(static point => point.Values[0])];
            Assert.Equal(
                (values.Count, values.Min(), values.Max(), values.Sum(), values[0], values[^1]),
                (number, min, max, total, first, last));
            Assert.InRange(value.Length, 1, 2500);
            count += number;
            sum += total;
        }

        Assert.Equal(Points, count);
        Assert.InRange(bytes, 1, Points); // below a byte a point
    }

    [Fact]
    public async Task What_cannot_be_is_refused_and_nothing_changes()
    {
        await using Database database = await OpenAsync();
        long etag = database.LastEtag;
        using var batch = new WriteBatch();
        foreach (TimeSeriesPoint point in (TimeSeriesPoint[])
        [
            Point(1, double.NaN), Point(1, double.PositiveInfinity), new(_start, []), new(_start, new double[33]),
            Point(1, 1, new string('x', 256))
        ])
            Assert.Throws<InvalidDocumentException>(() => batch.TimeSeries("d/1", "s", [point]));
        Assert.Throws<InvalidDocumentException>(() => batch.TimeSeries("d/1", "", [Point(1, 1)]));
        Assert.Throws<InvalidDocumentException>(() => batch.TimeSeries("d/1", new string('x', 513), [Point(1, 1)]));
        Assert.Throws<InvalidDocumentException>(() => batch.TimeSeries("d/1", "a\0b", [Point(1, 1)]));
        Assert.Throws<InvalidDocumentException>(() => batch.TimeSeries("d/1", "s", [], [(_start, _start.AddTicks(-1))]));
        Assert.Equal(0, batch.Count);
        await Assert.ThrowsAsync<DocumentNotFoundException>(
            () => database.WriteAsync(new WriteBatch().Put("d/3", "{}"u8).TimeSeries("d/2", "s", [Point(1, 1)]), Cancel));
        Assert.Equal(etag, database.LastEtag);
    }

    [Fact]
    public async Task Backups_bring_them_back()
    {
        using var backup = new MemoryStream();
        List<string> expected;
        await using (Database database = await OpenAsync())
        {
            await database.WriteAsync(
                new WriteBatch().TimeSeries(
                    "d/1", "Prices", [.. Enumerable.Range(0, 5000).Select(static i => Point(i, Math.Sin(i), $"t/{i % 7}"))]),
                Cancel);
            await database.BackupAsync(backup, cancellationToken: Cancel);
            expected = All(database);
        }

        backup.Position = 0;
        string restored = Path.Combine(_directory.Path, "restored");
        await Database.RestoreAsync(backup, restored, cancellationToken: Cancel);
        await using (Database database = Database.Open(restored))
        {
            Assert.Equal(expected, All(database));
            KindInvariants.Check(database);
        }

        backup.Position = 0;
        await using Database imported = Database.Open(Path.Combine(_directory.Path, "imported"));
        await imported.ImportAsync(backup, cancellationToken: Cancel);
        Assert.Equal(expected, All(imported));
        KindInvariants.Check(imported);
    }

    private static List<string> All(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return [.. snapshot.TimeSeries("d/1", "prices").Select(Text)];
    }

    private static void Compare(
        Database database, SortedDictionary<string, SortedDictionary<DateTime, TimeSeriesPoint>> series, Random random)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        foreach ((string name, SortedDictionary<DateTime, TimeSeriesPoint> known) in series)
        {
            Assert.Equal(known.Values.Select(Text), snapshot.TimeSeries("d/1", name).Select(Text));
            (DateTime from, DateTime to) = (_start.AddSeconds(random.Next(20_000)), _start.AddSeconds(random.Next(40_000)));
            Assert.Equal(
                known.Values.Where(point => point.Timestamp >= from && point.Timestamp <= to).Select(Text),
                snapshot.TimeSeries("d/1", name, from, to).Select(Text));
        }

        Assert.Equal(
            series.Where(static pair => pair.Value.Count > 0)
                .Select(static pair => (pair.Key, (long)pair.Value.Count, pair.Value.Keys.First(), pair.Value.Keys.Last())),
            snapshot.TimeSeriesOf("d/1")
                .Select(static found => (found.Name.ToLowerInvariant(), found.Count, found.First, found.Last)));
    }

    private static TimeSeriesPoint Sum(TimeSeriesPoint one, TimeSeriesPoint other) => new(
        one.Timestamp,
        [.. Enumerable.Range(0, Math.Max(one.Values.Count, other.Values.Count))
            .Select(i => one.Values.ElementAtOrDefault(i) + other.Values.ElementAtOrDefault(i))],
        other.Tag ?? one.Tag);

    private static TimeSeriesPoint Point(int minutes, double value, string? tag = null) =>
        new(_start.AddMinutes(minutes), [value], tag);

    private static string Text(TimeSeriesPoint point) => $"{point.Timestamp:O} {string.Join(",", point.Values)} {point.Tag}";

    private async Task<Database> OpenAsync()
    {
        Database database = Database.Open(Path.Combine(_directory.Path, "data"));
        await database.WriteAsync(new WriteBatch().Put("d/1", "{}"u8), Cancel);
        return database;
    }
}
