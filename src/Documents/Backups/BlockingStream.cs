namespace Treepie.Backups;

/// <summary>
/// A stream whose operations are over when they return: what the stream below has to wait for is waited for by the calling thread, which is one of its own (<see cref="WorkThread"/>) and stays with its work. At a
/// pace: what is waited for is rest, and before a reading there may be another. Leaves the stream open.
/// </summary>
internal sealed class BlockingStream(Stream inner, BackupPace? pace) : Stream
{
    public override bool CanRead => inner.CanRead;

    public override bool CanSeek => false;

    public override bool CanWrite => inner.CanWrite;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <summary>Waits for something on the calling thread.</summary>
    public static T Wait<T>(ValueTask<T> operation) => operation.IsCompleted ? operation.GetAwaiter().GetResult() : operation.AsTask().GetAwaiter().GetResult();

    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    public override int Read(Span<byte> buffer) => inner.Read(buffer);

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        pace?.GiveWay(cancellationToken);
        ValueTask<int> read = inner.ReadAsync(buffer, cancellationToken);
        if (read.IsCompleted)
            return read;

        long began = pace?.Now ?? 0;
        int count = Wait(read);
        pace?.HasWaited(began);
        return ValueTask.FromResult(count);
    }

    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    public override void Write(ReadOnlySpan<byte> buffer) => inner.Write(buffer);

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        ValueTask write = inner.WriteAsync(buffer, cancellationToken);
        if (write.IsCompleted)
            return write;

        long began = pace?.Now ?? 0;
        write.AsTask().GetAwaiter().GetResult();
        pace?.HasWaited(began);
        return ValueTask.CompletedTask;
    }

    public override void Flush()
    {
        // who owns the stream below flushes it
    }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();
}
