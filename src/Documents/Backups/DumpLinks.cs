namespace Treepie.Backups;

/// <summary>
/// Finds the chain of logical backups that ends with a given one among all backups in a place, by the backup that each one
/// continues. The order of file names is not enough: a place also contains backups that no other backup continues, because
/// the process was killed before it recorded them, or because several tasks write there. Reads the header of each backup from
/// the given one back to the full one; where several end at the required etag, reads those completely to compute their
/// content hashes.
/// </summary>
internal sealed class DumpLinks(RestoreOptions options)
{
    private readonly DumpPartReader _reader = new(options);

    /// <summary>Returns the full backup and the increments up to <paramref name="wanted"/>, in order.</summary>
    /// <param name="wanted">The last backup of the chain.</param>
    /// <param name="earlier">The other backups in the place that may belong to the chain, newest first.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <exception cref="BackupException"><see cref="BackupFault.LinkMissing"/>: a backup of the chain is missing. Or
    /// <paramref name="wanted"/> cannot be read.</exception>
    public async Task<IReadOnlyList<BackupPart>> LeadToAsync(
        BackupPart wanted, IReadOnlyList<BackupPart> earlier, CancellationToken cancellationToken)
    {
        var chain = new List<BackupPart> { wanted };
        DumpHeader header = await _reader.ReadHeaderAsync(wanted, cancellationToken).ConfigureAwait(false);
        var headers = new Dictionary<BackupPart, DumpHeader?>(ReferenceEqualityComparer.Instance);
        while (header.Since is { } since)
        {
            (BackupPart before, header, int at) = await BeforeAsync(header, since).ConfigureAwait(false);
            chain.Add(before);
            earlier = [.. earlier.Skip(at + 1)];
        }

        chain.Reverse();
        return chain;

        async Task<(BackupPart Part, DumpHeader Header, int At)> BeforeAsync(DumpHeader of, DumpSince since)
        {
            var found = new List<(BackupPart Part, DumpHeader Header, int At)>();
            BackupException? unread = null;
            for (int i = 0; i < earlier.Count; i++)
            {
                if (!headers.TryGetValue(earlier[i], out DumpHeader? other))
                {
                    try
                    {
                        other = await _reader.ReadHeaderAsync(earlier[i], cancellationToken).ConfigureAwait(false);
                    }
                    catch (BackupException error)
                    {
                        unread ??= error; // reported only if the missing backup may be this one
                    }

                    headers.Add(earlier[i], other);
                }

                if (other is null || other.DatabaseId != of.DatabaseId)
                    continue;
                if (other.LastEtag == since.LastEtag)
                    found.Add((earlier[i], other, i));
                else if (other.LastEtag < since.LastEtag && found.Count > 0)
                    break; // etags only decrease from here on
            }

            if (found.Count == 1)
                return found[0]; // whether it is the right one is verified by its hash when it is read
            foreach ((BackupPart Part, DumpHeader Header, int At) candidate in found)
            {
                try
                {
                    BackupReport report = await _reader.ScanAsync(
                        candidate.Part, candidate.Header, new NoSink(), null, cancellationToken).ConfigureAwait(false);
                    if (report.ContentHash == since.ContentHash)
                        return candidate;
                }
                catch (BackupException error)
                {
                    unread ??= error;
                }
            }

            throw new BackupException(
                BackupFault.LinkMissing,
                $"'{chain[^1].Name}' is an increment that continues a backup of '{of.DatabaseName}' up to etag {since.LastEtag} "
                    + $"with the content hash {since.ContentHash}, which is not at the place. "
                    + (unread is null
                        ? "Restore an earlier backup, or bring that one back."
                        : $"This one cannot be read: {unread.Message}"),
                unread);
        }
    }
}
