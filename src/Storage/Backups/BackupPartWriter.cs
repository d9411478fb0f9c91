using System.Buffers.Binary;
using System.Diagnostics;
using System.Security.Cryptography;

namespace Treepie.Storage.Backups;

/// <summary>
/// Writes a backup part sequentially to a stream, using memory for one frame (1 MiB). Only <see cref="CompleteAsync"/> writes its
/// end: without it, the part reads as truncated. Does not encrypt: data of an encrypted environment must be written to a
/// <see cref="Encryption.SealedWriteStream"/>. Not thread-safe.
/// </summary>
public sealed class BackupPartWriter : IDisposable
{
    private readonly Stream _destination;
    private readonly BackupPartHeader _header;
    private readonly BackupHash _hash = new();
    private readonly byte[] _frame = GC.AllocateUninitializedArray<byte>(
        PartFormat.FrameHeadBytes + PartFormat.MaxContentBytes, pinned: true);
    private uint _mark;
    private long _frames;
    private bool _isBegun;
    private bool _isOver;

    /// <summary>Creates a writer without writing anything yet. The destination stays open.</summary>
    public BackupPartWriter(Stream destination, BackupPartHeader header)
    {
        ArgumentNullException.ThrowIfNull(destination);
        ArgumentNullException.ThrowIfNull(header);
        _destination = destination;
        _header = header;
    }

    /// <summary>The header of the part.</summary>
    public BackupPartHeader Header => _header;

    /// <summary>The number of bytes written so far.</summary>
    public long Bytes { get; private set; }

    /// <summary>The buffer for the content of the next frame.</summary>
    internal Span<byte> Content => _frame.AsSpan(PartFormat.FrameHeadBytes);

    /// <summary>Writes a manifest, which describes everything written before it; at most 1 MiB.</summary>
    public async ValueTask WriteManifestAsync(ReadOnlyMemory<byte> manifest, CancellationToken cancellationToken = default)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(manifest.Length, PartFormat.MaxContentBytes, nameof(manifest));
        manifest.Span.CopyTo(Content);
        await WriteAsync(PartFrameKind.Manifest, manifest.Length, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Writes the end of the part.</summary>
    /// <returns>The hash of the part, in hexadecimal, which an increment refers to.</returns>
    public async ValueTask<string> CompleteAsync(CancellationToken cancellationToken = default)
    {
        await BeginAsync(cancellationToken).ConfigureAwait(false);
        byte[] hash = _hash.GetCurrentHash();
        BinaryPrimitives.WriteInt64LittleEndian(Content, _frames);
        BinaryPrimitives.WriteInt64LittleEndian(Content[8..], Bytes);
        hash.CopyTo(Content[16..]);
        await WriteAsync(PartFrameKind.End, PartFormat.EndBytes, cancellationToken).ConfigureAwait(false);
        _isOver = true;
        return Convert.ToHexStringLower(hash);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _hash.Dispose();
        CryptographicOperations.ZeroMemory(_frame); // pages of an encrypted environment were in it
    }

    /// <summary>Writes the contents of <see cref="Content"/> as a frame.</summary>
    internal async ValueTask WriteAsync(PartFrameKind kind, int contentBytes, CancellationToken cancellationToken)
    {
        Debug.Assert(contentBytes is >= 0 and <= PartFormat.MaxContentBytes, "the content fits into a frame");
        if (_isOver)
            throw new InvalidOperationException("The part is complete: nothing can follow.");
        cancellationToken.ThrowIfCancellationRequested();

        await BeginAsync(cancellationToken).ConfigureAwait(false);
        int length = PartFormat.FrameHeadBytes + contentBytes;
        new PartFrame(_frame).WriteHead(kind, contentBytes, _frames, _mark);
        _hash.Append(_frame.AsSpan(0, length));
        Bytes += length;
        await _destination.WriteAsync(_frame.AsMemory(0, length), cancellationToken).ConfigureAwait(false);
        _frames++;
    }

    private async ValueTask BeginAsync(CancellationToken cancellationToken)
    {
        if (_isBegun)
            return;

        _isBegun = true;
        byte[] header = _header.Write(out _mark);
        _hash.Append(header);
        Bytes += header.Length;
        await _destination.WriteAsync(header, cancellationToken).ConfigureAwait(false);
    }
}
