using Treepie.Documents.Tests.Lifecycle;
using Treepie.Queries;

namespace Treepie.Documents.Tests.Queries;

/// <summary>Each query has the whole of its time, whatever limit it takes over from an earlier one.</summary>
public class QueryDeadlinesTests
{
    private static readonly TimeSpan _longest = TimeSpan.FromSeconds(10);
    private readonly FiringClock _clock = new();
    private readonly QueryDeadlines _deadlines;

    public QueryDeadlinesTests() => _deadlines = new QueryDeadlines(_longest, _clock);

    [Fact]
    public void A_query_is_cancelled_when_its_time_is_over_and_not_before()
    {
        using QueryDeadlines.Deadline deadline = _deadlines.Begin(CancellationToken.None);
        _clock.Advance(_longest - TimeSpan.FromMilliseconds(1));
        Assert.False(deadline.Token.IsCancellationRequested);
        _clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.True(deadline.Token.IsCancellationRequested);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(4)]
    [InlineData(9.999)]
    [InlineData(10)]
    [InlineData(25)]
    public void A_later_query_has_its_whole_time(double secondsBetween)
    {
        CancellationToken first = Begin(out QueryDeadlines.Deadline before);
        before.Dispose();
        _clock.Advance(TimeSpan.FromSeconds(secondsBetween));
        CancellationToken second = Begin(out QueryDeadlines.Deadline deadline);
        Assert.Equal(first, second); // the limit is reused
        _clock.Advance(_longest - TimeSpan.FromMilliseconds(1));
        Assert.False(second.IsCancellationRequested);
        _clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.True(second.IsCancellationRequested);
        deadline.Dispose();
    }

    [Fact]
    public void A_limit_that_expired_or_was_cancelled_is_not_used_again()
    {
        CancellationToken expired = Begin(out QueryDeadlines.Deadline first);
        _clock.Advance(_longest);
        first.Dispose();

        using var caller = new CancellationTokenSource();
        QueryDeadlines.Deadline second = _deadlines.Begin(caller.Token);
        CancellationToken cancelled = second.Token;
        Assert.False(cancelled.IsCancellationRequested);
        caller.Cancel();
        Assert.True(cancelled.IsCancellationRequested);
        second.Dispose();

        using QueryDeadlines.Deadline third = _deadlines.Begin(CancellationToken.None);
        Assert.False(third.Token.IsCancellationRequested);
        Assert.NotEqual(expired, third.Token);
        Assert.NotEqual(cancelled, third.Token);
    }

    [Fact]
    public void A_caller_that_cancels_after_its_query_stops_no_other()
    {
        using var caller = new CancellationTokenSource();
        _deadlines.Begin(caller.Token).Dispose();
        using QueryDeadlines.Deadline next = _deadlines.Begin(CancellationToken.None);
        caller.Cancel();
        Assert.False(next.Token.IsCancellationRequested);
    }

    [Fact]
    public void Many_queries_at_a_time_have_limits_of_their_own()
    {
        QueryDeadlines.Deadline[] all = [.. Enumerable.Range(0, 100).Select(_ => _deadlines.Begin(CancellationToken.None))];
        Assert.Equal(all.Length, all.Select(static one => one.Token).Distinct().Count());
        foreach (QueryDeadlines.Deadline one in all)
            one.Dispose();
        using QueryDeadlines.Deadline next = _deadlines.Begin(CancellationToken.None);
        _clock.Advance(_longest);
        Assert.True(next.Token.IsCancellationRequested);
    }

    private CancellationToken Begin(out QueryDeadlines.Deadline deadline)
    {
        deadline = _deadlines.Begin(CancellationToken.None);
        return deadline.Token;
    }
}
