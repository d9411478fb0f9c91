using Treepie.Storage.Backups;
using Treepie.Storage.Files;

namespace Treepie.Backups;

/// <summary>
/// Opens the parts of a snapshot one after another; each may be encrypted and compressed differently. Counts the bytes read.
/// </summary>
internal sealed class PartSource(RestoreOptions options)
{
    private long _bytesBefore;
    private BackupSource? _current;

    /// <summary>The compression of the part opened first: zstd, gzip or none.</summary>
    public string? Compression { get; private set; }

    /// <summary>Whether the part opened first is encrypted.</summary>
    public bool IsSealed { get; private set; }

    /// <summary>The number of bytes read from all parts.</summary>
    public long StoredBytes => _bytesBefore + (_current?.StoredBytes ?? 0);

    /// <summary>Returns a part that is opened when needed.</summary>
    public BackupChainPart Of(BackupPart part) => new(part.Name, async cancellationToken =>
    {
        Stream stream = await options.OpenAsync(part, cancellationToken).ConfigureAwait(false);
        BackupSource? source = null;
        try
        {
            source = await BackupSource.OpenAsync(stream, options, cancellationToken).ConfigureAwait(false);
            if (!source.IsPart)
                throw new BackupException(
                    BackupFault.NotABackup,
                    $"'{part.Name}' is a logical backup, which cannot be part of a chain of snapshots, increments and logs. "
                        + "Restore it by itself.");
            return Use(source, stream);
        }
        catch
        {
            if (source is not null)
                await source.DisposeAsync().ConfigureAwait(false);
            await stream.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    });

    /// <summary>Returns the only part, which is open already and closed by the caller.</summary>
    public BackupChainPart Of(BackupSource source) => new("the backup", _ => ValueTask.FromResult<Stream>(Use(source, null)));

    private PartStream Use(BackupSource source, Stream? owned)
    {
        _bytesBefore = StoredBytes;
        _current = source;
        Compression ??= source.Compression;
        IsSealed |= source.IsSealed;
        return new PartStream(source, owned, () =>
        {
            if (_current != source)
                return;
            _bytesBefore += source.StoredBytes;
            _current = null;
        });
    }

    /// <summary>Reads a source; closes it with its underlying stream if it owns that.</summary>
    private sealed class PartStream(BackupSource source, Stream? owned, Action closing) : ForwardStream
    {
        public override bool CanRead => true;

        public override int Read(Span<byte> buffer) => source.Json.Read(buffer);

        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
            source.Json.ReadAsync(buffer, cancellationToken);

        protected override void Dispose(bool disposing)
        {
            if (disposing)
            {
                closing();
                if (owned is not null)
                {
                    source.Close();
                    owned.Dispose();
                }
            }

            base.Dispose(disposing);
        }
    }
}
