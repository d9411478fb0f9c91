using System.IO.Pipelines;

namespace Treepie.Server.Http;

/// <summary>
/// Watches how an answer is read. While the server waits for the reader, a timer runs; when it ends before the reader has
/// taken what was written, or the reader has been slower than the least rate over all the time he was waited for, the
/// connection is cut off, which ends the request and frees what it keeps. Time in which the server itself was busy does not
/// count. One thread at a time.
/// </summary>
/// <param name="limits">How long and how slow a reader may be.</param>
/// <param name="clock">The clock.</param>
/// <param name="cutOff">Ends the connection. May be called from any thread, and more than once.</param>
internal sealed class ReaderWatch(ServerLimits limits, TimeProvider clock, Action cutOff) : IDisposable
{
    private ITimer? _stalled;
    private ITimer? _old;
    private TimeSpan _waited;
    private long _waitedForBytes;

    /// <summary>Waits until the reader has taken so many bytes.</summary>
    public async ValueTask<FlushResult> WaitAsync(ValueTask<FlushResult> flush, long bytes)
    {
        long began = clock.GetTimestamp();
        if (_stalled is null)
            // this is the state
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

    /// <summary>Cuts the connection off after this time.</summary>
    public void EndAfter(TimeSpan age) =>
        // this is the state
        _old ??= clock.CreateTimer(static state => ((ReaderWatch)state!).CutOff(), this, age, Timeout.InfiniteTimeSpan);

    public void Dispose()
    {
        _stalled?.Dispose();
        _old?.Dispose();
    }

    private void CutOff() => cutOff();
}
