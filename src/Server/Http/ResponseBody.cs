using System.Buffers;
using System.Buffers.Text;
using System.IO.Pipelines;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Treepie.Server.Http;

/// <summary>
/// The response body. It is collected in a buffer at first: a response that fits is sent as a whole, with its length, and an
/// error before then can still be reported with a status of its own. A longer response, or one that is flushed, is written to
/// the connection's buffers and flushed in chunks, so that a slow reader slows down the writer and memory use is bounded. A
/// stalled or too slow reader is disconnected (<see cref="ReaderWatch"/>).
/// </summary>
internal sealed class ResponseBody(HttpContext http, ServerLimits limits, TimeProvider clock) : IBufferWriter<byte>, IDisposable
{
    /// <summary>The maximum length of a response that is sent as a whole.</summary>
    public const int MostWholeBytes = 64 * 1024;

    /// <summary>The initial size of the buffer: more than an answer with a document or ten needs.</summary>
    private const int FirstBytes = 8 * 1024;

    /// <summary>
    /// The number of bytes written between flushes: several network packets, far below the connection's buffer limits.
    /// </summary>
    private const int FlushAfterBytes = 32 * 1024;

    private byte[] _buffer = [];
    private int _buffered;
    private PipeWriter? _pipe; // null while the response is collected
    private ReaderWatch? _watch;
    private long _flushedBytes;

    /// <summary>The number of bytes written so far.</summary>
    public long WrittenBytes { get; private set; }

    /// <summary>Whether bytes have left the buffer, so that only a broken connection can signal an error.</summary>
    public bool IsStreamed => _pipe is not null;

    /// <summary>Whether enough has been written to the connection's buffers that they should be flushed.</summary>
    public bool IsFlushDue => _pipe is not null && WrittenBytes - _flushedBytes >= FlushAfterBytes;

    private ReaderWatch Watch => _watch ??= new ReaderWatch(limits, clock, http.Abort);

    public void Advance(int count)
    {
        if (_pipe is null)
            _buffered += count;
        else
            _pipe.Advance(count);
        WrittenBytes += count;
    }

    public Memory<byte> GetMemory(int sizeHint = 0) =>
        HasRoom(sizeHint) ? _buffer.AsMemory(_buffered) : _pipe!.GetMemory(sizeHint); // HasRoom has begun to stream

    public Span<byte> GetSpan(int sizeHint = 0) =>
        HasRoom(sizeHint) ? _buffer.AsSpan(_buffered) : _pipe!.GetSpan(sizeHint); // HasRoom has begun to stream

    public void Write(ReadOnlySpan<byte> bytes)
    {
        if (HasRoom(bytes.Length))
        {
            bytes.CopyTo(_buffer.AsSpan(_buffered));
            Advance(bytes.Length);
        }
        else
            BuffersExtensions.Write(this, bytes);
    }

    public void WriteNumber(long value)
    {
        const int longestInt64 = 20;
        Span<byte> span = GetSpan(longestInt64);
        Utf8Formatter.TryFormat(value, span, out int written);
        Advance(written);
    }

    public void WriteBoolean(bool value) => Write(value ? "true"u8 : "false"u8);

    /// <summary>Writes a JSON string with its quotes.</summary>
    public void WriteString(string value)
    {
        const int MostBytesEach = 3, MostDirect = 512;
        if (value.Length <= MostDirect)
        {
            Span<byte> span = GetSpan((value.Length * MostBytesEach) + 2);
            int length = Encoding.UTF8.GetBytes(value, span[1..]);
            if (JavaScriptEncoder.UnsafeRelaxedJsonEscaping.FindFirstCharacterToEncodeUtf8(span.Slice(1, length)) < 0)
            {
                span[0] = (byte)'"';
                span[length + 1] = (byte)'"';
                Advance(length + 2);
                return;
            }
        }

        WriteQuoted(JsonEncodedText.Encode(value, JavaScriptEncoder.UnsafeRelaxedJsonEscaping).EncodedUtf8Bytes);
    }

    /// <summary>Writes a JSON string with its quotes.</summary>
    public void WriteString(ReadOnlySpan<byte> utf8)
    {
        if (JavaScriptEncoder.UnsafeRelaxedJsonEscaping.FindFirstCharacterToEncodeUtf8(utf8) < 0)
            WriteQuoted(utf8);
        else
            WriteQuoted(JsonEncodedText.Encode(utf8, JavaScriptEncoder.UnsafeRelaxedJsonEscaping).EncodedUtf8Bytes);
    }

    /// <summary>Writes text that needs no escaping, such as a time, as a JSON string.</summary>
    public void WriteAsciiString(string value)
    {
        Span<byte> span = GetSpan(value.Length + 2);
        span[0] = (byte)'"';
        Encoding.ASCII.GetBytes(value, span[1..]);
        span[value.Length + 1] = (byte)'"';
        Advance(value.Length + 2);
    }

    /// <summary>Writes a time as a JSON string.</summary>
    public void WriteTime(DateTime utc)
    {
        Span<byte> span = GetSpan(WireTime.Characters + 2);
        span[0] = (byte)'"';
        WireTime.ToWire(utc, span.Slice(1, WireTime.Characters));
        span[WireTime.Characters + 1] = (byte)'"';
        Advance(WireTime.Characters + 2);
    }

    /// <summary>Writes everything collected to the connection, and waits while the reader is behind.</summary>
    public ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken)
    {
        PipeWriter pipe = Stream();
        long bytes = WrittenBytes - _flushedBytes;
        _flushedBytes = WrittenBytes;
        return WaitAsync(pipe.FlushAsync(cancellationToken), bytes);
    }

    /// <summary>Sends a response that has been collected, with its length; waits while the reader is behind.</summary>
    public async ValueTask CompleteAsync()
    {
        if (_pipe is not null || _buffered == 0)
            return;
        HttpResponse response = http.Response;
        if (!response.HasStarted)
            response.ContentLength ??= _buffered;
        _pipe = response.BodyWriter;
        _flushedBytes = WrittenBytes;
        ValueTask<FlushResult> write = _pipe.WriteAsync(_buffer.AsMemory(0, _buffered), CancellationToken.None);
        await WaitAsync(write, _buffered).ConfigureAwait(false);
    }

    /// <summary>Removes what has been collected, so that another response can take its place.</summary>
    public void Discard()
    {
        WrittenBytes -= _buffered;
        Forget();
    }

    /// <summary>Aborts the response after a time, however fast it is read.</summary>
    public void EndAfter(TimeSpan age) => Watch.EndAfter(age);

    public void Dispose()
    {
        _watch?.Dispose();
        ReturnBuffer();
    }

    private ValueTask<FlushResult> WaitAsync(ValueTask<FlushResult> flush, long bytes) =>
        flush.IsCompleted ? flush : Watch.WaitAsync(flush, bytes);

    /// <summary>Returns whether the buffer has room for this much, which it is given up to its limit.</summary>
    private bool HasRoom(int sizeHint)
    {
        long needed = (long)_buffered + Math.Max(sizeHint, 1);
        if (needed <= _buffer.Length && _pipe is null)
            return true;
        if (_pipe is not null || needed > MostWholeBytes)
        {
            Stream();
            return false;
        }

        byte[] larger = ArrayPool<byte>.Shared.Rent((int)Math.Max(needed, FirstBytes));
        _buffer.AsSpan(0, _buffered).CopyTo(larger);
        int buffered = _buffered;
        ReturnBuffer();
        (_buffer, _buffered) = (larger, buffered);
        return true;
    }

    /// <summary>Moves what has been collected to the connection's buffers, where everything further is written.</summary>
    private PipeWriter Stream()
    {
        if (_pipe is null)
        {
            _pipe = http.Response.BodyWriter;
            _pipe.Write(_buffer.AsSpan(0, _buffered));
            ReturnBuffer();
        }

        return _pipe;
    }

    private void ReturnBuffer()
    {
        Forget();
        if (_buffer.Length > 0)
            ArrayPool<byte>.Shared.Return(_buffer);
        _buffer = [];
    }

    /// <summary>Clears what has been collected, which may be a secret and must not stay in a shared buffer.</summary>
    private void Forget()
    {
        _buffer.AsSpan(0, _buffered).Clear();
        _buffered = 0;
    }

    private void WriteQuoted(ReadOnlySpan<byte> escaped)
    {
        Span<byte> span = GetSpan(escaped.Length + 2);
        span[0] = (byte)'"';
        escaped.CopyTo(span[1..]);
        span[escaped.Length + 1] = (byte)'"';
        Advance(escaped.Length + 2);
    }
}
