namespace Treepie.Server.Limits;

/// <summary>
/// Limits the number of concurrent queries. Others wait in bounded queues, one per client; a slot that becomes free goes to
/// the clients in rotation, so that a client with many queries delays only its own. Waiting blocks no thread and can be
/// cancelled. Thread-safe.
/// </summary>
/// <remarks>Invariant: while queries wait, all slots are taken.</remarks>
internal sealed class QueryQueue(ServerLimits limits, TimeProvider clock)
{
    private readonly Lock _sync = new();
    private readonly Dictionary<ClientKey, LinkedList<Waiter>> _byClient = [];
    private readonly Queue<ClientKey> _rotation = [];
    private readonly int _mostOfClient = Math.Max(1, limits.MaxQueuedQueries / 2);
    private int _running;
    private int _queued;

    /// <summary>The number of running queries.</summary>
    public int Running
    {
        get
        {
            lock (_sync)
                return _running;
        }
    }

    /// <summary>The number of queries waiting for their first turn.</summary>
    public int Queued
    {
        get
        {
            lock (_sync)
                return _queued;
        }
    }

    /// <summary>Takes a slot, or waits for one; <see cref="Leave"/> releases it.</summary>
    /// <param name="client">The client of the query.</param>
    /// <param name="isReturning">
    /// Whether it had a slot before. Such a query waits without its own time limit, because its response may have been
    /// started.
    /// </param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="WireException">The queue is full, or the wait took too long.</exception>
    public ValueTask EnterAsync(ClientKey client, bool isReturning, CancellationToken cancellationToken)
    {
        lock (_sync)
        {
            if (_running < limits.MaxQueries)
            {
                _running++;
                return default;
            }

            return new ValueTask(WaitAsync(Enqueue(client, isReturning), cancellationToken));
        }
    }

    /// <summary>Releases a slot, or passes it to the next waiting query.</summary>
    public void Leave()
    {
        lock (_sync)
        {
            if (Dequeue() is not { } next)
                _running--;
            else
                next.Granted.SetResult();
        }
    }

    private Waiter Enqueue(ClientKey client, bool isReturning)
    {
        _byClient.TryGetValue(client, out LinkedList<Waiter>? own);
        if (!isReturning)
        {
            if (_queued >= limits.MaxQueuedQueries)
                throw WireException.Busy(
                    $"{limits.MaxQueries:N0} queries are at work and {_queued:N0} wait, the limits of this server. Try again "
                        + $"later.");
            if (own is not null && own.Count >= _mostOfClient)
                throw WireException.TooMany(
                    $"{own.Count:N0} queries of this client wait for their turn, the limit for one client. Try again when some "
                        + $"have ended.");
            _queued++;
        }

        if (own is null)
        {
            own = [];
            _byClient.Add(client, own);
            _rotation.Enqueue(client);
        }

        var waiter = new Waiter(client, isReturning);
        waiter.Node = own.AddLast(waiter);
        return waiter;
    }

    private Waiter? Dequeue()
    {
        while (_rotation.TryDequeue(out ClientKey client))
        {
            LinkedList<Waiter> own = _byClient[client];
            if (own.First is { } first)
            {
                Remove(first.Value, own);
                if (own.Count > 0)
                    _rotation.Enqueue(client);
                else
                    _byClient.Remove(client);
                return first.Value;
            }

            _byClient.Remove(client); // all of its queries have given up
        }

        return null;
    }

    private void Remove(Waiter waiter, LinkedList<Waiter> own)
    {
        own.Remove(waiter.Node!); // it is in the list, so it has a node
        waiter.Node = null;
        if (!waiter.IsReturning)
            _queued--;
    }

    private async Task WaitAsync(Waiter waiter, CancellationToken cancellationToken)
    {
        TimeSpan longest = waiter.IsReturning ? Timeout.InfiniteTimeSpan : limits.MaxQueryWait;
        try
        {
            await waiter.Granted.Task.WaitAsync(longest, clock, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception exception) when (exception is TimeoutException or OperationCanceledException)
        {
            GiveUp(waiter);
            if (exception is TimeoutException)
                throw WireException.Busy(
                    $"The query waited {longest.TotalSeconds:0.#} seconds for its turn, the limit. Queries of others are at "
                        + $"work. Try again later.");
            throw;
        }
    }

    private void GiveUp(Waiter waiter)
    {
        lock (_sync)
        {
            if (waiter.Node is not null)
            {
                Remove(waiter, _byClient[waiter.Client]);
                return;
            }
        }

        Leave(); // the slot was granted at the same moment
    }

    private sealed class Waiter(ClientKey client, bool isReturning)
    {
        public ClientKey Client => client;

        public bool IsReturning => isReturning;

        public TaskCompletionSource Granted { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        /// <summary>Its position in the queue; null once it has a slot or has given up.</summary>
        public LinkedListNode<Waiter>? Node { get; set; }
    }
}
