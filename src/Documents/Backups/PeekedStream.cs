using Treepie.Storage.Files;

namespace Treepie.Backups;

/// <summary>A stream whose first bytes can be examined before it is read. Leaves the inner stream open.</summary>
internal sealed class PeekedStream(Stream inner) : ForwardStream
{
    public override bool CanRead => true;

    private byte[] _start = [];
    private int _at;
    private InvalidDataException? _failure;

    /// <summary>
    /// Returns the first bytes; fewer if the stream is shorter, or if they cannot be decompressed, in which case a later read
    /// throws. Must be called at most once, before anything is read.
    /// </summary>
    public async ValueTask<ReadOnlyMemory<byte>> PeekAsync(int count, CancellationToken cancellationToken)
    {
        byte[] start = new byte[count];
        int read = 0;
        try
        {
            for (int more = -1; read < count && more != 0; read += more)
                more = await inner.ReadAsync(start.AsMemory(read), cancellationToken).ConfigureAwait(false);
        }
        catch (InvalidDataException error)
        {
            _failure = error;
        }

        return _start = start[..read];
    }

    public override int Read(Span<byte> buffer) =>
        _at < _start.Length ? ReadStart(buffer) : _failure is null ? inner.Read(buffer) : throw Again(_failure);

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        _at < _start.Length
            ? ValueTask.FromResult(ReadStart(buffer.Span))
            : _failure is null ? inner.ReadAsync(buffer, cancellationToken) : throw Again(_failure);

    private static InvalidDataException Again(InvalidDataException failure) => new(failure.Message, failure);

    private int ReadStart(Span<byte> buffer)
    {
        int given = Math.Min(buffer.Length, _start.Length - _at);
        _start.AsSpan(_at, given).CopyTo(buffer);
        _at += given;
        return given;
    }
}
