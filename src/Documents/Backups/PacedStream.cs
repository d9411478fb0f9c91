using Treepie.Storage.Files;

namespace Treepie.Backups;

/// <summary>
/// A stream that may pause the calling thread before an asynchronous write, to keep a pace. Leaves the inner stream open.
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
