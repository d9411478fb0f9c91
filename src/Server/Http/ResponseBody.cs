using System.Buffers;
using System.Buffers.Text;
using System.IO.Pipelines;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Treepie.Server.Http;

/// <summary>
/// The response body, written directly to the connection's buffers. Tracks whether anything was written, because after the
/// first byte an error can only abort the connection. Flushes in chunks, so that a slow reader slows down the writer and
/// memory use is bounded. A stalled or too slow reader is disconnected (<see cref="ReaderWatch"/>).
/// </summary>
internal sealed class ResponseBody(PipeWriter pipe, ServerLimits limits, TimeProvider clock, Action cutOff)
    : IBufferWriter<byte>, IDisposable
{
    /// <summary>
    /// The number of bytes written between flushes: several network packets, far below the connection's buffer limits.
    /// </summary>
    private const int FlushAfterBytes = 32 * 1024;

    private readonly ReaderWatch _watch = new(limits, clock, cutOff);
    private long _flushedBytes;

    /// <summary>The number of bytes written so far.</summary>
    public long WrittenBytes { get; private set; }

    public void Advance(int count)
    {
        pipe.Advance(count);
        WrittenBytes += count;
    }

    public Memory<byte> GetMemory(int sizeHint = 0) => pipe.GetMemory(sizeHint);

    public Span<byte> GetSpan(int sizeHint = 0) => pipe.GetSpan(sizeHint);

    public void Write(ReadOnlySpan<byte> bytes) => BuffersExtensions.Write(this, bytes);

    public void WriteNumber(long value)
    {
        const int longestInt64 = 20;
        Span<byte> span = GetSpan(longestInt64);
        Utf8Formatter.TryFormat(value, span, out int written);
        Advance(written);
    }

    public void WriteBoolean(bool value) => Write(value ? "true"u8 : "false"u8);

    /// <summary>Writes a JSON string with its quotes.</summary>
    public void WriteString(string value) =>
        WriteQuoted(JsonEncodedText.Encode(value, JavaScriptEncoder.UnsafeRelaxedJsonEscaping).EncodedUtf8Bytes);

    /// <summary>Writes a JSON string with its quotes.</summary>
    public void WriteString(ReadOnlySpan<byte> utf8) =>
        WriteQuoted(JsonEncodedText.Encode(utf8, JavaScriptEncoder.UnsafeRelaxedJsonEscaping).EncodedUtf8Bytes);

    /// <summary>Writes text that needs no escaping, such as a time, as a JSON string.</summary>
    public void WriteAsciiString(string value)
    {
        Span<byte> span = GetSpan(value.Length + 2);
        span[0] = (byte)'"';
        Encoding.ASCII.GetBytes(value, span[1..]);
        span[value.Length + 1] = (byte)'"';
        Advance(value.Length + 2);
    }

    /// <summary>Flushes if enough has been written; waits while the reader is behind.</summary>
    public ValueTask<FlushResult> FlushIfNeededAsync(CancellationToken cancellationToken)
    {
        if (WrittenBytes - _flushedBytes < FlushAfterBytes)
            return default;

        return FlushAsync(cancellationToken);
    }

    public ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken)
    {
        long bytes = WrittenBytes - _flushedBytes;
        _flushedBytes = WrittenBytes;
        ValueTask<FlushResult> flush = pipe.FlushAsync(cancellationToken);
        return flush.IsCompleted ? flush : _watch.WaitAsync(flush, bytes);
    }

    /// <summary>Aborts the response after a time, however fast it is read.</summary>
    public void EndAfter(TimeSpan age) => _watch.EndAfter(age);

    public void Dispose() => _watch.Dispose();

    private void WriteQuoted(ReadOnlySpan<byte> escaped)
    {
        Span<byte> span = GetSpan(escaped.Length + 2);
        span[0] = (byte)'"';
        escaped.CopyTo(span[1..]);
        span[escaped.Length + 1] = (byte)'"';
        Advance(escaped.Length + 2);
    }
}
