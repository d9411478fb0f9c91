using System.Text.Json;
using Treepie.Indexes;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>
/// Reads a whole dump, passes its contents to a sink, and compares counts and content hash with those in its manifest. A dump
/// by another program has neither; etags are then assigned here, in the order of the dump.
/// </summary>
internal sealed class DumpScan
{
    private const int MaxRefusals = 100;

    /// <summary>Far above the number of indexes of any database.</summary>
    private const int MaxIndexes = 10_000;

    private const int DocumentsPerReport = 1_000;

    private readonly BackupSource _source;
    private readonly IDumpSink _sink;
    private readonly bool _skipInvalid;
    private readonly DumpReader _reader;
    private readonly DumpDocument _document;
    private readonly IProgress<BackupProgress>? _progress;
    private readonly long _storedBytesTotal;
    private readonly long _nowTicks;
    private readonly int _maxDepth;
    private readonly ComputingEngine? _computing;
    private readonly SectionCounts _sections;
    private readonly List<string> _refusals = [];
    private readonly DumpContents _contents = new();
    private DumpHeader? _header;
    private ChangeVectors? _changeVectors;
    private DumpManifest? _manifest;
    private IReadOnlyDictionary<string, IReadOnlyList<DefinitionVersion>>? _histories;
    private string? _hash;
    private ContentHash? _settings;
    private bool _begun;
    private long _refused;
    private long _lastEtag;
    private long _lastTombstoneEtag;

    public DumpScan(
        BackupSource source, IDumpSink sink, DatabaseOptions limits, bool skipInvalid, long storedBytesTotal,
        IProgress<BackupProgress>? progress, SectionCounts? counts = null)
    {
        _sections = counts ?? new SectionCounts();
        _source = source;
        _sink = sink;
        _skipInvalid = skipInvalid;
        _document = new DumpDocument(limits);
        _maxDepth = limits.MaxDocumentDepth + 1;
        _reader = new DumpReader(source.Json, _document.MaxElementBytes);
        _computing = limits.Computing;
        _progress = progress;
        _storedBytesTotal = storedBytesTotal;
        _nowTicks = limits.TimeProvider.GetUtcNow().UtcTicks;
    }

    /// <summary>
    /// Called before any content is read, with the header of the dump; throws if the dump is not acceptable.
    /// </summary>
    public Action<DumpHeader?>? Accept { get; init; }

    /// <summary>Rejects an increment where a full backup is required.</summary>
    /// <exception cref="BackupException">The dump is an increment.</exception>
    public static void RefuseIncrement(DumpHeader? header)
    {
        if (header?.Since is { } since)
        {
            throw new BackupException(
                BackupFault.LinkMissing,
                $"This is an increment of '{header.DatabaseName}': it holds what changed between etag {since.LastEtag} and "
                    + $"{header.LastEtag}, and is worth nothing alone. Give the full backup and all increments up to this one, "
                    + $"in their order.");
        }
    }

    /// <summary>Reads only the header of a dump; null for a dump by another program.</summary>
    public static async Task<DumpHeader?> ReadHeaderAsync(
        BackupSource source, DatabaseOptions limits, CancellationToken cancellationToken)
    {
        var scan = new DumpScan(source, new NoSink(), limits, skipInvalid: false, 0, null);
        while (await scan._reader.NextSectionAsync(cancellationToken).ConfigureAwait(false)
            && scan._reader.Section is DumpJson.BuildVersionSection or DumpJson.HeaderSection)
            if (scan._reader.Section == DumpJson.HeaderSection)
                await scan.ReadHeaderAsync(DumpJson.HeaderSection, cancellationToken).ConfigureAwait(false);
        return scan._header;
    }

    /// <summary>Reads the dump to its end.</summary>
    /// <exception cref="BackupException">The dump is incomplete, or does not match its manifest.</exception>
    public async Task<BackupReport> RunAsync(CancellationToken cancellationToken)
    {
        using var hash = new ContentHash();
        using var settings = new ContentHash();
        _settings = settings;
        while (await _reader.NextSectionAsync(cancellationToken).ConfigureAwait(false))
            await ReadSectionAsync(_reader.Section ?? "", hash, cancellationToken).ConfigureAwait(false);
        await BeginAsync(hash, cancellationToken).ConfigureAwait(false);
        _hash ??= hash.Finish();
        if (_header is null)
            for (int unused = _contents.Unused; unused > 0; unused--)
                _sections.LeaveOut(SectionCounts.Attachments, DumpBlob.Attachment);
        BackupCounts counts = hash.Counts;
        if (_header is not null && _manifest is null)
            throw new BackupException(
                BackupFault.Damaged,
                "The backup has no manifest at its end: it is damaged, or was changed by another program. Take another copy.");
        if (_manifest?.Difference(counts, _hash) is { } difference)
            throw new BackupException(BackupFault.Damaged, $"The backup is damaged: {difference}. Take another copy.");
        if (_header is { HashesSettings: true } && _manifest?.SettingsHash != settings.Finish())
            throw new BackupException(
                BackupFault.Damaged,
                "The backup is damaged: the settings of its indexes are not those that it was taken with. Take another copy.");

        Report(counts.Documents);
        return new BackupReport
        {
            DatabaseName = _header?.DatabaseName,
            DatabaseId = _header?.DatabaseId,
            TakenAt = _header?.TakenAt,
            LastEtag = _header?.LastEtag ?? 0,
            IsIncremental = _header?.Since is not null,
            TotalDocuments = _header?.Since?.Documents ?? (_header is { IsWhole: true } ? counts.Documents : 0),
            Counts = counts,
            ContentHash = _header is null ? null : _hash,
            Hash = _header?.Hash ?? default,
            IsWhole = _header?.IsWhole ?? false,
            Compression = _source.Compression,
            IsEncrypted = _source.IsSealed,
            JsonBytes = _reader.Position,
            StoredBytes = _source.StoredBytes,
            Skipped = _sections.Skipped,
            Sections = _sections.All,
            RefusedDocuments = _refused,
            Refusals = _refusals,
        };
    }

    private async Task ReadSectionAsync(string section, ContentHash hash, CancellationToken cancellationToken)
    {
        if (_manifest is not null)
            throw Damaged(section, "it follows the manifest, which must be the last section.");
        if (section == DumpJson.HeaderSection)
        {
            await ReadHeaderAsync(section, cancellationToken).ConfigureAwait(false);
            return;
        }

        if (section == DumpJson.BuildVersionSection)
            return;

        await BeginAsync(hash, cancellationToken).ConfigureAwait(false);
        try
        {
            await ReadMembersAsync(section, hash, cancellationToken).ConfigureAwait(false);
            await _sink.EndSectionAsync(cancellationToken).ConfigureAwait(false);
            Report(hash.Counts.Documents);
        }
        catch (Exception error)
            when (error is KeyNotFoundException or FormatException or JsonException or OverflowException
                or (InvalidOperationException and not ObjectDisposedException))
        {
            throw Damaged(section, $"an element lacks a member, or has one of another kind ({error.Message})", error);
        }
    }

    private async Task ReadMembersAsync(string section, ContentHash hash, CancellationToken cancellationToken)
    {
        if (section == DumpJson.ManifestSection)
        {
            _hash = hash.Finish();
            await foreach (JsonElement element in ElementsAsync(section, cancellationToken).ConfigureAwait(false))
                _manifest = DumpManifest.Read(element);
            return;
        }

        await (section switch
        {
            DumpJson.Documents => ReadDocumentsAsync(hash, cancellationToken),
            DumpJson.Tombstones => ReadTombstonesAsync(hash, cancellationToken),
            DumpJson.Indexes => ReadIndexesAsync(hash, cancellationToken),
            DumpJson.Identities => ReadIdentitiesAsync(hash, cancellationToken),
            DumpJson.Collections => ReadCollectionsAsync(hash, cancellationToken),
            DumpKinds.Deletions => ReadDeletionsAsync(hash, cancellationToken),
            DumpRevisions.Section => ReadRevisionsAsync(hash, cancellationToken),
            DumpRecord.Section => ReadRecordAsync(hash, cancellationToken),
            _ when DumpKinds.OfSection(section) is { } kind => ReadBesideAsync(section, kind, hash, cancellationToken),
            _ => SkipAsync(section, cancellationToken),
        }).ConfigureAwait(false);
    }

    private async Task ReadHeaderAsync(string section, CancellationToken cancellationToken)
    {
        if (_begun)
            throw Damaged(section, "it follows other sections, and must be the first.");
        try
        {
            await foreach (JsonElement element in ElementsAsync(section, cancellationToken).ConfigureAwait(false))
                _header = DumpHeader.Read(element);
            _reader.MaxElementBytes = _document.MaxOwnElementBytes;
        }
        catch (Exception error) when (error is KeyNotFoundException or FormatException or InvalidOperationException)
        {
            throw Damaged(section, error.Message, error);
        }

        _changeVectors = _header is null ? null : new ChangeVectors(_header.DatabaseId);
    }

    private async ValueTask BeginAsync(ContentHash hash, CancellationToken cancellationToken)
    {
        if (_begun)
            return;

        _begun = true;
        Accept?.Invoke(_header);
        if (_header is not null)
        {
            hash.Choose(_header.Hash);
            hash.Database(_header.DatabaseId, _header.LastEtag);
        }

        if (_header?.Since is { } since)
        {
            hash.Since(since);
            _lastEtag = _lastTombstoneEtag = since.LastEtag;
        }

        await _sink.BeginAsync(_header, cancellationToken).ConfigureAwait(false);
    }

    private async Task ReadDocumentsAsync(ContentHash hash, CancellationToken cancellationToken)
    {
        while (await _reader.NextElementAsync(cancellationToken).ConfigureAwait(false))
        {
            try
            {
                _document.Read(_reader.Element, isForeign: _header is null);
                if (_document.ExportType == DumpBlob.Attachment)
                {
                    await ReadContentAsync(cancellationToken).ConfigureAwait(false);
                    continue;
                }

                if (_document.ExportType is { } other)
                {
                    _sections.LeaveOut(other, other);
                    await _reader.SkipRawAsync(_document.RawBytes, cancellationToken).ConfigureAwait(false);
                    continue;
                }

                await TakeDocumentAsync(hash, cancellationToken).ConfigureAwait(false);
            }
            catch (InvalidDocumentException error)
            {
                Refuse(error);
            }

            if (hash.Counts.Documents % DocumentsPerReport == 0)
                Report(hash.Counts.Documents);
        }
    }

    /// <summary>
    /// Reads the settings of a dump by another program; dumps by this program have them in a separate section.
    /// </summary>
    private async Task ReadRecordAsync(ContentHash hash, CancellationToken cancellationToken)
    {
        if (_header is not null)
            return;
        using var json = JsonDocument.Parse(_reader.Element.ToArray(), new JsonDocumentOptions { MaxDepth = _maxDepth });
        if (json.RootElement.ValueKind != JsonValueKind.Object)
            return;
        _histories = DumpIndex.ReadHistories(json.RootElement, _computing);
        foreach ((string name, byte[]? setting) in DumpRecord.Read(json.RootElement))
        {
            if (setting is null)
            {
                _sections.LeaveOut(DumpRecord.Section, $"'{name}' of the database record");
                continue;
            }

            RestoredKind item = DumpRecord.Setting(name, setting, ++_lastEtag, _nowTicks);
            await TakeBesideAsync(DumpRecord.Section, item, item.Etag - 1, hash, cancellationToken).ConfigureAwait(false);
        }
    }

    private async Task ReadRevisionsAsync(ContentHash hash, CancellationToken cancellationToken)
    {
        long last = 0;
        while (await _reader.NextElementAsync(cancellationToken).ConfigureAwait(false))
        {
            try
            {
                _document.Read(_reader.Element, isForeign: _header is null, isRevision: true);
                if (_document.ExportType == DumpBlob.Attachment)
                {
                    await ReadContentAsync(cancellationToken).ConfigureAwait(false);
                    continue;
                }

                if (_document.ExportType is { } other)
                {
                    _sections.LeaveOut(other, other);
                    await _reader.SkipRawAsync(_document.RawBytes, cancellationToken).ConfigureAwait(false);
                    continue;
                }

                long etag = _header is null ? ++_lastEtag : EtagOf(_document.Id, _document.ChangeVector);
                last = await TakeBesideAsync(
                    DumpRevisions.Section, DumpRevisions.Read(_document, etag, _nowTicks, ListedInRevision()), last, hash,
                    cancellationToken).ConfigureAwait(false);
            }
            catch (InvalidDocumentException error)
            {
                Refuse(error);
            }
        }
    }

    private async ValueTask TakeDocumentAsync(ContentHash hash, CancellationToken cancellationToken)
    {
        long etag = _header is null ? _lastEtag + 1 : EtagOf(_document.Id, _document.ChangeVector);
        if (etag <= _lastEtag)
            throw Damaged(DumpJson.Documents, $"document '{_document.Id}' has etag {etag}, the one before it {_lastEtag}.");
        long ticks = (_document.LastModified ?? new DateTime(_nowTicks, DateTimeKind.Utc)).Ticks;
        bool isTaken = await _sink.DocumentAsync(_document, etag, ticks, cancellationToken).ConfigureAwait(false);
        if (!isTaken)
            _sections.LeaveOut(SectionCounts.Documents, "documents that were not asked for");
        else
            _sections.Take(SectionCounts.Documents);
        _lastEtag = etag;
        hash.Document(etag, ticks, _document);
        if (_header is null && isTaken)
            await TakeListedAsync(ticks, hash, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// Imports the attachments listed in the metadata of a document of another program's dump, if their contents have been
    /// read.
    /// </summary>
    private async ValueTask TakeListedAsync(long ticks, ContentHash hash, CancellationToken cancellationToken)
    {
        foreach (DumpedAttachment listed in _document.Attachments)
        {
            if (!_contents.TryUse(listed.Hash, out (byte[] Hash, long Size) content))
            {
                _sections.LeaveOut(SectionCounts.Attachments, "attachments without a content");
                continue;
            }

            KindNames.EncodeType(listed.Name, listed.ContentType); // validates the type, which must also fit into a revision
            RestoredKind item = DumpKinds.Attachment(
                _document.Id, listed with { SizeBytes = content.Size }, content.Hash, ++_lastEtag, ticks);
            await TakeBesideAsync(SectionCounts.Attachments, item, item.Etag - 1, hash, cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>
    /// Encodes the attachments listed in the metadata of a revision; in a dump by another program, only those whose contents
    /// have been read.
    /// </summary>
    private byte[] ListedInRevision()
    {
        (byte[] list, int taken, int missing) = _contents.ListOf(_document.Attachments);
        if (_header is not null)
            return missing == 0 ? list : throw Damaged(DumpRevisions.Section, "the content of an attachment is missing.");
        for (; taken > 0; taken--)
            _sections.Take(SectionCounts.Attachments);
        for (; missing > 0; missing--)
            _sections.LeaveOut(SectionCounts.Attachments, "attachments of revisions without a content");
        return list;
    }

    /// <summary>Reads the content of an attachment; in a dump by this program, its hash is compared.</summary>
    private ValueTask ReadContentAsync(CancellationToken cancellationToken)
    {
        string named = _document.Hash;
        return _contents.ReadAsync(
            _reader, named, _document.RawBytes, _sink,
            hash =>
            {
                if (_header is not null && named != Convert.ToBase64String(hash))
                    throw Damaged(
                        DumpJson.Documents,
                        $"the content of an attachment should have the hash {named}, and has {Convert.ToBase64String(hash)}.");
            },
            cancellationToken);
    }

    private async Task ReadTombstonesAsync(ContentHash hash, CancellationToken cancellationToken)
    {
        await foreach (JsonElement element in ElementsAsync(DumpJson.Tombstones, cancellationToken).ConfigureAwait(false))
        {
            if (_header is null)
            {
                _sections.LeaveOut(DumpJson.Tombstones); // they belong to a database with another history
                continue;
            }

            string id = DumpJson.Text(element, "Key");
            var tombstone = new DumpTombstone(
                id, DumpJson.Text(element, "Collection"), EtagOf(id, DumpJson.Text(element, "ChangeVector")),
                DumpJson.Time(element, "LastModified").Ticks,
                element.TryGetProperty("TreepieSuperseded"u8, out JsonElement superseded) && superseded.GetBoolean());
            if (tombstone.Etag <= _lastTombstoneEtag)
                throw Damaged(DumpJson.Tombstones, $"'{id}' has etag {tombstone.Etag}, the one before it {_lastTombstoneEtag}.");
            _lastTombstoneEtag = tombstone.Etag;
            _sections.Count(DumpJson.Tombstones, await _sink.TombstoneAsync(tombstone, cancellationToken).ConfigureAwait(false));
            hash.Tombstone(
                tombstone.Etag, tombstone.Ticks, tombstone.IsSuperseded, System.Text.Encoding.UTF8.GetBytes(tombstone.Id),
                System.Text.Encoding.UTF8.GetBytes(tombstone.Collection));
        }
    }

    private async Task ReadIndexesAsync(ContentHash hash, CancellationToken cancellationToken)
    {
        await foreach (JsonElement element in ElementsAsync(DumpJson.Indexes, cancellationToken).ConfigureAwait(false))
        {
            if (hash.Counts.Indexes >= MaxIndexes)
                throw Damaged(DumpJson.Indexes, $"there are more than {MaxIndexes:N0} indexes, which no database has.");
            if (DumpIndex.Read(element, _computing, _histories) is not { } index)
            {
                _sections.LeaveOut(DumpJson.Indexes, "Indexes that this program cannot build");
                continue;
            }

            _sections.Count(DumpJson.Indexes, await _sink.IndexAsync(index, cancellationToken).ConfigureAwait(false));
            hash.Index(index.Mapping);
            _settings?.Settings(index.Mapping.Name, index.Settings);
        }
    }

    private async Task ReadIdentitiesAsync(ContentHash hash, CancellationToken cancellationToken)
    {
        await foreach (JsonElement element in ElementsAsync(DumpJson.Identities, cancellationToken).ConfigureAwait(false))
        {
            string name = DumpJson.Text(element, "Key");
            long value = DumpJson.Number(element.GetProperty("Value"u8));
            _sections.Count(
                DumpJson.Identities, await _sink.IdentityAsync(name, value, cancellationToken).ConfigureAwait(false));
            hash.Identity(name, value);
        }
    }

    private async Task ReadBesideAsync(string section, Kind kind, ContentHash hash, CancellationToken cancellationToken)
    {
        long last = 0;
        await foreach (JsonElement element in ElementsAsync(section, cancellationToken).ConfigureAwait(false))
        {
            List<RestoredKind> items = ReadBeside(section, kind, element);
            if (items.Count == 0)
                _sections.LeaveOut(section);
            foreach (RestoredKind item in items)
                last = await TakeBesideAsync(section, item, last, hash, cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>
    /// Reads the items of an element; returns none if the element is invalid and invalid items are skipped.
    /// </summary>
    private List<RestoredKind> ReadBeside(string section, Kind kind, JsonElement element)
    {
        try
        {
            return [.. DumpKinds.Read(kind, element, () => ++_lastEtag, _nowTicks)];
        }
        catch (InvalidDocumentException error)
        {
            if (!_skipInvalid || _header is not null)
                throw new BackupException(
                    BackupFault.DocumentRefused,
                    $"{error.Message} (in '{section}' of the backup, before byte {_reader.Position:N0} of its JSON) Nothing "
                        + $"after it was read.",
                    error);
            return [];
        }
    }

    private async Task ReadDeletionsAsync(ContentHash hash, CancellationToken cancellationToken)
    {
        long last = 0;
        await foreach (JsonElement element in ElementsAsync(DumpKinds.Deletions, cancellationToken).ConfigureAwait(false))
            last = await TakeBesideAsync(DumpKinds.Deletions, DumpKinds.ReadDeletion(element), last, hash, cancellationToken)
                .ConfigureAwait(false);
    }

    private async ValueTask<long> TakeBesideAsync(
        string section, RestoredKind item, long last, ContentHash hash, CancellationToken cancellationToken)
    {
        if (item.Etag <= last || item.Etag > (_header?.LastEtag ?? long.MaxValue))
            throw Damaged(
                section, $"etag {item.Etag} follows etag {last}, and the last etag of the database is {_header?.LastEtag}.");
        if (!item.IsDeleted
            && KindKey.KindOf(item.Key.Span) == Kind.Attachment
            && !_contents.Fits(new AttachmentRecord(item.Value.Span), isRequired: _header is not null))
            throw Damaged(section, "the content of an attachment is missing, or has another size.");
        _sections.Count(section, await _sink.BesideAsync(section, item, cancellationToken).ConfigureAwait(false));
        hash.Beside(item.Etag, item.Ticks, item.IsDeleted, item.Key.Span, item.Name.Span, item.Value.Span);
        return item.Etag;
    }

    private async Task ReadCollectionsAsync(ContentHash hash, CancellationToken cancellationToken)
    {
        await foreach (JsonElement element in ElementsAsync(DumpJson.Collections, cancellationToken).ConfigureAwait(false))
        {
            string name = DumpJson.Text(element, "Name");
            long lastEtag = element.GetProperty("LastEtag"u8).GetInt64();
            await _sink.CollectionAsync(name, lastEtag, cancellationToken).ConfigureAwait(false);
            hash.Collection(
                name, element.GetProperty("Documents"u8).GetInt64(), element.GetProperty("SizeBytes"u8).GetInt64(), lastEtag);
        }
    }

    private async Task SkipAsync(string section, CancellationToken cancellationToken)
    {
        while (await _reader.NextElementAsync(cancellationToken).ConfigureAwait(false))
        {
            long raw = DumpBlob.LengthAfter(section, _reader.Element.Span, _maxDepth, out bool isAttachment);
            _sections.LeaveOut(isAttachment ? SectionCounts.Attachments : section, isAttachment ? DumpBlob.Attachment : section);
            await _reader.SkipRawAsync(raw, cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>Enumerates the elements of a small section; reports invalid JSON as an error of the section.</summary>
    private async IAsyncEnumerable<JsonElement> ElementsAsync(
        string section, [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken)
    {
        while (await _reader.NextElementAsync(cancellationToken).ConfigureAwait(false))
        {
            JsonDocument json;
            try
            {
                json = JsonDocument.Parse(_reader.Element);
            }
            catch (JsonException error)
            {
                throw Damaged(section, error.Message, error);
            }

            using (json)
                yield return json.RootElement;
        }
    }

    private long EtagOf(string id, string? changeVector)
    {
        // a change vector of this database has the form A:{etag}-{database}
        int dash = changeVector?.IndexOf('-', StringComparison.Ordinal) ?? -1;
        if (dash > 2
            && long.TryParse(
                changeVector.AsSpan(2, dash - 2), System.Globalization.NumberStyles.None,
                System.Globalization.CultureInfo.InvariantCulture, out long etag)
            && _changeVectors?.Matches(changeVector, etag) == true && etag <= _header?.LastEtag)
            return etag;

        throw new BackupException(
            BackupFault.Damaged,
            $"The backup is damaged: the change vector '{changeVector}' of '{id}' is not one that its database gave. Take "
                + $"another copy.");
    }

    private void Refuse(InvalidDocumentException error)
    {
        string what = $"{error.Message} (it begins at byte {_reader.Position - _reader.Element.Length:N0} of the backup's JSON)";
        if (!_skipInvalid || _header is not null)
            throw new BackupException(BackupFault.DocumentRefused, $"{what} Nothing after it was read.", error);

        _refused++;
        _sections.Refuse();
        if (_refusals.Count < MaxRefusals)
            _refusals.Add(what);
    }

    private BackupException Damaged(string section, string what, Exception? inner = null) => new(
        BackupFault.Damaged,
        $"The backup is damaged in '{section}', before byte {_reader.Position:N0} of its JSON: {what} Take another copy.", inner);

    private void Report(long documents) => _progress?.Report(
        new BackupProgress(
            BackupStep.Reading, documents, 0, _reader.Position, _source.StoredBytes, _storedBytesTotal,
            _document.Id.Length == 0 ? null : _document.Id)
        {
            Sections = _sections.All,
        });
}
