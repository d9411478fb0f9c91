using System.IO.Compression;
using Treepie.Compression;
using Treepie.Storage;
using Treepie.Storage.Encryption;

namespace Treepie.Backups;

/// <summary>
/// Where the JSON of a backup goes: through a compressor and a seal to the destination, which stays open. Only <see cref="CompleteAsync"/> gives it an end: disposed
/// without, it stays a backup that was broken off, and reads as one.
/// </summary>
internal sealed class BackupTarget : IAsyncDisposable
{
    /// <summary>Level of <see cref="BackupCompression.ZstdOptimal"/>; suite <c>backup</c> shows what it gives.</summary>
    private const int OptimalLevel = 7;

    /// <summary>Level of <see cref="BackupCompression.ZstdFastest"/>: hardly slower than 1, and smaller than gzip at its best where 1 is larger.</summary>
    private const int FastestLevel = 3;

    /// <summary>More threads than this take memory (a few MiB each) and give nothing that a single source of JSON could keep busy.</summary>
    private const int MaxWorkers = 4;

    private readonly CountingStream _destination;
    private readonly SealedWriteStream? _seal;
    private readonly Stream _json;

    public BackupTarget(Stream destination, BackupCompression compression, EncryptionKey? key)
    {
        _destination = new CountingStream(destination);
        _seal = key is null ? null : new SealedWriteStream(_destination, key, leaveOpen: true);
        Stream below = (Stream?)_seal ?? _destination;
        int workers = Math.Min(MaxWorkers, Environment.ProcessorCount - 1);
        try
        {
            _json = compression switch
            {
                BackupCompression.ZstdFastest => new ZstdWriteStream(below, ZstdLibrary.OfSystem, FastestLevel, workers),
                BackupCompression.ZstdOptimal => new ZstdWriteStream(below, ZstdLibrary.OfSystem, OptimalLevel, workers),
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

        Compression = NameOf(compression);
    }

    /// <summary>What is written is the JSON.</summary>
    public Stream Json => _json;

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
