using Treepie.Storage.Files;

namespace Treepie.Backups;

/// <summary>
/// What is written to a stream at a pace: between two writes there may be a rest, which the calling thread takes. Leaves the
/// stream open.
/// </summary>
internal sealed class PacedStream(Stream inner, BackupPace pace) : ForwardStream
{
    public override bool CanWrite => true;

    public override void Write(ReadOnlySpan<byte> buffer) => inner.Write(buffer);

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        pace.GiveWay(cancellationToken);
        return inner.WriteAsync(buffer, cancellationToken);
    }

    public override void Flush() => inner.Flush();
}
