using System.IO.Pipelines;
using Treepie.Server.Http;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Limits;

public sealed class ReaderWatchTests
{
    private readonly TestClock _clock = new();
    private readonly ServerLimits _limits = new();
    private int _cuts;

    [Fact]
    public async Task A_reader_who_takes_nothing_is_cut_off_after_the_time_for_it()
    {
        using ReaderWatch watch = Open();
        var flush = new TaskCompletionSource<FlushResult>();
        Task<FlushResult> waiting = watch.WaitAsync(new ValueTask<FlushResult>(flush.Task), 32_768).AsTask();
        _clock.Advance(_limits.StalledReaderTimeout - TimeSpan.FromSeconds(1));
        Assert.Equal(0, _cuts);
        _clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(1, _cuts);
        flush.SetResult(default);
        await waiting;
    }

    [Theory]
    [InlineData(20_000, false)]
    [InlineData(200_000, true)]
    public async Task A_reader_who_is_slower_than_the_least_rate_is_cut_off(int bytesInTenSeconds, bool isServed)
    {
        using ReaderWatch watch = Open();
        for (int i = 0; i < 10 && _cuts == 0; i++)
        {
            var flush = new TaskCompletionSource<FlushResult>();
            Task<FlushResult> waiting = watch.WaitAsync(new ValueTask<FlushResult>(flush.Task), bytesInTenSeconds).AsTask();
            _clock.Advance(TimeSpan.FromSeconds(10));
            flush.SetResult(default);
            await waiting;
        }

        Assert.Equal(isServed, _cuts == 0);
    }

    [Fact]
    public async Task Time_in_which_the_server_is_busy_does_not_count()
    {
        using ReaderWatch watch = Open();
        for (int i = 0; i < 10; i++)
        {
            await watch.WaitAsync(new ValueTask<FlushResult>(new FlushResult()), 100);
            _clock.Advance(TimeSpan.FromMinutes(5));
        }

        Assert.Equal(0, _cuts);
    }

    [Fact]
    public void A_stream_ends_at_its_age_and_a_watch_that_is_over_ends_nothing()
    {
        ReaderWatch watch = Open(), over = Open();
        watch.EndAfter(_limits.MaxStreamAge);
        over.EndAfter(_limits.MaxStreamAge);
        over.Dispose();
        _clock.Advance(_limits.MaxStreamAge);
        Assert.Equal(1, _cuts);
        watch.Dispose();
    }

    private ReaderWatch Open() => new(_limits, _clock, () => _cuts++);
}
