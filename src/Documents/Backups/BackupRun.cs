using Treepie.Store;

namespace Treepie.Backups;

/// <summary>
/// Front door of the room for writing: the whole of one snapshot, a part, or what changed since another backup, as a dump. Writers go on; the snapshot they do not see is released when the backup ends.
/// Costs the writers nothing but pages that stay occupied meanwhile.
/// </summary>
internal sealed class BackupRun(DatabaseSnapshot snapshot, DumpHeader header, DumpPoint point, IReadOnlyList<DumpedIndex> indexes, BackupOptions options)
{
    private readonly HashSet<string>? _collections = options.Collections is { Count: > 0 } names ? new HashSet<string>(names, StringComparer.OrdinalIgnoreCase) : null;
    private string? _lastId;

    /// <summary>Writes it; the destination stays open.</summary>
    public async Task<BackupReport> RunAsync(BackupTarget target, IProgress<BackupProgress>? progress, CancellationToken cancellationToken)
    {
        using var dump = new DumpWriter(target.Json);
        dump.Begin(header);
        await WriteDocumentsAsync(dump, target, progress, cancellationToken).ConfigureAwait(false);
        await WriteTombstonesAsync(dump, cancellationToken).ConfigureAwait(false);
        await WriteBesideAsync(dump, cancellationToken).ConfigureAwait(false);
        WriteTheRest(dump);
        string hash = dump.End();
        await dump.HandOnAsync(cancellationToken).ConfigureAwait(false);
        await target.CompleteAsync(cancellationToken).ConfigureAwait(false);
        Report(dump, target, progress);
        return new BackupReport
        {
            DatabaseName = header.DatabaseName,
            DatabaseId = header.DatabaseId,
            TakenAt = header.TakenAt,
            IsIncremental = header.Since is not null,
            Link = header.IsWhole || header.Since is not null ? new BackupLink(hash, point) : null,
            LastEtag = header.LastEtag,
            TotalDocuments = header.IsWhole || header.Since is not null ? snapshot.DocumentCount : 0,
            Counts = dump.Counts,
            ContentHash = hash,
            IsWhole = header.IsWhole,
            Compression = target.Compression,
            IsEncrypted = target.IsSealed,
            JsonBytes = dump.Bytes,
            StoredBytes = target.StoredBytes,
        };
    }

    private async Task WriteDocumentsAsync(DumpWriter dump, BackupTarget target, IProgress<BackupProgress>? progress, CancellationToken cancellationToken)
    {
        dump.BeginSection(DumpJson.Documents);
        if (options.Content.HasFlag(BackupContent.Documents))
        {
            using DocumentCursor cursor = snapshot.ByEtag(header.Since?.LastEtag ?? 0);
            while (WritePiece(dump, cursor))
            {
                await dump.HandOnAsync(cancellationToken).ConfigureAwait(false);
                snapshot.ReleasePages();
                Report(dump, target, progress);
            }
        }

        dump.EndSection();
    }

    /// <summary>Writes documents until a piece is full; false after the last.</summary>
    private bool WritePiece(DumpWriter dump, DocumentCursor cursor)
    {
        while (cursor.MoveNext())
        {
            Document document = cursor.Current;
            if (_collections?.Contains(document.CollectionName) == false)
                continue;

            dump.Document(document);
            if (!dump.IsPieceFull)
                continue;

            _lastId = document.IdText();
            return true;
        }

        return false;
    }

    private async Task WriteTombstonesAsync(DumpWriter dump, CancellationToken cancellationToken)
    {
        dump.BeginSection(DumpJson.Tombstones);
        if (options.Content.HasFlag(BackupContent.Tombstones))
        {
            using LogReader tombstones = snapshot.Tombstones(header.Since?.LastEtag ?? 0);
            while (WritePiece(dump, tombstones))
            {
                await dump.HandOnAsync(cancellationToken).ConfigureAwait(false);
                snapshot.ReleasePages();
            }
        }

        dump.EndSection();
    }

    private bool WritePiece(DumpWriter dump, LogReader tombstones)
    {
        while (tombstones.MoveNext())
        {
            var record = new TombstoneRecord(tombstones.Value);
            CollectionName collection = snapshot.NameOf(record.CollectionId);
            if (_collections?.Contains(collection.Text) == false)
                continue;

            dump.Tombstone(tombstones.Etag, record, collection, snapshot.ChangeVectors);
            if (dump.IsPieceFull)
                return true;
        }

        return false;
    }

    private async Task WriteBesideAsync(DumpWriter dump, CancellationToken cancellationToken)
    {
        long after = header.Since?.LastEtag ?? 0;
        foreach ((Kind kind, string section, BackupContent content) in DumpKinds.All)
        {
            dump.BeginSection(section);
            if (options.Content.HasFlag(content))
            {
                using LogReader log = snapshot.Kinds.Log(after);
                await WritePiecesAsync(dump, () => WritePiece(dump, log, kind), cancellationToken).ConfigureAwait(false);
            }

            dump.EndSection();
        }

        dump.BeginSection(DumpKinds.Deletions);
        if (options.Content.HasFlag(BackupContent.Tombstones) && _collections is null)
        {
            using LogReader deletions = snapshot.Kinds.Deletions(after);
            await WritePiecesAsync(dump, () => WriteDeletions(dump, deletions), cancellationToken).ConfigureAwait(false);
        }

        dump.EndSection();
    }

    private async Task WritePiecesAsync(DumpWriter dump, Func<bool> writePiece, CancellationToken cancellationToken)
    {
        while (writePiece())
        {
            await dump.HandOnAsync(cancellationToken).ConfigureAwait(false);
            snapshot.ReleasePages();
        }
    }

    private bool WritePiece(DumpWriter dump, LogReader log, Kind kind)
    {
        while (log.MoveNext())
        {
            ReadOnlySpan<byte> key = log.Value, owner = KindKey.OwnerOf(key);
            if (KindKey.KindOf(key) != kind)
                continue;
            ReadOnlySpan<byte> id = default;
            if (!owner.IsEmpty)
            {
                Document document = snapshot.GetByFoldedId(owner);
                if (_collections?.Contains(document.CollectionName) == false)
                    continue;
                id = document.Id;
            }

            dump.Beside(key, snapshot.Kinds.RecordOf(key), id, snapshot.ChangeVectors);
            if (dump.IsPieceFull)
                return true;
        }

        return false;
    }

    private bool WriteDeletions(DumpWriter dump, LogReader deletions)
    {
        while (deletions.MoveNext())
        {
            dump.Deletion(deletions.Value, snapshot.Kinds.RecordOf(deletions.Value));
            if (dump.IsPieceFull)
                return true;
        }

        return false;
    }

    private void WriteTheRest(DumpWriter dump)
    {
        dump.BeginSection(DumpJson.Indexes);
        if (options.Content.HasFlag(BackupContent.Indexes) && header.Since is not { HoldsIndexes: false })
            foreach (DumpedIndex index in indexes)
                dump.Index(index);
        dump.EndSection();
        dump.BeginSection(DumpJson.Identities);
        if (options.Content.HasFlag(BackupContent.Identities) && header.Since is not { HoldsIdentities: false })
            foreach ((string name, long value) in snapshot.Identities())
                dump.Identity(name, value);
        dump.EndSection();
        dump.BeginSection(DumpJson.Collections);
        if (header.IsWhole || header.Since is not null)
            foreach (CollectionStatistics collection in snapshot.AllCollections())
                dump.Collection(collection);
        dump.EndSection();
    }

    private void Report(DumpWriter dump, BackupTarget target, IProgress<BackupProgress>? progress) => progress?.Report(
        new BackupProgress(BackupStep.Writing, dump.Counts.Documents, _collections is null && header.Since is null ? snapshot.DocumentCount : 0, dump.Bytes, target.StoredBytes, 0, _lastId));
}
