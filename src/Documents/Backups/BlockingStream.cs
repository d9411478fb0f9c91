using Treepie.Storage.Files;

namespace Treepie.Backups;

/// <summary>
/// A stream whose asynchronous operations complete synchronously: the calling thread, which is dedicated to this work
/// (<see cref="WorkThread"/>), blocks until the inner stream has finished. With a pace, time spent waiting counts as pause,
/// and a read may pause first. Leaves the inner stream open.
/// </summary>
internal sealed class BlockingStream(Stream inner, BackupPace? pace) : ForwardStream
{
    public override bool CanRead => inner.CanRead;

    public override bool CanWrite => inner.CanWrite;

    /// <summary>Blocks the calling thread until an operation has completed.</summary>
    public static T Wait<T>(ValueTask<T> operation) =>
        operation.IsCompleted ? operation.GetAwaiter().GetResult() : operation.AsTask().GetAwaiter().GetResult();

    public override int Read(Span<byte> buffer) => inner.Read(buffer);

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

    public override void Write(ReadOnlySpan<byte> buffer) => inner.Write(buffer);

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
}
