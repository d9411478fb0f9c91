namespace Treepie.Backups;

/// <summary>Reads parts of a chain of logical backups. Error messages name the part.</summary>
internal sealed class DumpPartReader(RestoreOptions options)
{
    /// <summary>Reads the header of a part.</summary>
    /// <exception cref="BackupException">It is not a logical backup by this program, is damaged, or its key was not
    /// given.</exception>
    public Task<DumpHeader> ReadHeaderAsync(BackupPart part, CancellationToken cancellationToken) =>
        OpenAsync(part, source => ReadHeaderAsync(source, part.Name, cancellationToken), cancellationToken);

    /// <summary>Reads a part to its end and passes its contents to a sink.</summary>
    /// <param name="part">The part.</param>
    /// <param name="expected">The header that was read before.</param>
    /// <param name="sink">Receives the contents.</param>
    /// <param name="progress">Receives the progress; null for none.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <exception cref="BackupException">The part is damaged, or has changed since its header was read.</exception>
    public Task<BackupReport> ScanAsync(
        BackupPart part, DumpHeader expected, IDumpSink sink, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken) =>
        OpenAsync(
            part,
            source =>
            {
                if (options.IsRestore)
                    source.ReadAhead();
                return new DumpScan(
                    source, sink, options.Database ?? new DatabaseOptions(), options.SkipInvalidDocuments, 0, progress)
                {
                    Accept = header =>
                    {
                        if (header != expected)
                            throw new BackupException(
                                BackupFault.Damaged,
                                "It is not any more what it was a moment ago. Look who writes there, and begin anew.");
                    },
                }.RunAsync(cancellationToken);
            },
            cancellationToken);

    private async Task<DumpHeader> ReadHeaderAsync(BackupSource source, string name, CancellationToken cancellationToken)
    {
        if (source.IsPart)
            throw new BackupException(
                BackupFault.NotABackup,
                $"'{name}' is a snapshot, or a part of one, among logical backups. A chain consists of one kind or the other: "
                    + "give only those.");
        return await DumpScan.ReadHeaderAsync(source, options.Database ?? new DatabaseOptions(), cancellationToken)
            .ConfigureAwait(false)
            ?? throw new BackupException(
                BackupFault.NotABackup,
                $"'{name}' is a dump of another program, which cannot be part of a chain. Restore it separately.");
    }

    private async Task<T> OpenAsync<T>(BackupPart part, Func<BackupSource, Task<T>> read, CancellationToken cancellationToken)
    {
        try
        {
            Stream stream = await options.OpenAsync(part, cancellationToken).ConfigureAwait(false);
            await using (stream.ConfigureAwait(false))
            {
                BackupSource source = await BackupSource.OpenAsync(stream, options, cancellationToken).ConfigureAwait(false);
                await using (source.ConfigureAwait(false))
                    return await read(source).ConfigureAwait(false);
            }
        }
        catch (Exception error)
            when (BackupException.From(error) is { } translated
                && !translated.Message.Contains($"'{part.Name}'", StringComparison.Ordinal))
        {
            throw new BackupException(translated.Fault, $"'{part.Name}': {translated.Message}", error);
        }
    }
}
