using Treepie.Storage.Files;

namespace Treepie.Backups;

/// <summary>
/// Counts the bytes read from or written to a stream, which it leaves open. Once abandoned, it discards what a compressor
/// writes when it is disposed before the end.
/// </summary>
internal sealed class CountingStream(Stream inner) : ForwardStream
{
    private bool _abandoned;
    private long _count;

    /// <summary>The number of bytes so far; may be read from other threads.</summary>
    public long Count => Volatile.Read(ref _count);

    public override bool CanRead => inner.CanRead;

    public override bool CanWrite => inner.CanWrite;

    /// <summary>Discards all further writes.</summary>
    public void Abandon() => _abandoned = true;

    public override int Read(Span<byte> buffer)
    {
        int read = inner.Read(buffer);
        Volatile.Write(ref _count, _count + read);
        return read;
    }

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        int read = await inner.ReadAsync(buffer, cancellationToken).ConfigureAwait(false);
        Volatile.Write(ref _count, _count + read);
        return read;
    }

    public override void Write(ReadOnlySpan<byte> buffer)
    {
        if (_abandoned)
            return;
        inner.Write(buffer);
        Volatile.Write(ref _count, _count + buffer.Length);
    }

    public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (_abandoned)
            return;
        await inner.WriteAsync(buffer, cancellationToken).ConfigureAwait(false);
        Volatile.Write(ref _count, _count + buffer.Length);
    }
}
