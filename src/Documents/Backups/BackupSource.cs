using System.IO.Compression;
using Treepie.Compression;
using Treepie.Storage;
using Treepie.Storage.Backups;
using Treepie.Storage.Encryption;

namespace Treepie.Backups;

/// <summary>
/// Where the JSON of a backup comes from: finds out by the first bytes whether it is sealed and how it is compressed. Leaves the
/// source open.
/// </summary>
internal sealed class BackupSource : IAsyncDisposable
{
    public const string Zstd = "zstd", Gzip = "gzip", None = "none";

    private const int PeekedBytes = 8;

    private readonly CountingStream _source;
    private readonly List<Stream> _layers = [];

    private BackupSource(Stream source) => _source = new CountingStream(source);

    /// <summary>The JSON.</summary>
    public Stream Json { get; private set; } = Stream.Null;

    /// <summary>zstd, gzip or none.</summary>
    public string Compression { get; private set; } = None;

    public bool IsSealed { get; private set; }

    /// <summary>Whether it is no JSON, but a snapshot, an increment or a log.</summary>
    public bool IsPart { get; private set; }

    /// <summary>Bytes read of the source.</summary>
    public long StoredBytes => _source.Count;

    /// <summary>
    /// Looks what it is; <paramref name="ownKey"/> is tried where it is sealed and no other is given. A key for a plain backup is
    /// refused: somebody may have put that in the place of a sealed one.
    /// </summary>
    /// <exception cref="EncryptionKeyException">It is sealed with another key, or plain where a key is given, or no key is
    /// given.</exception>
    /// <exception cref="SealedStreamException">Its seal is damaged.</exception>
    /// <exception cref="BackupException">It is no backup, or needs a library that is missing.</exception>
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

    /// <summary>As it is to be restored or verified.</summary>
    /// <exception cref="BackupException">It is sealed and would become a plain database, which was not allowed; or as
    /// above.</exception>
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

    public async ValueTask DisposeAsync()
    {
        for (int layer = _layers.Count - 1; layer >= 0; layer--)
            await _layers[layer].DisposeAsync().ConfigureAwait(false);
        _layers.Clear();
    }

    /// <summary>As disposing it; the source stays open.</summary>
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
    /// A gzip member without content. Behind the last member it changes nothing; where that was cut off in its checksum or
    /// length, which the base class library takes for an end unless the program has a switch set, it is taken for the rest of
    /// them and does not fit.
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
