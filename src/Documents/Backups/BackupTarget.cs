using System.IO.Compression;
using Treepie.Compression;
using Treepie.Storage;
using Treepie.Storage.Encryption;

namespace Treepie.Backups;

/// <summary>
/// Writes the JSON of a backup through compression and encryption to the destination, which stays open. Only
/// <see cref="CompleteAsync"/> terminates the backup: if disposed without it, the backup is read as truncated.
/// </summary>
internal sealed class BackupTarget : IAsyncDisposable
{
    /// <summary>
    /// The limit on compression threads: more would take memory (a few MiB each), but a single source of JSON could not keep
    /// them busy.
    /// </summary>
    private const int MaxWorkers = 4;

    /// <summary>
    /// The levels of <see cref="BackupCompression.ZstdOptimal"/>: a tenth smaller than gzip's best; measured by the suite
    /// <c>backup</c>.
    /// </summary>
    private static readonly ZstdLevels _optimal = new([7, 9, 12], 0.9);

    /// <summary>
    /// The levels of <see cref="BackupCompression.ZstdFastest"/>: not larger than gzip's best, with a margin because a sample
    /// does not represent the whole. Level 2 is hardly slower than 1, and much less often larger than gzip.
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
        // Reading, writing JSON and hashing take a third of the time of compression, and wait for it. A throttled backup does
        // everything on its own thread: other threads would continue to work during its pauses.
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

    /// <summary>The stream to write the JSON to.</summary>
    public Stream Json => _paced;

    /// <summary>zstd, gzip or none.</summary>
    public string Compression { get; }

    public bool IsSealed => _seal is not null;

    /// <summary>The number of bytes written to the destination.</summary>
    public long StoredBytes => _destination.Count;

    /// <summary>Terminates the compressed and encrypted streams.</summary>
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
            await _seal.DisposeAsync().ConfigureAwait(false); // before the compressor, whose final block must not be encrypted
        try
        {
            await _json.DisposeAsync().ConfigureAwait(false);
        }
        catch (ObjectDisposedException)
        {
            // the compressor tried to write to the closed stream
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
