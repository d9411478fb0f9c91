using System.Buffers.Binary;
using System.Diagnostics;
using System.Security.Cryptography;
using Treepie.Storage.Files;
using Treepie.Storage.Format;

namespace Treepie.Storage.Encryption;

/// <summary>
/// Encrypts and authenticates what is written to it, sequentially, using memory for two chunks. <see cref="CompleteAsync"/>
/// writes the end; a stream disposed without it reads as truncated. Not thread-safe. The format is described in
/// <c>docs/internals/backup-format.md</c>.
/// </summary>
public sealed class SealedWriteStream : ForwardStream
{
    /// <summary>
    /// The size of a chunk in bytes: large enough that the overhead per chunk is negligible, small enough for the processor's
    /// cache.
    /// </summary>
    public const int DefaultChunkBytes = 64 * 1024;

    private readonly Stream _destination;
    private readonly bool _leaveOpen;
    private readonly SealedCipher _cipher;
    private readonly byte[] _content;
    private readonly byte[] _frame;
    private int _filled;
    private int _headerBytes = SealedHeader.SizeBytes;
    private long _chunks;
    private bool _completed;
    private bool _disposed;

    /// <summary>
    /// Creates a stream that encrypts with a key of its own, derived from <paramref name="key"/>, which can be disposed
    /// afterwards. Writes nothing yet.
    /// </summary>
    public SealedWriteStream(Stream destination, EncryptionKey key, bool leaveOpen = false)
        : this(destination, key, DrawSalts(), DefaultChunkBytes, leaveOpen)
    {
    }

    internal SealedWriteStream(Stream destination, EncryptionKey key, ReadOnlySpan<byte> salts, int chunkBytes, bool leaveOpen)
    {
        ArgumentNullException.ThrowIfNull(destination);
        ArgumentNullException.ThrowIfNull(key);
        _destination = destination;
        _leaveOpen = leaveOpen;
        ReadOnlySpan<byte> own = salts[KeyDerivation.SaltBytes..];
        var header = new SealedHeader(
            chunkBytes, KeyDerivation.New(key.Kind, salts), BinaryPrimitives.ReadUInt128LittleEndian(own),
            BinaryPrimitives.ReadUInt128LittleEndian(own[16..]));
        _content = new byte[chunkBytes];
        _frame = new byte[Math.Max(chunkBytes + SealedCipher.AddedBytes, SealedHeader.SizeBytes)];
        _cipher = SealedCipher.Create(header, key, _frame.AsSpan(0, SealedHeader.SizeBytes));
    }

    /// <inheritdoc/>
    public override bool CanWrite => !_disposed;

    /// <inheritdoc/>
    public override void Write(ReadOnlySpan<byte> buffer)
    {
        ThrowIfOver();
        WriteHeader();
        while (!buffer.IsEmpty)
        {
            if (_filled == _content.Length)
                _destination.Write(SealChunk(isLast: false).Span);
            buffer = buffer[Take(buffer)..];
        }
    }

    /// <inheritdoc/>
    public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        ThrowIfOver();
        await WriteHeaderAsync(cancellationToken).ConfigureAwait(false);
        while (!buffer.IsEmpty)
        {
            if (_filled == _content.Length)
                await _destination.WriteAsync(SealChunk(isLast: false), cancellationToken).ConfigureAwait(false);
            buffer = buffer[Take(buffer.Span)..];
        }
    }

    /// <summary>Writes the last chunk and completes the stream. Nothing can be written afterwards.</summary>
    public void Complete()
    {
        ThrowIfOver();
        WriteHeader();
        _completed = true;
        _destination.Write(SealChunk(isLast: true).Span);
    }

    /// <summary>Asynchronous version of <see cref="Complete"/>.</summary>
    public async ValueTask CompleteAsync(CancellationToken cancellationToken = default)
    {
        ThrowIfOver();
        await WriteHeaderAsync(cancellationToken).ConfigureAwait(false);
        _completed = true;
        await _destination.WriteAsync(SealChunk(isLast: true), cancellationToken).ConfigureAwait(false);
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        if (disposing && !_disposed)
        {
            _disposed = true;
            _cipher.Dispose();
            CryptographicOperations.ZeroMemory(_content);
            if (!_leaveOpen)
                _destination.Dispose();
        }

        base.Dispose(disposing);
    }

    private static byte[] DrawSalts()
    {
        byte[] salts = new byte[KeyDerivation.SaltBytes + SealedHeader.SaltBytes];
        RandomNumberGenerator.Fill(salts);
        return salts;
    }

    private int Take(ReadOnlySpan<byte> buffer)
    {
        int taken = Math.Min(buffer.Length, _content.Length - _filled);
        buffer[..taken].CopyTo(_content.AsSpan(_filled));
        _filled += taken;
        return taken;
    }

    private ReadOnlyMemory<byte> SealChunk(bool isLast)
    {
        if (_chunks == SealedCipher.MaxChunks)
            throw new InvalidOperationException(
                $"A sealed stream has {SealedCipher.MaxChunks:N0} chunks at most. Write several.");

        Debug.Assert(_headerBytes == 0, "the header, which has the same buffer, is written before the first chunk");
        Debug.Assert(isLast || _filled == _content.Length, "every chunk but the last is full");
        Memory<byte> frame = _frame.AsMemory(0, _filled + SealedCipher.AddedBytes);
        _cipher.Seal(_chunks++, isLast, _content.AsSpan(0, _filled), frame.Span);
        _filled = 0;
        return frame;
    }

    private void WriteHeader()
    {
        if (_headerBytes > 0)
            _destination.Write(_frame.AsSpan(0, _headerBytes));
        _headerBytes = 0;
    }

    private async ValueTask WriteHeaderAsync(CancellationToken cancellationToken)
    {
        if (_headerBytes > 0)
            await _destination.WriteAsync(_frame.AsMemory(0, _headerBytes), cancellationToken).ConfigureAwait(false);
        _headerBytes = 0;
    }

    private void ThrowIfOver()
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        if (_completed)
            throw new InvalidOperationException("The sealed stream is complete: nothing can follow.");
    }
}
