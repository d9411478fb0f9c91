using Treepie.Storage.Files;

namespace Treepie.Backups;

/// <summary>A stream whose first bytes can be looked at before it is read. Leaves the stream below open.</summary>
internal sealed class PeekedStream(Stream inner) : ForwardStream
{
    public override bool CanRead => true;

    private byte[] _start = [];
    private int _at;
    private InvalidDataException? _failure;

    /// <summary>
    /// The first bytes, fewer where there are no more, or where they cannot be decompressed: who reads them learns that. To be
    /// called once, before anything is read.
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
