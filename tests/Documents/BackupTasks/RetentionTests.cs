using Treepie.BackupTasks;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.BackupTasks;

/// <summary>Which backups have certainly expired, whatever the clocks said when they were taken.</summary>
public sealed class RetentionTests
{
    private static readonly DateTime _start = new(2026, 11, 1, 0, 0, 0, DateTimeKind.Utc);

    private static readonly TimeSpan _month = TimeSpan.FromDays(30);

    [Fact]
    public void A_backup_of_a_clock_that_was_behind_makes_none_before_it_old()
    {
        List<KeptBackup> kept =
        [
            .. Enumerable.Range(1, 30).Select(day => Taken(_start.AddDays(day))), Taken(DateTime.UnixEpoch),
            Taken(_start.AddDays(31))
        ];
        Assert.Empty(Deletable(kept, _start.AddDays(31)));
        Assert.Equal(kept[..10], Deletable(kept, _start.AddDays(40).AddHours(1)));
        kept.Add(Taken(_start.AddDays(60)));
        Assert.Equal(kept[..30], Deletable(kept, _start.AddDays(61)));
        Assert.Equal(kept[..32], Deletable(kept, _start.AddDays(61).AddHours(1)));
    }

    [Fact]
    public void A_backup_of_a_clock_that_was_ahead_expires_with_those_that_follow_it()
    {
        List<KeptBackup> kept =
        [
            Taken(_start.AddDays(1)), Taken(_start.AddYears(10)), Taken(DateTime.UnixEpoch), Taken(_start.AddDays(3)),
            Taken(_start.AddDays(40))
        ];
        Assert.Equal(kept[..1], Deletable(kept, _start.AddDays(32)));
        Assert.Equal(kept[..4], Deletable(kept, _start.AddDays(34)));
    }

    [Fact]
    public void A_backup_is_deleted_only_when_it_is_old_whichever_clocks_were_wrong()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 500; round++)
        {
            DateTime now = _start;
            var kept = new List<KeptBackup>();
            var taken = new Dictionary<KeptBackup, DateTime>();
            for (int count = random.Next(2, 40); count > 0; count--)
            {
                now = now.AddHours(random.Next(1, 100));
                DateTime read = (kept.Count == 0 ? 9 : random.Next(10)) switch
                {
                    0 => now.AddDays(random.Next(1, 20_000)),
                    1 => now.AddDays(-random.Next(200, 20_000)), // before the first one
                    _ => now,
                };
                kept.Add(Taken(read));
                taken.Add(kept[^1], now);
            }

            Assert.All(Deletable(kept, now), old => Assert.True(now - taken[old] > _month, $"{round}: {taken[old]:u}"));
        }
    }

    private static IReadOnlyList<KeptBackup> Deletable(IReadOnlyList<KeptBackup> kept, DateTime now) =>
        Retention.Deletable(
            kept, kept.Take(Retention.Expired(kept, _start, _month, now)).Contains, 1);

    private static KeptBackup Taken(DateTime time) =>
        new($"{Guid.NewGuid():N}", time, 0, null, 1, [], IsProven: false);
}
