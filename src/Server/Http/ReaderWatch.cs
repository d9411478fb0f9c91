using System.IO.Pipelines;

namespace Treepie.Server.Http;

/// <summary>
/// Limits how slowly a response may be read. A timer runs while the server waits for the reader. If it expires before the
/// reader has taken the data, or if the reader was slower than the minimum rate over the total time waited, the connection is
/// aborted, which ends the request and releases its resources. Time during which the server itself was busy does not count.
/// Not thread-safe.
/// </summary>
/// <param name="limits">The time and rate limits for readers.</param>
/// <param name="clock">The clock.</param>
/// <param name="cutOff">Aborts the connection. May be called from any thread, and more than once.</param>
internal sealed class ReaderWatch(ServerLimits limits, TimeProvider clock, Action cutOff) : IDisposable
{
    private ITimer? _stalled;
    private ITimer? _old;
    private TimeSpan _waited;
    private long _waitedForBytes;

    /// <summary>Waits until the reader has taken a number of bytes.</summary>
    public async ValueTask<FlushResult> WaitAsync(ValueTask<FlushResult> flush, long bytes)
    {
        long began = clock.GetTimestamp();
        if (_stalled is null)
            // the state is this instance
            _stalled = clock.CreateTimer(
                static state => ((ReaderWatch)state!).CutOff(), this, limits.StalledReaderTimeout, Timeout.InfiniteTimeSpan);
        else
            _stalled.Change(limits.StalledReaderTimeout, Timeout.InfiniteTimeSpan);
        try
        {
            return await flush.ConfigureAwait(false);
        }
        finally
        {
            _stalled.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            _waited += clock.GetElapsedTime(began);
            _waitedForBytes += bytes;
            if (_waited > limits.StalledReaderTimeout && _waitedForBytes < _waited.TotalSeconds * limits.MinReadBytesPerSecond)
                CutOff();
        }
    }

    /// <summary>Aborts the connection after a time.</summary>
    public void EndAfter(TimeSpan age) =>
        // the state is this instance
        _old ??= clock.CreateTimer(static state => ((ReaderWatch)state!).CutOff(), this, age, Timeout.InfiniteTimeSpan);

    public void Dispose()
    {
        _stalled?.Dispose();
        _old?.Dispose();
    }

    private void CutOff() => cutOff();
}
