using System.Diagnostics;
using System.Security.Cryptography;
using Treepie.Storage.Files;

namespace Treepie.Storage.Encryption;

/// <summary>
/// Decrypts and authenticates a stream written by <see cref="SealedWriteStream"/>, sequentially, using memory for two chunks.
/// Returns the data of a chunk only after its tag has been verified. A stream that was truncated, reordered, mixed with another
/// or appended to ends in a specific error, and never reads as complete. Not thread-safe.
/// </summary>
public sealed class SealedReadStream : ForwardStream
{
    private readonly Stream _source;
    private readonly bool _leaveOpen;
    private readonly EncryptionKey? _key;
    private SealedCipher? _cipher;
    private Exception? _failure;
    private byte[] _content = [];
    private byte[] _frame = [];
    private int _at;
    private int _filled;
    private long _chunks;
    private bool _ended;
    private bool _disposed;

    /// <summary>Creates a stream without reading anything yet. The key is used at the first read.</summary>
    /// <param name="source">A stream positioned at the first byte of the encrypted stream.</param>
    /// <param name="key">The key with which it was encrypted; without one, the first read throws.</param>
    /// <param name="leaveOpen">Whether <paramref name="source"/> stays open when this stream is disposed.</param>
    public SealedReadStream(Stream source, EncryptionKey? key, bool leaveOpen = false)
    {
        ArgumentNullException.ThrowIfNull(source);
        _source = source;
        _key = key;
        _leaveOpen = leaveOpen;
    }

    /// <summary>The number of bytes needed to recognize an encrypted stream.</summary>
    public static int MagicBytes => SealedHeader.Magic.Length;

    /// <inheritdoc/>
    public override bool CanRead => !_disposed;

    /// <summary>Returns whether bytes are the start of an encrypted stream.</summary>
    public static bool IsSealed(ReadOnlySpan<byte> start) => start.StartsWith(SealedHeader.Magic);

    /// <inheritdoc/>
    /// <exception cref="EncryptionKeyException">No key was given, or the wrong one.</exception>
    /// <exception cref="SealedStreamException">The stream differs from what was written.</exception>
    public override int Read(Span<byte> buffer)
    {
        while (NeedsChunk(buffer.IsEmpty))
            NextChunkAsync(isAsync: false, CancellationToken.None).GetAwaiter().GetResult(); // completes without waiting

        return Give(buffer);
    }

    /// <inheritdoc/>
    /// <exception cref="EncryptionKeyException">No key was given, or the wrong one.</exception>
    /// <exception cref="SealedStreamException">The stream differs from what was written.</exception>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        while (NeedsChunk(buffer.IsEmpty))
            await NextChunkAsync(isAsync: true, cancellationToken).ConfigureAwait(false);

        return Give(buffer.Span);
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        if (disposing && !_disposed)
        {
            _disposed = true;
            _cipher?.Dispose();
            CryptographicOperations.ZeroMemory(_content);
            if (!_leaveOpen)
                _source.Dispose();
        }

        base.Dispose(disposing);
    }

    private bool NeedsChunk(bool wantsNothing)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        if (_failure is { } failure)
            System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw(failure);
        return _at == _filled && !_ended && !wantsNothing;
    }

    private int Give(Span<byte> buffer)
    {
        Debug.Assert(_at <= _filled && _filled <= _content.Length, "what is given was read before");
        int given = Math.Min(buffer.Length, _filled - _at);
        _content.AsSpan(_at, given).CopyTo(buffer);
        _at += given;
        return given;
    }

    private async Task NextChunkAsync(bool isAsync, CancellationToken cancellationToken)
    {
        try
        {
            SealedCipher cipher = _cipher ??= await OpenAsync(isAsync, cancellationToken).ConfigureAwait(false);
            int read = await FillAsync(0, SealedCipher.FrameBytes, isAsync, cancellationToken).ConfigureAwait(false);
            if (read < SealedCipher.FrameBytes)
                throw CutOff(read);

            int length = cipher.ReadFrame(_frame.AsSpan(0, SealedCipher.FrameBytes), _chunks, _content.Length, out bool isLast);
            int rest = length + SealedCipher.TagBytes;
            read = await FillAsync(SealedCipher.FrameBytes, rest, isAsync, cancellationToken).ConfigureAwait(false);
            if (read < rest)
                throw CutOff(SealedCipher.FrameBytes + read);

            cipher.Open(_chunks, isLast, _frame.AsSpan(0, length + SealedCipher.AddedBytes), _content.AsSpan(0, length));
            if (isLast && await FillAsync(0, 1, isAsync, cancellationToken).ConfigureAwait(false) > 0)
                throw new SealedStreamException(
                    SealedFault.Appended,
                    $"The sealed stream has bytes after its last chunk ({_chunks}): something was appended. Take another copy.");

            _chunks++;
            _ended = isLast;
            (_at, _filled) = (0, length);
        }
        catch (StorageException error)
        {
            _failure = error;
            throw;
        }
    }

    private async Task<SealedCipher> OpenAsync(bool isAsync, CancellationToken cancellationToken)
    {
        _frame = new byte[SealedHeader.SizeBytes];
        int read = await FillAsync(0, SealedHeader.SizeBytes, isAsync, cancellationToken).ConfigureAwait(false);
        _ = SealedHeader.Read(_frame.AsSpan(0, read)); // a stream that is not sealed is reported first, without a key
        if (_key is null)
            throw new EncryptionKeyException("The stream is sealed, and no key was given. Give the key it was sealed with.");

        SealedCipher cipher = SealedCipher.Open(_frame.AsSpan(0, read), _key, out SealedHeader header);
        _content = new byte[header.ChunkBytes];
        _frame = new byte[header.ChunkBytes + SealedCipher.AddedBytes];
        return cipher;
    }

    private SealedStreamException CutOff(int there) => new(
        SealedFault.CutOff,
        there == 0
            ? $"The sealed stream is cut off: it ends before chunk {_chunks}, and the one before was not the last. Take another "
                + $"copy."
            : $"The sealed stream is cut off within chunk {_chunks}. Take another copy.");

    private async Task<int> FillAsync(int from, int count, bool isAsync, CancellationToken cancellationToken)
    {
        int filled = 0;
        while (filled < count)
        {
            Memory<byte> room = _frame.AsMemory(from + filled, count - filled);
            int read = isAsync ? await _source.ReadAsync(room, cancellationToken).ConfigureAwait(false) : _source.Read(room.Span);
            if (read == 0)
                break;
            filled += read;
        }

        return filled;
    }
}
