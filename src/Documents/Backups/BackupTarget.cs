using System.IO.Compression;
using Treepie.Compression;
using Treepie.Storage;
using Treepie.Storage.Encryption;

namespace Treepie.Backups;

/// <summary>
/// Where the JSON of a backup goes: through a compressor and a seal to the destination, which stays open. Only
/// <see cref="CompleteAsync"/> gives it an end: disposed without, it stays a backup that was broken off, and reads as one.
/// </summary>
internal sealed class BackupTarget : IAsyncDisposable
{
    /// <summary>
    /// More threads than this take memory (a few MiB each) and give nothing that a single source of JSON could keep busy.
    /// </summary>
    private const int MaxWorkers = 4;

    /// <summary>
    /// Levels of <see cref="BackupCompression.ZstdOptimal"/>: a tenth smaller than gzip at its best; suite <c>backup</c> shows
    /// what they give.
    /// </summary>
    private static readonly ZstdLevels _optimal = new([7, 9, 12], 0.9);

    /// <summary>
    /// Levels of <see cref="BackupCompression.ZstdFastest"/>: not larger than gzip at its best, with something to spare because a
    /// sample is no whole. 2 is hardly slower than 1, and larger than gzip nowhere near as often.
    /// </summary>
    private static readonly ZstdLevels _fastest = new([2, 3, 5, 7], 0.97);

    private readonly CountingStream _destination;
    private readonly SealedWriteStream? _seal;
    private readonly Stream _json;
    private readonly Stream _paced;

    public BackupTarget(Stream destination, BackupCompression compression, EncryptionKey? key, BackupPace? pace = null)
    {
        _destination = new CountingStream(new BlockingStream(destination, pace));
        _seal = key is null ? null : new SealedWriteStream(_destination, key, leaveOpen: true);
        Stream below = (Stream?)_seal ?? _destination;
        // What reads, writes JSON and hashes takes a third of what compressing does, and waits for it. A backup at a pace does
        // all on its own thread: what others did for it would go on while it rests.
        int workers = pace is null ? Math.Min(MaxWorkers, Environment.ProcessorCount) : 0;
        try
        {
            _json = compression switch
            {
                BackupCompression.ZstdFastest => new ZstdWriteStream(below, ZstdLibrary.OfSystem, _fastest, workers),
                BackupCompression.ZstdOptimal => new ZstdWriteStream(below, ZstdLibrary.OfSystem, _optimal, workers),
                BackupCompression.GzipFastest => new GZipStream(below, CompressionLevel.Fastest, leaveOpen: true),
                BackupCompression.GzipOptimal => new GZipStream(below, CompressionLevel.Optimal, leaveOpen: true),
                BackupCompression.None => below,
                _ => throw new ArgumentOutOfRangeException(nameof(compression), compression, "There is no such compression."),
            };
        }
        catch
        {
            _seal?.Dispose();
            throw;
        }

        _paced = pace is null ? _json : new PacedStream(_json, pace);
        Compression = NameOf(compression);
    }

    /// <summary>What is written is the JSON.</summary>
    public Stream Json => _paced;

    /// <summary>zstd, gzip or none.</summary>
    public string Compression { get; }

    public bool IsSealed => _seal is not null;

    /// <summary>Bytes that went to the destination.</summary>
    public long StoredBytes => _destination.Count;

    /// <summary>Ends compression and seal.</summary>
    public async ValueTask CompleteAsync(CancellationToken cancellationToken)
    {
        if (_json is ZstdWriteStream zstd)
            await zstd.CompleteAsync(cancellationToken).ConfigureAwait(false);
        else if (_json is GZipStream gzip)
            await gzip.DisposeAsync().ConfigureAwait(false);
        if (_seal is not null)
            await _seal.CompleteAsync(cancellationToken).ConfigureAwait(false);
    }

    public async ValueTask DisposeAsync()
    {
        _destination.Abandon();
        if (_json is GZipStream && _seal is not null)
            await _seal.DisposeAsync().ConfigureAwait(false); // before the compressor, whose end must not be sealed
        try
        {
            await _json.DisposeAsync().ConfigureAwait(false);
        }
        catch (ObjectDisposedException)
        {
            // the compressor met the closed seal
        }

        if (_seal is not null)
            await _seal.DisposeAsync().ConfigureAwait(false);
    }

    private static string NameOf(BackupCompression compression) => compression switch
    {
        BackupCompression.ZstdFastest or BackupCompression.ZstdOptimal => BackupSource.Zstd,
        BackupCompression.GzipFastest or BackupCompression.GzipOptimal => BackupSource.Gzip,
        _ => BackupSource.None,
    };
}
