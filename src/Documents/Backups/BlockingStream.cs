using Treepie.Storage.Files;

namespace Treepie.Backups;

/// <summary>
/// A stream whose operations are over when they return: what the stream below has to wait for is waited for by the calling
/// thread, which is one of its own (<see cref="WorkThread"/>) and stays with its work. At a pace: what is waited for is rest, and
/// before a reading there may be another. Leaves the stream open.
/// </summary>
internal sealed class BlockingStream(Stream inner, BackupPace? pace) : ForwardStream
{
    public override bool CanRead => inner.CanRead;

    public override bool CanWrite => inner.CanWrite;

    /// <summary>Waits for something on the calling thread.</summary>
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
