using System.IO.Pipelines;
using Treepie.Server.Http;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Limits;

public sealed class ReaderWatchTests
{
    private readonly TestClock clock = new();
    private readonly ServerLimits limits = new();
    private int cuts;

    [Fact]
    public async Task A_reader_who_takes_nothing_is_cut_off_after_the_time_for_it()
    {
        using ReaderWatch watch = Open();
        var flush = new TaskCompletionSource<FlushResult>();
        Task<FlushResult> waiting = watch.WaitAsync(new ValueTask<FlushResult>(flush.Task), 32_768).AsTask();
        clock.Advance(limits.StalledReaderTimeout - TimeSpan.FromSeconds(1));
        Assert.Equal(0, cuts);
        clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(1, cuts);
        flush.SetResult(default);
        await waiting;
    }

    [Theory]
    [InlineData(20_000, false)]
    [InlineData(200_000, true)]
    public async Task A_reader_who_is_slower_than_the_least_rate_is_cut_off(int bytesInTenSeconds, bool isServed)
    {
        using ReaderWatch watch = Open();
        for (int i = 0; i < 10 && cuts == 0; i++)
        {
            var flush = new TaskCompletionSource<FlushResult>();
            Task<FlushResult> waiting = watch.WaitAsync(new ValueTask<FlushResult>(flush.Task), bytesInTenSeconds).AsTask();
            clock.Advance(TimeSpan.FromSeconds(10));
            flush.SetResult(default);
            await waiting;
        }

        Assert.Equal(isServed, cuts == 0);
    }

    [Fact]
    public async Task Time_in_which_the_server_is_busy_does_not_count()
    {
        using ReaderWatch watch = Open();
        for (int i = 0; i < 10; i++)
        {
            await watch.WaitAsync(new ValueTask<FlushResult>(new FlushResult()), 100);
            clock.Advance(TimeSpan.FromMinutes(5));
        }

        Assert.Equal(0, cuts);
    }

    [Fact]
    public void A_stream_ends_at_its_age_and_a_watch_that_is_over_ends_nothing()
    {
        ReaderWatch watch = Open(), over = Open();
        watch.EndAfter(limits.MaxStreamAge);
        over.EndAfter(limits.MaxStreamAge);
        over.Dispose();
        clock.Advance(limits.MaxStreamAge);
        Assert.Equal(1, cuts);
        watch.Dispose();
    }

    private ReaderWatch Open() => new(limits, clock, () => cuts++);
}
