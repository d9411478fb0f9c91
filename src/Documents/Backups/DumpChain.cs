using System.Globalization;
using Treepie.Storage;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>
/// A full logical backup and its increments, which are restored one after another or only read. The headers of all parts are
/// read first, so that a missing part, or one of another database or in the wrong position, is reported at once. While
/// reading, the content hash of each part must be the one from which the next part continues.
/// </summary>
internal sealed class DumpChain(IReadOnlyList<BackupPart> given, RestoreOptions options, IProgress<BackupProgress>? progress)
{
    private readonly DumpPartReader _reader = new(options);

    /// <summary>The parts of the chain; until the headers are read, the parts as given.</summary>
    private IReadOnlyList<BackupPart> _parts = given;

    /// <summary>Returns whether the parts are logical backups; otherwise they are snapshots.</summary>
    public static async Task<bool> IsOneAsync(
        IReadOnlyList<BackupPart> parts, RestoreOptions options, CancellationToken cancellationToken)
    {
        Stream stream = await parts[0].OpenAsync(cancellationToken).ConfigureAwait(false);
        await using (stream.ConfigureAwait(false))
        {
            BackupSource source = await BackupSource.OpenAsync(stream, options, cancellationToken).ConfigureAwait(false);
            await using (source.ConfigureAwait(false))
                return !source.IsPart;
        }
    }

    /// <summary>Rejects options that stop a restore at a point in time or commit.</summary>
    /// <exception cref="BackupException">The options contain such a point.</exception>
    public static void RefusePoint(RestoreOptions options)
    {
        if (options is { StopAtCommit: not null } or { StopAtTime: not null })
            throw new BackupException(
                BackupFault.NoSuchPoint,
                "A logical backup holds one moment only, so its restore cannot stop at another. Restore it without a commit or "
                    + "time, or restore a snapshot with its log.");
    }

    /// <summary>
    /// Restores the chain to a new directory and leaves the database there closed and durable. The caller deletes the
    /// directory after an error.
    /// </summary>
    public async Task<BackupReport> RunAsync(string path, CancellationToken cancellationToken)
    {
        RefusePoint(options);
        DatabaseOptions database = options.Database ?? new DatabaseOptions();
        database.Validate();
        DumpHeader[] headers = await ReadHeadersAsync(cancellationToken).ConfigureAwait(false);
        List<DumpedIndex> indexes = [];
        BackupReport report;
        StorageEnvironment environment = RestoreRun.OpenStore(path, database, options);
        await using (environment.ConfigureAwait(false))
        {
            report = await ReadAsync(
                headers,
                async (header, scan) =>
                {
                    var sink = new RestoreSink(environment);
                    await using (sink.ConfigureAwait(false))
                    {
                        BackupReport read = await scan(sink).ConfigureAwait(false);
                        await sink.CompleteAsync(cancellationToken).ConfigureAwait(false);
                        if (header.Since is not { HoldsIndexes: false })
                            indexes = sink.Indexes;
                        return read;
                    }
                },
                cancellationToken).ConfigureAwait(false);
        }

        return await RestoreRun.CompleteAsync(
            path, database, indexes,
            restored => report with { Counts = Compare(restored, indexes, headers[^1], report, cancellationToken) },
            cancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// Reads the chain to its end without storing anything. The report is that of the last part, with the counts of the whole
    /// chain.
    /// </summary>
    public async Task<BackupReport> VerifyAsync(CancellationToken cancellationToken)
    {
        DumpHeader[] headers = await ReadHeadersAsync(cancellationToken).ConfigureAwait(false);
        return await ReadAsync(headers, (_, scan) => scan(new NoSink()), cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Reads the headers of all parts and checks that each part continues from the one before it.</summary>
    private async Task<DumpHeader[]> ReadHeadersAsync(CancellationToken cancellationToken)
    {
        if (_parts[^1].Earlier is { } earlier)
            _parts = await new DumpLinks(options).LeadToAsync(_parts[^1], earlier, cancellationToken).ConfigureAwait(false);
        var headers = new DumpHeader[_parts.Count];
        for (int i = 0; i < headers.Length; i++)
            headers[i] = await _reader.ReadHeaderAsync(_parts[i], cancellationToken).ConfigureAwait(false);
        for (int i = 0; i < headers.Length; i++)
            Check(i, headers);
        return headers;
    }

    private void Check(int at, DumpHeader[] headers)
    {
        (DumpHeader header, string name) = (headers[at], _parts[at].Name);
        if (at == 0)
        {
            if (header.Since is { } from)
                throw new BackupException(
                    BackupFault.LinkMissing,
                    $"'{name}' is an increment that continues a backup up to etag {from.LastEtag}, which is missing. Give the "
                        + "full backup first.");
            return;
        }

        (DumpHeader before, string nameBefore) = (headers[at - 1], _parts[at - 1].Name);
        if (header.DatabaseId != before.DatabaseId)
            throw new BackupException(
                BackupFault.Foreign,
                $"'{name}' is of another database ('{header.DatabaseName}') than '{nameBefore}' ('{before.DatabaseName}'). Leave "
                    + $"it out.");
        if (header.Since is not { } since || since.LastEtag < before.LastEtag)
        {
            string kind = header.Since is null
                ? "is a full backup, which continues no other"
                : FormattableString.Invariant($"continues a backup up to etag {header.Since.LastEtag}");
            throw new BackupException(
                BackupFault.OutOfOrder,
                $"'{name}' {kind}, but follows '{nameBefore}', which ends at etag {before.LastEtag}. Give the parts in the order "
                    + "in which they were taken, each once.");
        }

        if (since.LastEtag > before.LastEtag)
        {
            throw new BackupException(
                BackupFault.LinkMissing,
                $"An increment is missing before '{name}', which continues a backup up to etag {since.LastEtag}, while "
                    + $"'{nameBefore}' ends at etag {before.LastEtag}. Give it too, or restore up to '{nameBefore}'.");
        }
    }

    private async Task<BackupReport> ReadAsync(
        DumpHeader[] headers, Func<DumpHeader, Func<IDumpSink, Task<BackupReport>>, Task<BackupReport>> read,
        CancellationToken cancellationToken)
    {
        BackupReport? report = null;
        var whole = new BackupCounts(0, 0, 0, 0, 0);
        long storedBytes = 0, jsonBytes = 0;
        for (int i = 0; i < _parts.Count; i++)
        {
            (DumpHeader header, string name) = (headers[i], _parts[i].Name);
            if (header.Since is { } since && since.ContentHash != report?.ContentHash)
            {
                throw new BackupException(
                    BackupFault.LinkMissing,
                    $"'{name}' continues a backup with the content hash {since.ContentHash}, and '{_parts[i - 1].Name}' has "
                        + $"{report?.ContentHash}: it ends at the same etag, but is another backup. Give the one that '{name}' "
                        + "continues.");
            }

            BackupPart part = _parts[i];
            report = await read(header, sink => _reader.ScanAsync(part, header, sink, progress, cancellationToken))
                .ConfigureAwait(false);
            whole = Onto(whole, report.Counts, header.Since);
            storedBytes += report.StoredBytes;
            jsonBytes += report.JsonBytes;
        }

        BackupReport last = report!; // there are at least two parts
        return last with
        {
            PartCount = _parts.Count,
            Counts = whole,
            Sections = whole.AsSections(),
            LastPart = last.Counts,
            StoredBytes = storedBytes,
            JsonBytes = jsonBytes
        };
    }

    /// <summary>
    /// Returns the counts of the database after a part: an increment contains the total numbers of documents and tombstones,
    /// and all collections.
    /// </summary>
    private static BackupCounts Onto(BackupCounts before, BackupCounts part, DumpSince? since) => since is null
        ? part
        : new BackupCounts(
            since.Documents,
            since.Tombstones,
            since.HoldsIndexes ? part.Indexes : before.Indexes,
            since.HoldsIdentities ? part.Identities : before.Identities,
            part.Collections)
        { Beside = since.Beside };

    /// <summary>
    /// Checks that the restored database matches the last part: the contents of that part are read again and hashed; for
    /// everything before it, the totals are compared, and the number, bytes and last etag of each collection, which are part
    /// of that hash.
    /// </summary>
    private BackupCounts Compare(
        Database restored, List<DumpedIndex> indexes, DumpHeader last, BackupReport report, CancellationToken cancellationToken)
    {
        using DatabaseSnapshot snapshot = restored.BeginRead();
        (BackupCounts held, string hash) = RestoreRun.Hash(
            snapshot, restored.Id, indexes, last.Hash, withCollections: true, last.Since, report, progress, cancellationToken);
        var counts = new BackupCounts(
            snapshot.DocumentCount, snapshot.TombstoneCount, indexes.Count, snapshot.Identities().Count,
            snapshot.AllCollections().Count)
        { Beside = snapshot.Kinds.Total };
        string? difference = new DumpManifest(report.LastPart ?? report.Counts, report.ContentHash ?? "").Difference(held, hash)
            ?? (last.Since is { } since
                && (since.Documents, since.Tombstones, since.Beside) != (counts.Documents, counts.Tombstones, counts.Beside)
                ? string.Create(
                    CultureInfo.InvariantCulture,
                    $"it should be {since.Documents} documents, {since.Tombstones} tombstones and {since.Beside} values beside "
                            + $"documents, and is {counts.Documents}, {counts.Tombstones} and {counts.Beside}")
                : null);
        return difference is null ? counts : throw RestoreRun.Otherwise(difference);
    }
}
