using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>
/// Writes a snapshot of the database as a dump: all of it, a part, or the changes since another backup. Writers continue
/// meanwhile; the only cost to them is that the pages of the snapshot cannot be reused until the backup ends.
/// </summary>
internal sealed class BackupRun(
    DatabaseSnapshot snapshot, DumpHeader header, DumpPoint point, IReadOnlyList<DumpedIndex> indexes, BackupOptions options,
    DatabaseOptions limits)
{
    private readonly HashSet<string>? _collections = options.Collections is { Count: > 0 } names
        ? new HashSet<string>(names, StringComparer.OrdinalIgnoreCase)
        : null;
    private readonly HashSet<string> _contents = new(StringComparer.Ordinal);
    private readonly DateTimeOffset _now = new(DateTime.SpecifyKind(header.TakenAt, DateTimeKind.Utc));
    private readonly LeftOutSettings _leftOut = new(options.LeftOutSettings);
    private readonly TransformedDocuments? _transformed = options.Transform is { } transform
        ? new TransformedDocuments(transform, snapshot, limits)
        : null;
    private string? _lastId;

    /// <summary>Writes the backup; leaves the destination open.</summary>
    public async Task<BackupReport> RunAsync(
        BackupTarget target, IProgress<BackupProgress>? progress, CancellationToken cancellationToken)
    {
        using var dump = new DumpWriter(target.Json);
        dump.Begin(header);
        if (options.Content.HasFlag(BackupContent.Settings))
            dump.Record(header.DatabaseName, snapshot, _leftOut);
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

    private async Task WriteDocumentsAsync(
        DumpWriter dump, BackupTarget target, IProgress<BackupProgress>? progress, CancellationToken cancellationToken)
    {
        dump.BeginSection(DumpJson.Documents);
        if (_transformed is not null && (options.Content & DumpKinds.OfDocuments) != 0)
        {
            await WriteTransformedAsync(dump, target, _transformed, progress, cancellationToken).ConfigureAwait(false);
        }
        else if (options.Content.HasFlag(BackupContent.Documents))
        {
            if (options.Content.HasFlag(BackupContent.Attachments))
                await WriteContentsAsync(dump, cancellationToken).ConfigureAwait(false);
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

    /// <summary>Writes documents until the buffer is full; returns false after the last one.</summary>
    private bool WritePiece(DumpWriter dump, DocumentCursor cursor)
    {
        while (cursor.MoveNext())
        {
            Document document = cursor.Current;
            if (!IsWanted(document))
                continue;

            dump.Document(document);
            if (!dump.IsPieceFull)
                continue;

            _lastId = document.IdText();
            return true;
        }

        return false;
    }

    /// <summary>
    /// Runs the script for each document and writes the result. The contents of a document's attachments come just before it,
    /// because only then is it known that the script does not drop it. If no documents are written, the script still decides
    /// which of them are dropped with their counters, revisions and so on.
    /// </summary>
    private async Task WriteTransformedAsync(
        DumpWriter dump, BackupTarget target, TransformedDocuments transformed, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken)
    {
        using DocumentCursor cursor = snapshot.ByEtag(0);
        while (Next(cursor, transformed, cancellationToken))
        {
            if (!options.Content.HasFlag(BackupContent.Documents))
            {
                snapshot.ReleasePages();
                continue;
            }

            _lastId = transformed.Current.Id;
            if (options.Content.HasFlag(BackupContent.Attachments))
                foreach (AttachmentValue attachment in snapshot.Attachments(_lastId).ToArray())
                    await WriteContentAsync(
                        dump, Convert.FromBase64String(attachment.Hash), attachment.SizeBytes, cancellationToken)
                        .ConfigureAwait(false);
            dump.Document(transformed.Current, transformed.Etag, transformed.Ticks);
            if (!dump.IsPieceFull)
                continue;
            await dump.HandOnAsync(cancellationToken).ConfigureAwait(false);
            snapshot.ReleasePages();
            Report(dump, target, progress);
        }

        await dump.HandOnAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Moves to the next document that the script does not drop; returns false after the last one.</summary>
    private bool Next(DocumentCursor cursor, TransformedDocuments transformed, CancellationToken cancellationToken)
    {
        while (cursor.MoveNext())
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (IsWanted(cursor.Current) && transformed.Take(cursor.Current, cancellationToken))
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
            if (!IsSelected(collection.Text))
                continue;

            dump.Tombstone(tombstones.Etag, record, collection, snapshot.ChangeVectors);
            if (dump.IsPieceFull)
                return true;
        }

        return false;
    }

    /// <summary>
    /// Writes the contents of the backed-up attachments, each once, before the documents that refer to them.
    /// </summary>
    private async Task WriteContentsAsync(DumpWriter dump, CancellationToken cancellationToken)
    {
        using LogReader log = snapshot.Kinds.Log(header.Since?.LastEtag ?? 0);
        while (log.MoveNext())
        {
            if (KindKey.KindOf(log.Value) != Kind.Attachment || !IsWanted(log.Value, out _))
                continue;
            (byte[] hash, long size) = ContentOf(log.Value);
            await WriteContentAsync(dump, hash, size, cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>Writes the contents of the attachments of backed-up revisions, unless they were written already.</summary>
    private async Task WriteContentsOfRevisionsAsync(DumpWriter dump, CancellationToken cancellationToken)
    {
        using LogReader log = snapshot.Kinds.Log(header.Since?.LastEtag ?? 0);
        while (log.MoveNext())
        {
            if (KindKey.KindOf(log.Value) != Kind.Revision || !IsWanted(log.Value, out _))
                continue;
            foreach ((byte[] hash, long size) in ContentsOfRevision(log.Value))
                await WriteContentAsync(dump, hash, size, cancellationToken).ConfigureAwait(false);
            snapshot.ReleasePages();
        }
    }

    private List<(byte[] Hash, long Size)> ContentsOfRevision(ReadOnlySpan<byte> key)
    {
        var contents = new List<(byte[] Hash, long Size)>();
        for (var all = new RevisionAttachments(new RevisionRecord(snapshot.Kinds.RecordOf(key).Value).Attachments);
             all.MoveNext();)
            contents.Add((all.Hash.ToArray(), all.SizeBytes));
        return contents;
    }

    private async ValueTask WriteContentAsync(DumpWriter dump, byte[] hash, long size, CancellationToken cancellationToken)
    {
        const int Most = 64 * 1024;
        if (!_contents.Add(Convert.ToHexString(hash)))
            return;
        dump.BeginContent(hash, size);
        for (long at = 0; at < size;)
        {
            at += WriteContent(dump, hash, at, Most);
            if (dump.IsPieceFull)
                await dump.HandOnAsync(cancellationToken).ConfigureAwait(false);
            snapshot.ReleasePages();
        }
    }

    private (byte[] Hash, long Size) ContentOf(ReadOnlySpan<byte> key)
    {
        var attachment = new AttachmentRecord(snapshot.Kinds.RecordOf(key).Value);
        return (attachment.Hash.ToArray(), attachment.SizeBytes);
    }

    private int WriteContent(DumpWriter dump, byte[] hash, long at, int most)
    {
        ReadOnlySpan<byte> piece = snapshot.Kinds.Content(hash, at);
        piece = piece[..Math.Min(most, piece.Length)];
        dump.Content(piece);
        return piece.Length;
    }

    /// <summary>
    /// Returns whether an item is backed up: its document is, or it belongs to no document. Returns the id of that document too,
    /// except for revisions. Revisions are selected by their own collection, whichever their document has now; those of a
    /// document in a selected collection that is left out for another reason are left out with it.
    /// </summary>
    private bool IsWanted(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> id)
    {
        id = default;
        ReadOnlySpan<byte> owner = KindKey.DocumentOf(key);
        if (KindKey.KindOf(key) == Kind.Revision)
            return IsSelected(CollectionOfRevision(key))
                && (!snapshot.TryGetByFoldedId(owner, out Document revised) || !IsSelected(revised.CollectionName)
                    || IsWanted(revised));
        if (owner.IsEmpty)
            return true;
        Document document = snapshot.GetByFoldedId(owner);
        id = document.Id;
        return IsWanted(document);
    }

    private string CollectionOfRevision(ReadOnlySpan<byte> key) =>
        System.Text.Encoding.UTF8.GetString(new RevisionRecord(snapshot.Kinds.RecordOf(key).Value).Collection);

    private bool IsSelected(string collection) => _collections?.Contains(collection) != false;

    private bool IsWanted(Document document) =>
        IsSelected(document.CollectionName)
        && !options.LeftOut.Has(document.Metadata, _now)
        && _transformed?.IsDropped(document.Etag) != true;

    private async Task WriteBesideAsync(DumpWriter dump, CancellationToken cancellationToken)
    {
        long after = header.Since?.LastEtag ?? 0;
        foreach ((Kind kind, string section, BackupContent content) in DumpKinds.All)
        {
            dump.BeginSection(section);
            if (options.Content.HasFlag(content))
            {
                if (kind == Kind.Revision && options.Content.HasFlag(BackupContent.Attachments))
                    await WriteContentsOfRevisionsAsync(dump, cancellationToken).ConfigureAwait(false);
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
            ReadOnlySpan<byte> key = log.Value;
            if (KindKey.KindOf(key) != kind
                || !IsWanted(key, out ReadOnlySpan<byte> id)
                || (kind == Kind.Setting && _leftOut.Has(snapshot.Kinds.RecordOf(key).Name)))
                continue;
            if (kind == Kind.Revision)
                dump.Revision(key, snapshot, withAttachments: options.Content.HasFlag(BackupContent.Attachments));
            else
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
                dump.Index(Written(index));
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

    private DumpedIndex Written(DumpedIndex index)
    {
        DumpedIndex written = options.RemoveAnalyzers ? index.WithoutAnalyzers() : index;
        return _leftOut.HasHistories ? written with { History = [] } : written;
    }

    private void Report(DumpWriter dump, BackupTarget target, IProgress<BackupProgress>? progress) => progress?.Report(
        new BackupProgress(
            BackupStep.Writing, dump.Counts.Documents, _collections is null && header.Since is null ? snapshot.DocumentCount : 0,
            dump.Bytes, target.StoredBytes, 0, _lastId)
        {
            Sections = dump.Counts.AsSections(),
        });
}
