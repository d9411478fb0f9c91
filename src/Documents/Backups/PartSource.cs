using Treepie.Storage.Backups;
using Treepie.Storage.Files;

namespace Treepie.Backups;

/// <summary>
/// The parts of a snapshot, opened one after the other: each sealed and compressed in its own way. Counts what is read of them.
/// </summary>
internal sealed class PartSource(RestoreOptions options)
{
    private long _bytesBefore;
    private BackupSource? _current;

    /// <summary>zstd, gzip or none, of the part that was opened first.</summary>
    public string? Compression { get; private set; }

    /// <summary>Whether the part that was opened first is sealed.</summary>
    public bool IsSealed { get; private set; }

    /// <summary>Bytes read of all parts.</summary>
    public long StoredBytes => _bytesBefore + (_current?.StoredBytes ?? 0);

    /// <summary>A part by itself.</summary>
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
                    $"'{part.Name}' is no snapshot, increment or log, but a logical backup: it stands alone and is restored by "
                        + $"itself.");
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

    /// <summary>The one part that is open already, and that somebody else closes.</summary>
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

    /// <summary>Reads a source, and closes it with what is below it if it is its own.</summary>
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
