using System.Linq.Expressions;
using Treepie.Linq;
using Treepie.Sessions;
using Treepie.Tests.Support;
using static Treepie.Documents.Tests.Linq.ParcelValues;

namespace Treepie.Documents.Tests.Linq;

#pragma warning disable CA1309, CA1854 // it is what people write

/// <summary>
/// Conditions, orders, projections and groups over members of every kind give what the same LINQ gives over objects in memory,
/// or are refused.
/// </summary>
public sealed class LinqKindsTests : IDisposable
{
    /// <summary>Short in the run of every change; TREEPIE_ROUNDS makes it longer.</summary>
    private static readonly int _rounds = int.TryParse(Environment.GetEnvironmentVariable("TREEPIE_ROUNDS"), out int rounds)
        ? rounds
        : 2;

    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;

    public LinqKindsTests() => _database = Database.Open(_directory.Path);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _database.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task Conditions_on_members_of_every_kind_mean_what_they_mean_in_memory()
    {
        var random = new Random(Seed.Next());
        List<Parcel> all = await Fill(random, 100);
        var faults = new List<string>();
        for (int round = 0; round < _rounds; round++)
        {
            foreach (Expression<Func<Parcel, bool>> leaf in Leaves(random).Concat(Compared()))
            {
                foreach (Expression<Func<Parcel, bool>> condition in new[] { leaf, Negated(leaf) })
                {
                    await CompareAsync(all, condition, query => query.Where(condition), faults);
                    await CompareAsync(all, condition, query => query.Filter(condition), faults);
                }
            }

        }

        Assert.Empty(faults);
    }

    [Fact]
    public void What_is_stored_as_text_of_another_order_is_refused()
    {
        TimeSpan span = TimeSpan.FromDays(1);
        Expression<Func<Parcel, bool>>[] refused =
        [
            p => p.Takes > span,
            p => p.Waits <= span,
            p => p.Boxes.Any(b => b.Takes >= TimeSpan.Zero && b.Takes <= span),
            p => p.Boxes.Select(b => b.Label).First() == "a",
            p => p.Id > 4,
        ];
        using DocumentSession session = _database.OpenSession();
        foreach (Expression<Func<Parcel, bool>> condition in refused)
        {
            Assert.Throws<NotSupportedException>(() => session.Query<Parcel>().Where(condition).ToRql());
            Assert.Throws<NotSupportedException>(() => session.Query<Parcel>().Filter(condition).ToRql());
        }

        Assert.Throws<NotSupportedException>(() => session.Query<Parcel>().OrderBy(p => p.Waits).ToRql());
        Assert.Throws<NotSupportedException>(() => session.Query<Parcel>().OrderBy(p => p.Former).ToRql());
        Assert.Throws<NotSupportedException>(
            () => session.Query<Parcel>().GroupBy(p => p.At).Select(g => new { g.Key, Count = g.Count() }).ToRql());
    }

    [Fact]
    public async Task Orders_by_members_of_every_kind_are_those_in_memory()
    {
        var random = new Random(Seed.Next());
        List<Parcel> all = await Fill(random, 100);
        async Task Order<TKey>(Expression<Func<Parcel, TKey>> key)
        {
            using DocumentSession session = _database.OpenSession();
            Func<Parcel, TKey> of = key.Compile();
            Assert.Equal(
                all.Select(of).OrderBy(k => k), (await session.Query<Parcel>().OrderBy(key).ToListAsync(Token)).Select(of));
            Assert.Equal(
                all.Select(of).OrderByDescending(k => k),
                (await session.Query<Parcel>().OrderByDescending(key).ToListAsync(Token)).Select(of));
        }

        await Order(p => p.Id);
        await Order(p => p.At);
        await Order(p => p.Until);
        await Order(p => p.Utc);
        await Order(p => p.Seen);
        await Order(p => p.Day);
        await Order(p => p.Due);
        await Order(p => p.Hour);
        await Order(p => p.Closes);
        await Order(p => p.Owner);
        await Order(p => p.Agent);
        await Order(p => p.Price);
        await Order(p => p.Discount);
        await Order(p => p.Serial);
        await Order(p => p.Count);
        await Order(p => p.Small);
        await Order(p => p.Tiny);
        await Order(p => p.Ratio);
        await Order(p => p.Weight);
        await Order(p => p.IsFragile);
        await Order(p => p.Utc.Month);
        await Order(p => p.Utc.DayOfWeek);
        await Order(p => p.At.Hour);
        await Order(p => p.Day.DayOfYear);
        await Order(p => p.Boxes.Count);

        // characters are sorted as texts, without case
        using DocumentSession session = _database.OpenSession();
        Assert.Equal(
            all.Select(p => char.ToLowerInvariant(p.Letter)).Order(),
            (await session.Query<Parcel>().OrderBy(p => p.Letter).ToListAsync(Token))
                .Select(p => char.ToLowerInvariant(p.Letter)));
    }

    [Fact]
    public async Task Orders_by_ids_that_are_numbers_know_negative_ones()
    {
        int[] ids = [-1, -5, 3, -10, 20, -2147483648, 1];
        using DocumentSession session = _database.OpenSession();
        foreach (int id in ids)
            session.Store(new Parcel { Id = id });
        await session.SaveChangesAsync(Token);
        Assert.Equal(
            ids.Order(), (await session.Query<Parcel>().OrderBy(p => p.Id).ToListAsync(Token)).Select(p => p.Id));
        Assert.Equal(
            ids.OrderDescending(),
            (await session.Query<Parcel>().OrderByDescending(p => p.Id).ToListAsync(Token)).Select(p => p.Id));
    }

    [Fact]
    public void Sums_of_what_is_stored_as_text_are_refused()
    {
        using DocumentSession session = _database.OpenSession();
        GroupQuery<byte, Parcel> groups = session.Query<Parcel>().GroupBy(p => p.Tiny);
        Assert.Throws<NotSupportedException>(() => groups.Select(g => g.Sum(p => (int)p.Letter)).ToRql());
        Assert.Throws<NotSupportedException>(() => groups.Select(g => g.Sum(p => (int)p.Kind)).ToRql());
        Assert.Throws<NotSupportedException>(() => groups.Select(g => g.Sum(p => p.Id)).ToRql());
        Assert.Throws<NotSupportedException>(() => groups.Select(g => g.Average(p => (int)p.Letter)).ToRql());
        FacetQuery<Parcel> facets = session.Query<Parcel>().AggregateBy(p => p.Tiny);
        Assert.Throws<NotSupportedException>(() => facets.SumOn(p => p.Letter).ToRql());
        Assert.Throws<NotSupportedException>(() => facets.AverageOn(p => p.Kind).ToRql());
        Assert.Contains("sum(Discount)", facets.SumOn(p => p.Discount).ToRql().Text, StringComparison.Ordinal);
        Assert.Throws<NotSupportedException>(() => session.Query<Parcel>().OrderBy(p => (int)p.Letter).ToRql());
        Assert.Throws<NotSupportedException>(() => session.Query<Parcel>().Filter(p => p.Letter > p.Small).ToRql());
    }

    [Fact]
    public async Task Rows_of_members_of_every_kind_are_those_in_memory()
    {
        var random = new Random(Seed.Next());
        List<Parcel> all = await Fill(random, 60);
        async Task Select<TRow>(Expression<Func<Parcel, TRow>> row)
        {
            using DocumentSession session = _database.OpenSession();
            Assert.Equal(
                all.OrderBy(p => p.Count).Select(row.Compile()),
                await session.Query<Parcel>().OrderBy(p => p.Count).Select(row).ToListAsync(Token));
        }

        await Select(p => new { p.Id, p.Name, p.Kind, p.Former, p.At, p.Until, p.Utc, p.Seen });
        await Select(p => new { p.Day, p.Due, p.Hour, p.Closes, p.Takes, p.Waits, p.Owner, p.Agent });
        await Select(p => new { p.Price, p.Discount, p.Serial, p.Big, p.Count, p.Small, p.Tiny, p.Ratio, p.Weight, p.Letter });
        await Select(
            p => new { F = p.IsFragile ?? false, W = p.Weight ?? -1, D = p.Discount.GetValueOrDefault(), N = p.Name ?? "-" });
        await Select(
            p => new
            {
                Sum = (p.Price * 0) + (p.Discount ?? 0),
                Next = unchecked(p.Serial + 1),
                Big = unchecked(p.Big * 2),
                C = p.Count + 1
            });
        await Select(
            p => new
            {
                Text = $"{p.Id}:{p.Name}:{p.Day}:{p.Takes}:{p.IsFragile}",
                Long = p.Name == null ? 0 : p.Name.Length,
                p.At.Year,
                p.Day.Month
            });
        await Select(
            p => new
            {
                Label = p.Box == null ? null : p.Box.Label,
                B = p.Boxes.Count,
                Max = p.Boxes.Max(b => b.Worth),
                First = p.Boxes.Select(b => b.Label).FirstOrDefault()
            });
        await Select(p => p.Box);
        await Select(p => p.Owners.Count);
        await Select(p => (int)p.Kind);
        await Select(p => p.Former == null ? "-" : p.Former.ToString());
        await Select(p => p.Kind == ParcelKind.Heavy ? p.Takes + p.Takes : TimeSpan.Zero);
        await Select(p => p.At - p.Takes);
        await Select(p => (p.Tiny & 3) | (p.Small << 2));
        await Select(p => p.Ratio * 2 + (float)p.Tiny);
        await Select(p => -p.Small);
        await Select(p => p.Letter + "!");
        await Select(p => new ParcelBox(p.Name ?? "", p.Day) { Seal = p.Agent, Worth = p.Discount });
        await Select(p => p.Lists.ContainsKey("a") ? p.Lists["a"].Sum() : -1);
        await Select(p => p.Nested.ContainsKey("a") ? p.Nested["a"].Count : -1);
        await Select(
            p => p.Boxes.Where(b => b.Kind == ParcelKind.Heavy).OrderBy(b => b.Packed).Select(b => b.Label).FirstOrDefault());
        await Select(p => p.Boxes.Any(b => b.IsFull == true));
        await Select(p => p.Boxes.Sum(b => b.Worth));
        await Select(p => p.Boxes.Average(b => b.Worth));
        await Select(p => p.Boxes.Sum(b => b.Ratio));
    }

    [Fact]
    public async Task Groups_have_the_least_and_greatest_values_that_they_have_in_memory()
    {
        var random = new Random(Seed.Next());
        List<Parcel> all = await Fill(random, 100);
        for (int round = 0; round < 3; round++)
        {
            using DocumentSession session = _database.OpenSession();
            IDocumentQueryable<GroupRow> query = session.Query<Parcel>()
                .GroupBy(p => p.Tiny)
                .Select(
                    g => new GroupRow(
                        g.Key, g.Count(), g.Min(p => p.Price), g.Max(p => p.Price), g.Min(p => p.Discount), g.Max(p => p.Serial),
                        g.Min(p => p.Serial), g.Max(p => p.Ratio), g.Min(p => p.Seen), g.Max(p => p.Day), g.Min(p => p.Hour),
                        g.Max(p => p.Small) - g.Min(p => p.Small)));
            List<GroupRow> expected = [
                .. all.GroupBy(p => p.Tiny)
                    .Select(
                        g => new GroupRow(
                            g.Key, g.Count(), g.Min(p => p.Price), g.Max(p => p.Price), g.Min(p => p.Discount),
                            g.Max(p => p.Serial), g.Min(p => p.Serial), g.Max(p => p.Ratio), g.Min(p => p.Seen),
                            g.Max(p => p.Day), g.Min(p => p.Hour), g.Max(p => p.Small) - g.Min(p => p.Small)))];
            Assert.Equal(expected.OrderBy(row => row.Key), (await query.ToListAsync(Token)).OrderBy(row => row.Key));
            Assert.Equal(
                expected.Select(row => row.Earliest).Order(),
                (await query.OrderBy(row => row.Earliest).ToListAsync(Token)).Select(row => row.Earliest));
            Assert.Equal(
                expected.Select(row => row.Least).OrderDescending(),
                (await query.OrderByDescending(row => row.Least).ToListAsync(Token)).Select(row => row.Least));
            Assert.Equal(
                expected.Count(row => row.Greatest > 1),
                (await query.Where(row => row.Greatest > 1).ToListAsync(Token)).Count);

            // what was least and greatest goes, and the groups know the next
            foreach (Parcel gone in all.OrderBy(p => p.Price).ThenBy(p => p.Serial).Take(20).ToList())
            {
                all.Remove(gone);
                session.Delete($"parcels/{gone.Id}");
            }

            await session.SaveChangesAsync(Token);
        }
    }

    [Fact]
    public void Groups_refuse_least_and_greatest_values_of_what_sorts_otherwise_as_text()
    {
        using DocumentSession session = _database.OpenSession();
        GroupQuery<byte, Parcel> groups = session.Query<Parcel>().GroupBy(p => p.Tiny);
        Assert.Throws<NotSupportedException>(() => groups.Select(g => g.Min(p => p.Name)).ToRql());
        Assert.Throws<NotSupportedException>(() => groups.Select(g => g.Max(p => p.Kind)).ToRql());
        Assert.Throws<NotSupportedException>(() => groups.Select(g => g.Max(p => p.Takes)).ToRql());
        Assert.Throws<NotSupportedException>(() => groups.Select(g => g.Max(p => p.Id)).ToRql());
        Assert.Contains(
            "UtcDateTime", Assert.Throws<NotSupportedException>(() => groups.Select(g => g.Max(p => p.At)).ToRql()).Message,
            StringComparison.Ordinal);
    }

    private async Task CompareAsync(
        List<Parcel> all, Expression<Func<Parcel, bool>> condition,
        Func<IDocumentQueryable<Parcel>, IDocumentQueryable<Parcel>> ask, List<string> faults)
    {
        using DocumentSession session = _database.OpenSession();
        IDocumentQueryable<Parcel> query = ask(session.Query<Parcel>());
        int[] found = [.. (await query.ToListAsync(Token)).Select(p => p.Id).Order()];
        int[] expected = [.. all.Where(condition.Compile()).Select(p => p.Id).Order()];
        if (!found.SequenceEqual(expected))
            faults.Add($"{condition}\n{query}\n{found.Length} for {expected.Length}");
    }

    private static Expression<Func<Parcel, bool>> Negated(Expression<Func<Parcel, bool>> condition) =>
        Expression.Lambda<Func<Parcel, bool>>(Expression.Not(condition.Body), condition.Parameters);

    private async Task<List<Parcel>> Fill(Random random, int count)
    {
        var all = new List<Parcel>();
        using DocumentSession session = _database.OpenSession();
        T? Maybe<T>(T value)
            where T : struct => random.Next(4) == 0 ? null : value;
        for (int i = 0; i < count; i++)
        {
            all.Add(
                new Parcel
                {
                    Id = i < 20 ? i + 1 : i * 7,
                    Name = random.Next(6) == 0 ? null : Pick(random, Words),
                    Kind = Kind(random),
                    Former = Maybe(Kind(random)),
                    At = Moment(random),
                    Until = Maybe(Moment(random)),
                    Utc = DateTime.SpecifyKind(Moment(random).UtcDateTime, DateTimeKind.Utc),
                    Seen = Maybe(Moment(random).DateTime),
                    Day = Day(random),
                    Due = Maybe(Day(random)),
                    Hour = Hour(random),
                    Closes = Maybe(Hour(random)),
                    Takes = Span(random),
                    Waits = Maybe(Span(random)),
                    Owner = Pick(random, Guids),
                    Agent = Maybe(Pick(random, Guids)),
                    Price = Pick(random, Prices),
                    Discount = Maybe(Pick(random, Prices)),
                    Serial = Pick(random, Serials),
                    Big = unchecked((ulong)Pick(random, Serials)),
                    Count = (uint)i,
                    Small = (short)random.Next(-5, 5),
                    Tiny = (byte)random.Next(4),
                    Ratio = Real(random),
                    Weight = Maybe((double)Real(random)),
                    Letter = "aAzB\"é"[random.Next(6)],
                    IsFragile = Maybe(random.Next(2) == 0),
                    Nested = random.Next(3) == 0 ? [] : new() { ["a"] = new() { ["b"] = random.Next(5), ["O'x"] = 3 } },
                    ByKind = random.Next(2) == 0 ? [] : new() { [Kind(random)] = random.Next(5) },
                    ByOwner = random.Next(2) == 0 ? [] : new() { [Pick(random, Guids)] = Pick(random, Words) },
                    Lists = random.Next(2) == 0 ? [] : new() { ["a"] = [random.Next(4), random.Next(4)] },
                    Box = random.Next(4) == 0 ? null : Box(random),
                    Boxes = [.. Enumerable.Range(0, random.Next(3)).Select(_ => Box(random))],
                    Labels = [
                        .. Enumerable.Range(0, random.Next(3))
                            .Select(_ => random.Next(4) == 0 ? null : Pick(random, Words))],
                    Owners = [.. Enumerable.Range(0, random.Next(3)).Select(_ => Pick(random, Guids))],
                    Kinds = [.. Enumerable.Range(0, random.Next(3)).Select(_ => Kind(random))],
                });
            session.Store(all[^1]);
        }

        await session.SaveChangesAsync(Token);
        return all;
    }

    private static Expression<Func<Parcel, bool>>[] Leaves(Random random)
    {
        string word = Pick(random, Words), part = word.Length > 2 ? word[1..^1] : word;
        string?[] words = [word, null, Pick(random, Words)];
        ParcelKind kind = Kind(random);
        ParcelKind? maybeKind = random.Next(4) == 0 ? null : kind;
        ParcelKind[] kinds = [kind, Kind(random)];
        ParcelKind?[] maybeKinds = [kind, null];
        DateTimeOffset at = Moment(random);
        DateTimeOffset[] moments = [at, at.AddMinutes(1)];
        DateTime utc = at.UtcDateTime, plain = at.DateTime;
        DateOnly day = Day(random), laterDay = day.AddDays(random.Next(9));
        TimeOnly hour = Hour(random);
        TimeSpan span = Span(random);
        Guid owner = Pick(random, Guids);
        Guid? agent = random.Next(4) == 0 ? null : owner;
        decimal price = Pick(random, Prices), worth = random.Next(100) / 10m;
        long serial = Pick(random, Serials);
        ulong big = unchecked((ulong)serial);
        float ratio = Real(random);
        double weight = ratio;
        int number = random.Next(-5, 6), other = number + random.Next(3), id = random.Next(30);
        short small = (short)number;
        char letter = "aAzB\"é"[random.Next(6)];
        bool? maybe = random.Next(3) switch { 0 => null, 1 => true, _ => false };
        int[] ids = [id, 1, 3];
        char[] letters = [letter, 'B'];
        double[] reals = [0.1, 0.5, weight];
        Dictionary<string, int> known = new() { [word] = 1, ["ash"] = 2 };
        return
        [
            p => p.Name != null && known.Keys.Contains(p.Name),
            p => letters.Contains(p.Letter),
            p => p.Letter > letter,
            p => p.Letter <= 'B',
            p => (int)p.Letter >= 'a',
            p => p.Boxes.Any(b => b.Ratio != 0.1),
            p => p.Boxes.Any(b => b.Ratio != weight),
            p => reals.Contains(p.Ratio),
            p => p.Id == id,
            p => p.Id != id,
            p => ids.Contains(p.Id),
            p => p.Id.In(1, 2, 3),
            p => p.Name == word,
            p => p.Name != word,
            p => words.Contains(p.Name),
            p => p.Name != null && p.Name.StartsWith(word, StringComparison.OrdinalIgnoreCase),
            p => p.Name != null && p.Name.EndsWith(word, StringComparison.OrdinalIgnoreCase),
            p => p.Name != null && p.Name.Contains(part, StringComparison.OrdinalIgnoreCase),
            p => p.Name != null && p.Name.Contains(part, StringComparison.Ordinal),
            p => p.Name != null && p.Name.Equals(word, StringComparison.Ordinal),
            p => string.Equals(p.Name, word),
            p => word == p.Name,
            p => (p.Name ?? "") == word,
            p => p.Name != null && string.CompareOrdinal(p.Name, word) >= 0,
            p => p.Kind == kind,
            p => p.Kind != kind,
            p => p.Kind > kind,
            p => kind <= p.Kind,
            p => (int)p.Kind > number,
            p => kinds.Contains(p.Kind),
            p => p.Former == maybeKind,
            p => p.Former != maybeKind,
            p => p.Former > maybeKind,
            p => p.Former <= kind,
            p => p.Former.HasValue && p.Former.Value == kind,
            p => maybeKinds.Contains(p.Former),
            p => p.At == at,
            p => p.At == at.ToOffset(TimeSpan.FromHours(3)),
            p => p.At != at,
            p => p.At < at,
            p => p.At >= at && p.At < at.AddHours(5),
            p => moments.Contains(p.At),
            p => p.Until == at,
            p => p.Until != at,
            p => p.Until == null,
            p => p.Until > at,
            p => p.Boxes.Any(b => b.At > at),
            p => p.Boxes.Any(b => b.At >= at && b.At <= at.AddHours(9)),
            p => p.Utc == utc,
            p => p.Utc < utc,
            p => p.Utc >= utc && p.Utc < utc.AddHours(3),
            p => p.Utc.Date == utc.Date,
            p => p.Utc > plain,
            p => p.Seen < plain,
            p => p.Seen == null || p.Seen.Value.Year > 2023,
            p => p.Seen != null && p.Seen.Value.Date >= plain.Date,
            p => p.Day == day,
            p => p.Day < day,
            p => p.Day >= day && p.Day <= laterDay,
            p => p.Day.Year == 2024,
            p => p.Due == day,
            p => p.Due != day,
            p => p.Due > day,
            p => p.Hour == hour,
            p => p.Hour > hour,
            p => p.Closes <= hour,
            p => p.Takes == span,
            p => p.Waits != span,
            p => p.Owner == owner,
            p => p.Owner != owner,
            p => p.Agent == agent,
            p => p.Agent != agent,
            p => p.Agent.HasValue && p.Agent.Value.Equals(owner),
            p => p.Owner.CompareTo(owner) > 0,
            p => p.Price == price,
            p => p.Price != price,
            p => p.Price > price,
            p => p.Price <= price,
            p => p.Discount == price,
            p => p.Discount < price,
            p => (p.Discount ?? 0) > price,
            p => p.Discount.GetValueOrDefault() == price,
            p => p.Serial == serial,
            p => p.Serial != serial,
            p => p.Serial > serial,
            p => p.Serial <= serial,
            p => p.Big == big,
            p => p.Big > big,
            p => p.Count > id,
            p => p.Small == small,
            p => p.Small < number,
            p => p.Tiny == 2,
            p => p.Tiny >= 1 && p.Tiny < 3,
            p => p.Ratio == ratio,
            p => p.Ratio > ratio,
            p => p.Ratio > weight,
            p => p.Weight == weight,
            p => p.Weight != weight,
            p => p.Weight >= weight,
            p => p.Letter == letter,
            p => p.Letter != letter,
            p => p.Letter.Equals(letter),
            p => p.IsFragile == maybe,
            p => p.IsFragile != maybe,
            p => p.IsFragile == true,
            p => p.IsFragile != true,
            p => p.IsFragile ?? false,
            p => p.IsFragile.HasValue && !p.IsFragile.Value,
            p => p.IsFragile.GetValueOrDefault(),
            p => p.Nested.ContainsKey("a"),
            p => p.Nested.ContainsKey("a") && p.Nested["a"]["b"] > number,
            p => p.Nested.ContainsKey("a") && p.Nested["a"].ContainsKey("O'x"),
            p => p.Nested.ContainsKey("a") && p.Nested["a"]["O'x"] == 3,
            p => p.ByKind.ContainsKey(kind),
            p => p.ByKind.ContainsKey(kind) && p.ByKind[kind] > 2,
            p => p.ByOwner.ContainsKey(owner),
            p => p.ByOwner.ContainsKey(owner) && p.ByOwner[owner] == word,
            p => p.Lists.ContainsKey("a") && p.Lists["a"].Contains(2),
            p => p.Lists.ContainsKey("a") && p.Lists["a"].Any(n => n > 1 && n < 4),
            p => p.ByKind.Keys.Contains(kind),
            p => p.Labels.ContainsAll(words),
            p => p.Boxes.Any(b => (b.Worth ?? 5) > worth),
            p => p.Boxes.Any(b => b.IsFull ?? true),
            p => p.Boxes.Any(b => b.Ratio > 0.1 && b.Ratio < weight),
            p => p.Ratio < 0.1,
            p => p.Ratio >= 0.1,
            p => p.Ratio == 0.1,
            p => p.Letter.Equals('z') || (p.Letter == 'é' && p.Tiny > 1),
            p => p.Name != null && string.Compare(p.Name, word, StringComparison.Ordinal) < 0,
            p => (p.Seen ?? plain) >= plain,
            p => (p.Former ?? ParcelKind.Heavy) == kind,
            p => !(p.IsFragile ?? true) && p.Tiny < 3,
            p => p.Box == null,
            p => p.Box != null && p.Box.Label == word,
            p => p.Box != null && p.Box.Packed < day,
            p => p.Box != null && p.Box.Seal == agent,
            p => p.Box != null && p.Box.Worth > worth,
            p => p.Box != null && p.Box.Kind >= kind,
            p => p.Boxes.Any(b => b.Label == word),
            p => p.Boxes.Any(b => b.Packed >= day && b.Packed <= laterDay),
            p => p.Boxes.Any(b => b.Packed > day && b.Packed < laterDay),
            p => p.Boxes.Any(b => b.Worth > worth && b.Worth < worth + 3),
            p => p.Boxes.Any(b => b.Worth >= worth && b.Worth <= worth + 3),
            p => p.Boxes.Any(b => b.Ratio > ratio && b.Ratio < ratio + 2),
            p => p.Boxes.Any(b => b.Ratio >= ratio && b.Ratio <= ratio + 2),
            p => p.Boxes.Any(b => b.Kind >= ParcelKind.Small && b.Kind <= kind),
            p => p.Boxes.Any(b => b.Kind == kind),
            p => p.Boxes.Any(b => b.Kind != kind),
            p => p.Boxes.Any(b => b.Kind == null),
            p => p.Boxes.Any(b => b.Seal == agent),
            p => p.Boxes.Any(b => b.Seal != agent),
            p => p.Boxes.Any(b => b.IsFull == maybe),
            p => p.Boxes.Any(b => b.IsFull != true),
            p => p.Boxes.All(b => b.IsFull == true),
            p => p.Boxes.All(b => b.Worth < worth),
            p => p.Boxes.All(b => b.Packed != day),
            p => p.Boxes.Select(b => b.Seal).Contains(owner),
            p => p.Labels.Contains(word),
            p => p.Labels.Contains(null),
            p => p.Labels.Any(l => l == null),
            p => p.Labels.Any(l => l != word),
            p => p.Labels.ContainsAny(words),
            p => p.Labels.Any(l => words.Contains(l)),
            p => p.Owners.Contains(owner),
            p => p.Owners.Any(o => o == owner),
            p => p.Owners.Any(o => o != owner),
            p => p.Kinds.Contains(kind),
            p => p.Kinds.Any(k => k > kind),
            p => p.Kinds.All(k => k != kind),
            p => p.Kinds.Any(k => kinds.Contains(k)),
            p => p.Kinds.ContainsAny(kinds),
            p => p.Small > number && p.Small < other,
        ];
    }

    private static Expression<Func<Parcel, bool>>[] Compared() =>
    [
        p => p.Seen > p.Utc,
        p => p.Day < p.Due,
        p => p.Owner == p.Agent,
        p => p.Price > p.Discount,
        p => p.Kind == p.Former,
        p => p.Hour < p.Closes,
        p => p.Takes == p.Waits,
    ];

    private sealed record GroupRow(
        byte Key, int Count, decimal Least, decimal Greatest, decimal? Discount, long Last, long First, float Ratio,
        DateTime? Earliest, DateOnly Day, TimeOnly Hour, int Spread);
}
