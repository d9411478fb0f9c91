using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Grouping;
using Treepie.Kinds;
using Treepie.Queries;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Backups;

/// <summary>
/// Imports the contents of a dump into a database in use: documents by bulk insert, replacing those with the same ids;
/// identities and HiLo ranges only if they are higher, because values that were handed out must not be reused.
/// </summary>
internal sealed class ImportSink(Database database, BulkInsert insert, ImportOptions options, SectionCounts counts) : IDumpSink
{
    private const string CollectionOfRanges = "@hilo";

    /// <summary>The names of the settings that are merged with the existing ones.</summary>
    private static readonly byte[] _analyzers = Encoding.UTF8.GetBytes(CustomAnalyzers.SettingName);
    private static readonly byte[] _sorters = Encoding.UTF8.GetBytes(DatabaseSorters.SettingName);

    private static readonly byte[] _timeSeries = Encoding.UTF8.GetBytes(TimeSeriesConfiguration.SettingName);

    private readonly ImportBatch _batch = new(database, insert, counts);

    private readonly LeftOutSettings _leftOut = new(options.LeftOutSettings);

    private readonly HashSet<string>? _collections = options.Collections is { Count: > 0 } names
        ? new HashSet<string>(names, StringComparer.OrdinalIgnoreCase)
        : null;

    /// <summary>
    /// The last etag before the import: revisions are compared only with older ones, since two revisions of the dump may be
    /// equal.
    /// </summary>
    private readonly long _hereUpTo = database.LastEtag;

    /// <summary>
    /// The documents left out, by the first 128 bits of the SHA-256 hash of their folded ids. Their counters and the like are
    /// left out as well, and so are their revisions if the value is true.
    /// </summary>
    private readonly Dictionary<UInt128, bool> _leftOutIds = [];

    public ValueTask BeginAsync(DumpHeader? header, CancellationToken cancellationToken) => ValueTask.CompletedTask;

    public async ValueTask<bool> DocumentAsync(DumpDocument document, long etag, long ticks, CancellationToken cancellationToken)
    {
        if ((options.Content & DumpKinds.OfDocuments) == 0)
            return false;
        if (_collections?.Contains(document.Collection.Text) == false)
            return LeaveOut(document, withRevisions: false); // they are selected by their own collection
        if (options.LeftOut.HasDocument(document.Json, database.Options.TimeProvider.GetUtcNow()))
            return LeaveOut(document, withRevisions: true);
        if (!options.Content.HasFlag(BackupContent.Documents))
        {
            if (Transformed(document, cancellationToken) is null)
                LeaveOut(document, withRevisions: true);
            return false;
        }

        if (document.Collection.Text == CollectionOfRanges && IsBehind(document))
            return true;

        if (document.Id[^1] is '/' or '|')
            throw new InvalidDocumentException(
                $"The document id '{document.Id}' of the backup ends in '{document.Id[^1]}', which asks for a number. Rename "
                    + $"it.");
        bool isRevised = options.SkipRevisionCreation
            || (document.HasRevisions && options.Content.HasFlag(BackupContent.RevisionDocuments));
        if (Transformed(document, cancellationToken) is not { } json)
            return LeaveOut(document, withRevisions: true);
        await insert.StoreAsync(document.Id, json, isRevised, cancellationToken).ConfigureAwait(false);
        return true;
    }

    /// <summary>
    /// Remembers a document that is left out, if the database has it or its revisions must be left out as well; returns false.
    /// </summary>
    private bool LeaveOut(DumpDocument document, bool withRevisions)
    {
        withRevisions &= options.Content.HasFlag(BackupContent.RevisionDocuments);
        if (withRevisions)
        {
            if (_leftOutIds.Count >= options.MostLeftOut)
                throw new BackupException(
                    BackupFault.DocumentRefused,
                    $"The import would leave out more than {options.MostLeftOut:N0} documents, and has to remember each of them "
                        + $"to leave out its revisions. Import without revisions, or choose collections.");
        }
        else if (!IsHere(document))
        {
            return false;
        }

        _leftOutIds[HashOf(CollectionName.Fold(document.IdUtf8))] = withRevisions;
        return false;
    }

    private bool IsHere(DumpDocument document)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return snapshot.TryGet(document.IdUtf8, out Document _);
    }

    /// <summary>Returns whether an item belongs to a document that was left out.</summary>
    private bool IsOfLeftOut(in RestoredKind item)
    {
        bool isRevision = KindKey.KindOf(item.Key.Span) == Kind.Revision;
        if (isRevision && _collections is not null
            && !_collections.Contains(Encoding.UTF8.GetString(new RevisionRecord(item.Value.Span).Collection)))
            return true;
        return _leftOutIds.Count > 0
            && _leftOutIds.TryGetValue(HashOf(KindKey.DocumentOf(item.Key.Span)), out bool withRevisions)
            && (withRevisions || !isRevision);
    }

    private static UInt128 HashOf(ReadOnlySpan<byte> foldedId)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(foldedId, hash);
        return BinaryPrimitives.ReadUInt128LittleEndian(hash);
    }

    private ReadOnlyMemory<byte>? Transformed(DumpDocument document, CancellationToken cancellationToken)
    {
        if (options.Transform is not { } transform)
            return document.Json;
        using DatabaseSnapshot snapshot = database.BeginRead();
        return transform.Apply(document.Id, document.Json, snapshot, cancellationToken);
    }

    public ValueTask<DumpItemFate> TombstoneAsync(DumpTombstone tombstone, CancellationToken cancellationToken) =>
        ValueTask.FromResult(DumpItemFate.LeftOut);

    public ValueTask<DumpItemFate> IndexAsync(DumpedIndex index, CancellationToken cancellationToken)
    {
        if (options.RemoveAnalyzers)
            index = index.WithoutAnalyzers();
        if (!options.Content.HasFlag(BackupContent.Indexes)
            || (index.Mapping is StaticIndexMapping byHand && !CanBuild(byHand.Definition)))
            return ValueTask.FromResult(DumpItemFate.LeftOut);

        string name = index.Mapping.Name;
        bool isNew = !database.Indexes.Definitions()
            .Any(known => string.Equals(known.Name, name, StringComparison.OrdinalIgnoreCase));
        if (index.Mapping is AutoIndexDefinition auto)
            database.Indexes.FindOrCreate(auto.Collection, auto.Fields, out _);
        else if (index.Mapping is GroupDefinition groups)
            database.Indexes.FindOrCreate(groups, out _);
        else
            database.Indexes.Ensure(index.Mapping);
        if (isNew && !_leftOut.HasHistories)
            database.Indexes.RestoreHistory(name, index.History);
        // An existing index keeps its settings, also if it has another name or covers more fields.
        if (isNew && index.Settings != new IndexSettings() && database.Indexes.Definitions().Any(known => known.Name == name))
            database.Indexes.Control.Set(name, _ => index.Settings);
        return ValueTask.FromResult(DumpItemFate.Taken);
    }

    /// <summary>Returns whether the program has the analyzers of a definition.</summary>
    private bool CanBuild(IndexDefinition definition)
    {
        try
        {
            database.Indexes.Check(definition);
            return true;
        }
        catch (InvalidIndexDefinitionException)
        {
            return false;
        }
    }

    public async ValueTask<DumpItemFate> IdentityAsync(string name, long value, CancellationToken cancellationToken)
    {
        if (!options.Content.HasFlag(BackupContent.Identities))
            return DumpItemFate.LeftOut;

        await _batch.AddAsync(DumpJson.Identities, name, value, cancellationToken).ConfigureAwait(false);
        return DumpItemFate.Pending;
    }

    public AttachmentUpload? BeginContent() =>
        options.Content.HasFlag(BackupContent.Attachments) ? database.BeginUpload() : null;

    public async ValueTask ContentAsync(AttachmentUpload content, CancellationToken cancellationToken) =>
        await content.SettleAsync(database.Environment, cancellationToken).ConfigureAwait(false);

    public async ValueTask<DumpItemFate> BesideAsync(string section, RestoredKind item, CancellationToken cancellationToken)
    {
        ReadOnlyMemory<byte> key = item.Key;
        Kind kind = KindKey.KindOf(key.Span);
        BackupContent content = DumpKinds.All.First(known => known.Kind == kind).Content;
        if (item.IsDeleted || !options.Content.HasFlag(content) || IsOfLeftOut(item))
            return DumpItemFate.LeftOut;
        if (kind == Kind.Setting && (!ImportedSetting.CanRead(item) || _leftOut.Has(item.Name.Span)))
            return DumpItemFate.LeftOut;

        Action<ReadOnlyMemory<byte>>? merge = kind != Kind.Setting ? null
            : item.Name.Span.SequenceEqual(_analyzers) ? database.Indexes.Analyzers.Merge
            : item.Name.Span.SequenceEqual(_sorters) ? database.Sorters.Merge
            : null;
        if (merge is not null)
        {
            merge(item.Value);
            return DumpItemFate.Taken;
        }

        if (kind == Kind.Setting && item.Name.Span.SequenceEqual(_timeSeries))
        {
            // Series that are here are processed by the new rules.
            await database.TimeSeriesPolicies.ConfigureAsync(
                TimeSeriesConfiguration.FromJson(item.Value), cancellationToken).ConfigureAwait(false);
            return DumpItemFate.Taken;
        }

        if (kind == Kind.Revision && !options.Content.HasFlag(BackupContent.Attachments))
            item = item with { Value = new RevisionRecord(item.Value.Span).WithAttachments(default) };
        if (kind == Kind.Attachment && !HasContent(item))
            return DumpItemFate.LeftOut;
        await _batch.AddAsync(
            section, new RestoreKindCommand(item, _hereUpTo, !options.SkipRevisionCreation),
            item.Key.Length + item.Value.Length + item.SharedBody.Length, cancellationToken).ConfigureAwait(false);
        return DumpItemFate.Pending;
    }

    public async ValueTask EndSectionAsync(CancellationToken cancellationToken) =>
        await _batch.FlushAsync(cancellationToken).ConfigureAwait(false);

    /// <summary>Ends a section after an error: what is damaged in it as well is left out.</summary>
    public async Task TryEndSectionAsync(CancellationToken cancellationToken)
    {
        try
        {
            await EndSectionAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (BackupException)
        {
            // The first error is reported. Items before this one were written.
        }
    }

    /// <summary>
    /// Returns whether the content of an attachment is here; false if invalid items are skipped and it is not.
    /// </summary>
    /// <exception cref="BackupException">The content is missing, or has another size than the attachment says.</exception>
    private bool HasContent(RestoredKind item)
    {
        var attachment = new AttachmentRecord(item.Value.Span);
        using DatabaseSnapshot snapshot = database.BeginRead();
        long? size = snapshot.Kinds.ContentSize(attachment.Hash);
        if (size == attachment.SizeBytes)
            return true;
        if (size is null && options.SkipInvalidDocuments)
            return false;
        string content = size is null ? "its content is missing" : $"its content has {size:N0}";
        throw new BackupException(
            BackupFault.Damaged,
            $"The backup is damaged: the attachment '{Encoding.UTF8.GetString(item.Name.Span)}' has "
                + $"{attachment.SizeBytes:N0} bytes there, and {content}. Take another copy.");
    }

    public ValueTask CollectionAsync(string name, long lastEtag, CancellationToken cancellationToken) => ValueTask.CompletedTask;

    /// <summary>Returns whether the database has already handed out the ids of this range.</summary>
    private bool IsBehind(DumpDocument document)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return snapshot.TryGet(document.IdUtf8, out Document existing) && MaxOf(existing.Body) >= MaxOf(document.Body);
    }

    private static long MaxOf(ReadOnlySpan<byte> body)
    {
        var reader = new Utf8JsonReader(body, new JsonReaderOptions { MaxDepth = DatabaseOptions.MostDocumentDepth + 1 });
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            bool isMax = reader.ValueTextEquals("Max"u8);
            reader.Read();
            if (isMax && reader.TokenType == JsonTokenType.Number && reader.TryGetInt64(out long max))
                return max;
            reader.Skip();
        }

        return 0;
    }
}
