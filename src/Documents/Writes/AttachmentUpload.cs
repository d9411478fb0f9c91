using System.Security.Cryptography;
using Treepie.Kinds;
using Treepie.Storage;
using Treepie.Store;

namespace Treepie.Writes;

/// <summary>
/// Uploads the content of an attachment to a database. Buffers one chunk in memory, however long the content is; longer content
/// is written to disk as it arrives. It becomes visible when it is stored as an attachment
/// (<see cref="WriteBatch.PutAttachment"/>). Dispose the upload after that batch has been written: content that has not been
/// stored by then is discarded, and after a crash when the database is next opened. Not thread-safe.
/// </summary>
public sealed class AttachmentUpload : IAsyncDisposable
{
    private const int FirstBytes = 16 * 1024;

    private readonly StorageEnvironment _environment;
    private readonly long _maxBytes;
    private readonly IncrementalHash _hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
    private byte[] _piece = [];
    private int _used;
    private int _pieces;
    private long _uploadId;
    private UploadedContent? _content;

    /// <summary>Starts an upload with a maximum size.</summary>
    internal AttachmentUpload(StorageEnvironment environment, long maxBytes = long.MaxValue)
    {
        _environment = environment;
        _maxBytes = maxBytes;
    }

    /// <summary>The length so far, in bytes.</summary>
    public long LengthBytes { get; private set; }

    /// <summary>Appends to the content; <paramref name="bytes"/> are copied.</summary>
    /// <exception cref="InvalidDocumentException">The content exceeds
    /// <see cref="DatabaseOptions.MaxAttachmentBytes"/>.</exception>
    public async ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken cancellationToken = default)
    {
        if (_content is not null)
            throw new InvalidOperationException("The content has been put; nothing can be added to it.");
        if (LengthBytes + bytes.Length > _maxBytes)
            throw new InvalidDocumentException(
                $"The attachment has more than {_maxBytes:N0} bytes, the limit (MaxAttachmentBytes). Nothing was changed. Split "
                    + $"it, or open the database with a higher limit.");

        _hash.AppendData(bytes.Span);
        LengthBytes += bytes.Length;
        while (!bytes.IsEmpty)
        {
            if (_used == ContentRecord.PieceBytes)
                await WritePieceAsync(cancellationToken).ConfigureAwait(false);
            int taken = Math.Min(bytes.Length, ContentRecord.PieceBytes - _used);
            if (_used + taken > _piece.Length)
                Array.Resize(
                    ref _piece,
                    Math.Min(ContentRecord.PieceBytes, Math.Max(_used + taken, Math.Max(FirstBytes, _piece.Length * 2))));
            bytes[..taken].CopyTo(_piece.AsMemory(_used));
            _used += taken;
            bytes = bytes[taken..];
        }
    }

    /// <summary>Completes the content, which can then be stored as an attachment.</summary>
    public async Task CompleteAsync(CancellationToken cancellationToken = default)
    {
        if (_content is not null)
            return;
        if (_uploadId != 0)
            await WritePieceAsync(cancellationToken).ConfigureAwait(false);
        _content = new UploadedContent(
            _hash.GetHashAndReset(), LengthBytes, _uploadId, _uploadId == 0 ? _piece.AsMemory(0, _used) : default);
    }

    /// <summary>Discards the content unless it was stored as an attachment.</summary>
    public async ValueTask DisposeAsync()
    {
        _hash.Dispose();
        bool isDone = _uploadId == 0;
        while (!isDone)
            isDone = await _environment.WriteAsync(
                transaction => new ContentStore(transaction).Abandon(_uploadId), CancellationToken.None).ConfigureAwait(false);
        _uploadId = 0;
    }

    /// <summary>Whether its chunks are on disk, and deleted when it is disposed.</summary>
    internal bool IsOnDisk => _uploadId != 0;

    /// <summary>
    /// Stores the content before any attachment refers to it, as when importing dumps; contents without attachments are dropped
    /// by <see cref="SweepAsync"/>.
    /// </summary>
    internal async Task SettleAsync(StorageEnvironment environment, CancellationToken cancellationToken)
    {
        UploadedContent content = Content;
        cancellationToken.ThrowIfCancellationRequested();
        await environment.WriteAsync(
            transaction =>
            {
                new ContentStore(transaction).Settle(content.Hash, content.SizeBytes, content.UploadId, content.Only.Span);
                return true;
            },
            CancellationToken.None).ConfigureAwait(false);
    }

    /// <summary>Drops contents without attachments, in steps of bounded size.</summary>
    internal static async Task SweepAsync(StorageEnvironment environment, CancellationToken cancellationToken)
    {
        for (byte[]? next = []; next is { } from;)
            next = await environment.WriteAsync(transaction => new ContentStore(transaction).Sweep(from), cancellationToken)
                .ConfigureAwait(false);
    }

    /// <summary>The uploaded content.</summary>
    /// <exception cref="InvalidOperationException">The content is not complete.</exception>
    internal UploadedContent Content =>
        _content ?? throw new InvalidOperationException("The content is not complete: call CompleteAsync first.");

    private async ValueTask WritePieceAsync(CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        (int number, int length) = (_pieces, _used);
        _uploadId = await _environment.WriteAsync(
            transaction =>
            {
                var contents = new ContentStore(transaction);
                long id = number == 0 ? contents.Begin() : _uploadId;
                contents.AddPiece(id, number, _piece.AsSpan(0, length));
                return id;
            },
            CancellationToken.None).ConfigureAwait(false); // short, and where it was written must be known
        _pieces++;
        _used = 0;
    }
}
