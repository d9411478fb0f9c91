using System.Collections.Concurrent;

namespace Treepie.Queries;

/// <summary>
/// Cancels queries when their time limit expires or their caller cancels. Timers are reused from query to query. Thread-safe.
/// </summary>
/// <param name="longest">The time limit of a query.</param>
/// <param name="clock">The clock.</param>
internal sealed class QueryDeadlines(TimeSpan longest, TimeProvider clock)
{
    /// <summary>The maximum number of pooled timers.</summary>
    private const int MostKept = 64;

    /// <summary>The maximum number of characters of a query that an error repeats.</summary>
    private const int MaxQuoted = 200;

    private readonly ConcurrentStack<CancellationTokenSource> _free = [];

    /// <summary>Starts the time limit of a query. Must be disposed when the query ends.</summary>
    public Deadline Begin(CancellationToken cancellationToken)
    {
        bool isKept = clock == TimeProvider.System; // timers of other clocks cannot be reset
        if (!isKept || !_free.TryPop(out CancellationTokenSource? source))
            source = new CancellationTokenSource(longest, clock);
        else
            source.CancelAfter(longest);
        return new Deadline(this, source, isKept, cancellationToken);
    }

    /// <summary>The error of a query whose time limit expired.</summary>
    public TimeoutException Exceeded(QueryRequest request)
    {
        string text = request.Text.Length <= MaxQuoted ? request.Text : request.Text[..MaxQuoted] + "…";
        return new TimeoutException(
            $"The query did not finish within {longest.TotalSeconds:0.#} seconds (MaxQueryTime). Narrow its condition, or raise "
                + $"the limit. Query: {text}");
    }

    /// <summary>The time limit of one query.</summary>
    internal readonly struct Deadline : IDisposable
    {
        private readonly QueryDeadlines _of;
        private readonly CancellationTokenSource _source;
        private readonly CancellationTokenRegistration _caller;
        private readonly bool _isKept;

        public Deadline(QueryDeadlines of, CancellationTokenSource source, bool isKept, CancellationToken cancellationToken)
        {
            (_of, _source, _isKept) = (of, source, isKept);
            // not null: passed as the state below
            _caller = cancellationToken.CanBeCanceled
                ? cancellationToken.UnsafeRegister(static state => ((CancellationTokenSource)state!).Cancel(), source)
                : default;
        }

        /// <summary>Cancelled when the time limit expires or the caller cancels.</summary>
        public CancellationToken Token => _source.Token;

        /// <inheritdoc/>
        public void Dispose()
        {
            _caller.Dispose(); // waits for a running callback, so that it cannot cancel the next query
            if (_isKept && _of._free.Count < MostKept && _source.TryReset())
                _of._free.Push(_source);
            else
                _source.Dispose();
        }
    }
}
