using Treepie.Compression;

namespace Treepie.Backups;

/// <summary>What is written to a stream at a pace: between two writes there may be a rest. Leaves the stream open.</summary>
internal sealed class PacedStream(Stream inner, BackupPace pace) : WritingStream
{
    public override void Write(ReadOnlySpan<byte> buffer) => inner.Write(buffer);

    public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        await pace.GiveWayAsync(cancellationToken).ConfigureAwait(false);
        ValueTask write = inner.WriteAsync(buffer, cancellationToken); // compresses before it waits for who takes it
        await (write.IsCompleted ? write : pace.WaitAsync(write)).ConfigureAwait(false);
    }

    public override void Flush() => inner.Flush();
}
