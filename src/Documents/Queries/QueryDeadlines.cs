using System.Collections.Concurrent;

namespace Treepie.Queries;

/// <summary>
/// Ends queries after the time that they may take, or when their caller wants it. One timer serves one query after the other: it
/// is set anew and not made anew. Thread-safe.
/// </summary>
/// <param name="longest">How long a query may take.</param>
/// <param name="clock">The clock.</param>
internal sealed class QueryDeadlines(TimeSpan longest, TimeProvider clock)
{
    /// <summary>Timers that wait for the next query; more are left to the collector.</summary>
    private const int MostKept = 64;

    private readonly ConcurrentStack<CancellationTokenSource> _free = [];

    /// <summary>Begins the time of a query, to be disposed at its end.</summary>
    public Deadline Begin(CancellationToken cancellationToken)
    {
        bool isKept = clock == TimeProvider.System; // others cannot be set anew
        if (!isKept || !_free.TryPop(out CancellationTokenSource? source))
            source = new CancellationTokenSource(longest, clock);
        else
            source.CancelAfter(longest);
        return new Deadline(this, source, isKept, cancellationToken);
    }

    /// <summary>The time of one query.</summary>
    internal readonly struct Deadline : IDisposable
    {
        private readonly QueryDeadlines _of;
        private readonly CancellationTokenSource _source;
        private readonly CancellationTokenRegistration _caller;
        private readonly bool _isKept;

        public Deadline(QueryDeadlines of, CancellationTokenSource source, bool isKept, CancellationToken cancellationToken)
        {
            (_of, _source, _isKept) = (of, source, isKept);
            // given here
            _caller = cancellationToken.CanBeCanceled
                ? cancellationToken.UnsafeRegister(static state => ((CancellationTokenSource)state!).Cancel(), source)
                : default;
        }

        /// <summary>Cancelled at its end, or by the caller.</summary>
        public CancellationToken Token => _source.Token;

        /// <inheritdoc/>
        public void Dispose()
        {
            _caller.Dispose(); // waits for a call that is running, so that nothing cancels the next query
            if (_isKept && _of._free.Count < MostKept && _source.TryReset())
                _of._free.Push(_source);
            else
                _source.Dispose();
        }
    }
}
