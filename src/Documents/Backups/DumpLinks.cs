namespace Treepie.Backups;

/// <summary>
/// Finds the logical backups that lead to one of them among all that lie at a place: by what each says it goes on from. The order
/// of names does not tell: a place also has backups that nothing goes on from, because their writer was killed before it took
/// note of them, or because several tasks write there. Costs the beginning of each backup from the wanted one back to the full
/// one; where several end at the etag that is looked for, those are read to their end for their content hash.
/// </summary>
internal sealed class DumpLinks(RestoreOptions options)
{
    private readonly DumpPartReader _reader = new(options);

    /// <summary>The full backup and the increments that lead to <paramref name="wanted"/>, which is the last of them.</summary>
    /// <param name="wanted">What is to be restored.</param>
    /// <param name="earlier">The other backups of the place that may lead to it, the latest first.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <exception cref="BackupException"><see cref="BackupFault.LinkMissing"/>: what it goes on from is not there. Or
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
                        unread ??= error; // told only if it may be the one that lacks
                    }

                    headers.Add(earlier[i], other);
                }

                if (other is null || other.DatabaseId != of.DatabaseId)
                    continue;
                if (other.LastEtag == since.LastEtag)
                    found.Add((earlier[i], other, i));
                else if (other.LastEtag < since.LastEtag && found.Count > 0)
                    break; // before it etags are only smaller
            }

            if (found.Count == 1)
                return found[0]; // that it is the right one, its hash shows when it is read
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
                $"'{chain[^1].Name}' is an increment, which goes on from a backup of '{of.DatabaseName}' that ends at etag "
                    + $"{since.LastEtag} and has the content hash {since.ContentHash}, and that is not at the place. "
                    + (unread is null
                        ? "Restore an earlier backup, or bring that one back."
                        : $"This one cannot be read: {unread.Message}"),
                unread);
        }
    }
}
