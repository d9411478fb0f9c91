namespace Treepie.Queries;

/// <summary>
/// Cancels queries when their time limit expires or their caller cancels. Limits are reused from query to query. Thread-safe.
/// </summary>
/// <param name="longest">The time limit of a query.</param>
/// <param name="clock">The clock.</param>
internal sealed class QueryDeadlines(TimeSpan longest, TimeProvider clock)
{
    /// <summary>The maximum number of characters of a query that an error repeats.</summary>
    private const int MaxQuoted = 200;

    private readonly TimeLimit?[] _free = new TimeLimit?[64];

    /// <summary>Starts the time limit of a query. Must be disposed when the query ends.</summary>
    public Deadline Begin(CancellationToken cancellationToken)
    {
        TimeLimit limit = Take() ?? new TimeLimit(longest, clock);
        limit.Begin();
        return new Deadline(this, limit, cancellationToken);
    }

    /// <summary>The error of a query whose time limit expired.</summary>
    public TimeoutException Exceeded(QueryRequest request)
    {
        string text = request.Text.Length <= MaxQuoted ? request.Text : request.Text[..MaxQuoted] + "…";
        return new TimeoutException(
            $"The query did not finish within {longest.TotalSeconds:0.#} seconds (MaxQueryTime). Narrow its condition, or raise "
                + $"the limit. Query: {text}");
    }

    private TimeLimit? Take()
    {
        foreach (ref TimeLimit? kept in _free.AsSpan())
            if (kept is not null && Interlocked.Exchange(ref kept, null) is { } limit)
                return limit;
        return null;
    }

    private void Keep(TimeLimit limit)
    {
        foreach (ref TimeLimit? kept in _free.AsSpan())
            if (kept is null && Interlocked.CompareExchange(ref kept, limit, null) is null)
                return;
        limit.Dispose();
    }

    /// <summary>The time limit of one query.</summary>
    internal readonly struct Deadline : IDisposable
    {
        private readonly QueryDeadlines _of;
        private readonly TimeLimit _limit;
        private readonly CancellationTokenRegistration _caller;

        public Deadline(QueryDeadlines of, TimeLimit limit, CancellationToken cancellationToken)
        {
            (_of, _limit) = (of, limit);
            // not null: passed as the state below
            _caller = cancellationToken.CanBeCanceled
                ? cancellationToken.UnsafeRegister(static state => ((CancellationTokenSource)state!).Cancel(), limit.Source)
                : default;
        }

        /// <summary>Cancelled when the time limit expires or the caller cancels.</summary>
        public CancellationToken Token => _limit.Source.Token;

        /// <inheritdoc/>
        public void Dispose()
        {
            _caller.Dispose(); // waits for a running callback, so that it cannot cancel the next query
            if (_limit.TryEnd())
                _of.Keep(_limit);
            else
                _limit.Dispose();
        }
    }

    /// <summary>
    /// The time limit of one query after another. Its timer is not changed by each of them: when it fires, it is set again for
    /// what is left of the current query, if there is one. Thread-safe.
    /// </summary>
    internal sealed class TimeLimit : IDisposable
    {
        private readonly Lock _lock = new();
        private readonly TimeSpan _longest;
        private readonly TimeProvider _clock;
        private readonly ITimer _timer;
        private long _began;
        private bool _isUsed;
        private bool _isSet;
        private bool _isExpired;

        public TimeLimit(TimeSpan longest, TimeProvider clock)
        {
            (_longest, _clock) = (longest, clock);
            bool flows = !ExecutionContext.IsFlowSuppressed();
            if (flows)
                ExecutionContext.SuppressFlow(); // the timer outlives the query that it is made for
            try
            {
                // not null: passed as the state
                _timer = clock.CreateTimer(
                    static state => ((TimeLimit)state!).Fire(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            }
            finally
            {
                if (flows)
                    ExecutionContext.RestoreFlow();
            }
        }

        /// <summary>Cancelled when the limit expires.</summary>
        public CancellationTokenSource Source { get; } = new();

        /// <summary>Starts the limit for a query.</summary>
        public void Begin()
        {
            lock (_lock)
            {
                _began = _clock.GetTimestamp();
                _isUsed = true;
                if (!_isSet)
                    _isSet = _timer.Change(_longest, Timeout.InfiniteTimeSpan);
            }
        }

        /// <summary>Ends the limit of a query; returns false if it was cancelled and cannot be used again.</summary>
        public bool TryEnd()
        {
            lock (_lock)
            {
                _isUsed = false;
                return !_isExpired && Source.TryReset();
            }
        }

        /// <inheritdoc/>
        public void Dispose() => _timer.Dispose(); // the source may just be cancelled, and holds nothing

        private void Fire()
        {
            lock (_lock)
            {
                TimeSpan left = _longest - _clock.GetElapsedTime(_began);
                _isExpired = _isUsed && left <= TimeSpan.Zero;
                _isSet = _isUsed && !_isExpired && _timer.Change(left, Timeout.InfiniteTimeSpan);
            }

            if (_isExpired)
                Source.Cancel();
        }
    }
}
