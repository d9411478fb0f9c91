using Treepie.Server.Limits;
using Treepie.Server.Tests.Support;

namespace Treepie.Server.Tests.Limits;

public sealed class QueryQueueTests
{
    private static readonly ClientKey _ada = new("ada", 0), _bob = new("bob", 0);

    private readonly TestClock _clock = new();

    [Fact]
    public async Task Free_places_go_to_clients_in_rotation()
    {
        QueryQueue queue = Open(queries: 1, queued: 10);
        await queue.EnterAsync(_ada, isReturning: false, TestServer.Cancelled);
        Task[] ofAda =
            [.. Enumerable.Range(0, 3).Select(_ => queue.EnterAsync(_ada, isReturning: false, TestServer.Cancelled).AsTask())];
        Task ofBob = queue.EnterAsync(_bob, isReturning: false, TestServer.Cancelled).AsTask();
        queue.Leave();
        await ofAda[0];
        Assert.False(ofBob.IsCompleted);
        queue.Leave();
        await ofBob; // although two of Ada's queries came before
        Assert.False(ofAda[1].IsCompleted);
        queue.Leave();
        await ofAda[1];
        queue.Leave();
        await ofAda[2];
        Assert.Equal((1, 0), (queue.Running, queue.Queued));
        queue.Leave();
        Assert.Equal(0, queue.Running);
    }

    [Fact]
    public async Task A_full_queue_refuses_by_name_and_a_query_that_had_a_place_before_waits_beyond_it()
    {
        QueryQueue queue = Open(queries: 1, queued: 4);
        await queue.EnterAsync(_ada, isReturning: false, TestServer.Cancelled);
        Task[] waiting = [Enter(_ada), Enter(_ada), Enter(_bob), Enter(_bob)];
        WireException busy = await Assert.ThrowsAsync<WireException>(() => Enter(new ClientKey("eve", 0)));
        Assert.Equal(503, busy.StatusCode);
        Assert.NotNull(busy.RetryAfterSeconds);
        Task returning = queue.EnterAsync(new ClientKey("eve", 0), isReturning: true, TestServer.Cancelled).AsTask();
        Assert.False(returning.IsCompleted);
        for (int i = 0; i < 5; i++)
            queue.Leave();
        await Task.WhenAll([.. waiting, returning]);

        Task Enter(ClientKey client) => queue.EnterAsync(client, isReturning: false, TestServer.Cancelled).AsTask();
    }

    [Fact]
    public async Task One_client_fills_half_of_the_queue_at_the_most()
    {
        QueryQueue queue = Open(queries: 1, queued: 4);
        for (int i = 0; i < 3; i++)
            _ = queue.EnterAsync(_ada, isReturning: false, TestServer.Cancelled).AsTask();
        WireException refused = await Assert.ThrowsAsync<WireException>(
            () => queue.EnterAsync(_ada, isReturning: false, TestServer.Cancelled).AsTask());
        Assert.Equal(429, refused.StatusCode);
        Assert.NotNull(refused.RetryAfterSeconds);
        _ = queue.EnterAsync(_bob, isReturning: false, TestServer.Cancelled).AsTask();
        Assert.Equal(3, queue.Queued);
    }

    [Fact]
    public async Task Who_gives_up_leaves_no_trace_and_takes_no_place()
    {
        QueryQueue queue = Open(queries: 1, queued: 4);
        await queue.EnterAsync(_ada, isReturning: false, TestServer.Cancelled);
        using var stop = new CancellationTokenSource();
        Task cancelled = queue.EnterAsync(_ada, isReturning: false, stop.Token).AsTask(),
            late = queue.EnterAsync(_bob, isReturning: false, TestServer.Cancelled).AsTask();
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled);
        _clock.Advance(TimeSpan.FromSeconds(31));
        WireException tooLong = await Assert.ThrowsAsync<WireException>(() => late);
        Assert.Equal(503, tooLong.StatusCode);
        Assert.Contains("30 seconds", tooLong.Message, StringComparison.Ordinal);
        Assert.Equal((1, 0), (queue.Running, queue.Queued));
        queue.Leave();
        Assert.Equal(0, queue.Running);
        Assert.True(queue.EnterAsync(_bob, isReturning: false, TestServer.Cancelled).AsTask().IsCompletedSuccessfully);
    }

    [Fact]
    public async Task A_turn_is_shared_after_its_quantum()
    {
        QueryQueue queue = Open(queries: 1, queued: 4);
        using var first = new QueryTurn(queue, _ada, _clock);
        using var second = new QueryTurn(queue, _bob, _clock);
        await first.TakeAsync(TestServer.Cancelled);
        Task waits = second.TakeAsync(TestServer.Cancelled).AsTask();
        Assert.True(first.ShareAsync(TestServer.Cancelled).AsTask().IsCompletedSuccessfully);
        _clock.Advance(TimeSpan.FromSeconds(1));
        Task again = first.ShareAsync(TestServer.Cancelled).AsTask();
        await waits;
        Assert.False(again.IsCompleted);
        second.Release();
        await again;
    }

    private QueryQueue Open(int queries, int queued) =>
        new(new ServerLimits { MaxQueries = queries, MaxQueuedQueries = queued }, _clock);
}
