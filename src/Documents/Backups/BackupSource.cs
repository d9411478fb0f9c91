using System.IO.Compression;
using Treepie.Compression;
using Treepie.Storage;
using Treepie.Storage.Backups;
using Treepie.Storage.Encryption;

namespace Treepie.Backups;

/// <summary>
/// Reads the JSON of a backup from a stream: detects from the first bytes whether it is encrypted and how it is compressed.
/// Leaves the stream open.
/// </summary>
internal sealed class BackupSource : IAsyncDisposable
{
    public const string Zstd = "zstd", Gzip = "gzip", None = "none";

    private const int PeekedBytes = 8;

    private readonly CountingStream _source;
    private readonly List<Stream> _layers = [];

    private BackupSource(Stream source) => _source = new CountingStream(source);

    public Stream Json { get; private set; } = Stream.Null;

    /// <summary>zstd, gzip or none.</summary>
    public string Compression { get; private set; } = None;

    public bool IsSealed { get; private set; }

    /// <summary>Whether the content is not JSON but a snapshot, an increment or a log.</summary>
    public bool IsPart { get; private set; }

    /// <summary>The number of bytes read from the stream.</summary>
    public long StoredBytes => _source.Count;

    /// <summary>
    /// Detects the format. <paramref name="ownKey"/> is used for an encrypted backup if no other key is given. A key for an
    /// unencrypted backup is an error, because somebody may have replaced an encrypted backup with it.
    /// </summary>
    /// <exception cref="EncryptionKeyException">The backup is encrypted with another key, encrypted while no key is given, or
    /// unencrypted while a key is given.</exception>
    /// <exception cref="SealedStreamException">The header of the encrypted stream is damaged.</exception>
    /// <exception cref="BackupException">The stream is not a backup, or needs a library that is missing.</exception>
    public static async Task<BackupSource> OpenAsync(
        Stream source, EncryptionKey? key, EncryptionKey? ownKey, CancellationToken cancellationToken)
    {
        var opened = new BackupSource(source);
        try
        {
            await opened.OpenAsync(key, ownKey, cancellationToken).ConfigureAwait(false);
            return opened;
        }
        catch
        {
            await opened.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Opens a backup for a restore or verification.</summary>
    /// <exception cref="BackupException">The backup is encrypted and would be restored to an unencrypted database without
    /// permission; or as above.</exception>
    public static async Task<BackupSource> OpenAsync(Stream source, RestoreOptions options, CancellationToken cancellationToken)
    {
        BackupSource opened = await OpenAsync(
            options.IsOnThread ? new BlockingStream(source, options.Pace) : source, options.BackupKey, options.OwnKey,
            cancellationToken).ConfigureAwait(false);
        if (!opened.IsSealed
            || options is not { IsRestore: true, AllowPlain: false }
            || options.Database?.EncryptionKey is not null)
            return opened;

        await opened.DisposeAsync().ConfigureAwait(false);
        throw new BackupException(
            BackupFault.PlainNotAllowed,
            "The backup is sealed, and the database it is restored to would be plain: everybody who has its files could read it. "
                + "Restore it to an encrypted database, or say that it may be plain (AllowPlain). Nothing was changed.");
    }

    /// <summary>
    /// From now on, decrypts and decompresses on another thread. Requires that the stream is disposed asynchronously.
    /// </summary>
    public void ReadAhead()
    {
        var ahead = new ReadAheadStream(Json);
        _layers.Add(ahead);
        Json = ahead;
    }

    public async ValueTask DisposeAsync()
    {
        for (int layer = _layers.Count - 1; layer >= 0; layer--)
            await _layers[layer].DisposeAsync().ConfigureAwait(false);
        _layers.Clear();
    }

    /// <summary>Synchronous equivalent of <see cref="DisposeAsync"/>; leaves the stream open.</summary>
    public void Close()
    {
        for (int layer = _layers.Count - 1; layer >= 0; layer--)
            _layers[layer].Dispose();
        _layers.Clear();
    }

    private async Task OpenAsync(EncryptionKey? key, EncryptionKey? ownKey, CancellationToken cancellationToken)
    {
        var below = new PeekedStream(_source);
        ReadOnlyMemory<byte> start = await below.PeekAsync(PeekedBytes, cancellationToken).ConfigureAwait(false);
        IsSealed = SealedReadStream.IsSealed(start.Span);
        if (IsSealed)
        {
            var seal = new SealedReadStream(below, key ?? ownKey, leaveOpen: true);
            _layers.Add(seal);
            below = new PeekedStream(seal);
            start = await below.PeekAsync(PeekedBytes, cancellationToken).ConfigureAwait(false);
        }
        else if (key is not null)
        {
            throw new EncryptionKeyException(
                "The backup is plain, and a key for it was given: it is not the one that was sealed with that key. If you trust "
                    + "where it comes from, read it without a key.");
        }

        Stream? decompressor = null;
        if (start.Span.StartsWith(ZstdLibrary.Magic))
            (decompressor, Compression) = (new ZstdReadStream(below, ZstdLibrary.OfSystem), Zstd);
        else if (start.Span is [0x1F, 0x8B, ..])
            (decompressor, Compression) =
                (new GZipStream(new FollowedStream(below, EmptyGzip), CompressionMode.Decompress, leaveOpen: true), Gzip);
        if (decompressor is not null)
        {
            _layers.Add(decompressor);
            below = new PeekedStream(decompressor);
            start = await below.PeekAsync(PeekedBytes, cancellationToken).ConfigureAwait(false);
        }

        Json = below;
        IsPart = BackupPartHeader.IsPart(start.Span);
        if (decompressor is null && !IsPart)
            CheckJson(start.Span);
    }

    /// <summary>
    /// An empty gzip member, appended to the stream. After a complete member it has no effect. If the last member was
    /// truncated in its checksum or length, which the base class library accepts as the end by default, these bytes are read
    /// in their place and do not match.
    /// </summary>
    private static ReadOnlyMemory<byte> EmptyGzip { get; } = new byte[]
    {
        0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0
    };

    private static void CheckJson(ReadOnlySpan<byte> start)
    {
        ReadOnlySpan<byte> text = start.StartsWith("\uFEFF"u8) ? start[3..] : start;
        text = text.TrimStart(" \t\r\n"u8);
        if (start.IsEmpty)
            throw new BackupException(BackupFault.CutOff, "The backup is empty: not a byte is there. Take another copy.");
        if (!text.IsEmpty && text[0] != (byte)'{')
            throw new BackupException(
                BackupFault.NotABackup, "This is no backup: a backup is sealed, zstd, gzip, or a JSON object.");
    }
}
