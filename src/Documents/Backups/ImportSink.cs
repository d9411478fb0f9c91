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
/// Brings what a dump holds into a database in use: documents as a bulk insert does, over those of the same ids; identities and
/// ranges of ids never backwards, since numbers that were given must not be given again.
/// </summary>
internal sealed class ImportSink(Database database, BulkInsert insert, ImportOptions options) : IDumpSink
{
    private const string CollectionOfRanges = "@hilo";

    /// <summary>What is set under this name is added to what there is.</summary>
    private static readonly byte[] _analyzers = Encoding.UTF8.GetBytes(CustomAnalyzers.SettingName);
    private static readonly byte[] _sorters = Encoding.UTF8.GetBytes(DatabaseSorters.SettingName);

    private readonly HashSet<string>? _collections = options.Collections is { Count: > 0 } names
        ? new HashSet<string>(names, StringComparer.OrdinalIgnoreCase)
        : null;

    /// <summary>What was here before: two revisions of the dump may be equal.</summary>
    private readonly long _hereUpTo = database.LastEtag;

    public ValueTask BeginAsync(DumpHeader? header, CancellationToken cancellationToken) => ValueTask.CompletedTask;

    public async ValueTask<bool> DocumentAsync(DumpDocument document, long etag, long ticks, CancellationToken cancellationToken)
    {
        if (!options.Content.HasFlag(BackupContent.Documents) || _collections?.Contains(document.Collection.Text) == false)
            return false;
        if (document.Collection.Text == CollectionOfRanges && IsBehind(document))
            return true;

        if (document.Id[^1] is '/' or '|')
            throw new InvalidDocumentException(
                $"The document id '{document.Id}' of the backup ends in '{document.Id[^1]}', which asks for a number. Rename "
                    + $"it.");
        bool isRevised = document.HasRevisions && options.Content.HasFlag(BackupContent.RevisionDocuments);
        await insert.StoreAsync(document.Id, document.Json, isRevised, cancellationToken).ConfigureAwait(false);
        return true;
    }

    public ValueTask<bool> TombstoneAsync(DumpTombstone tombstone, CancellationToken cancellationToken) =>
        ValueTask.FromResult(false);

    public ValueTask<bool> IndexAsync(DumpedIndex index, CancellationToken cancellationToken)
    {
        if (!options.Content.HasFlag(BackupContent.Indexes)
            || (index.Mapping is StaticIndexMapping byHand && !CanBuild(byHand.Definition)))
            return ValueTask.FromResult(false);

        string name = index.Mapping.Name;
        bool isNew = !database.Indexes.Definitions()
            .Any(known => string.Equals(known.Name, name, StringComparison.OrdinalIgnoreCase));
        if (index.Mapping is AutoIndexDefinition auto)
            database.Indexes.FindOrCreate(auto.Collection, auto.Fields, out _);
        else if (index.Mapping is GroupDefinition groups)
            database.Indexes.FindOrCreate(groups, out _);
        else
            database.Indexes.Ensure(index.Mapping);
        // What is set of an index that was there stays; one that was there under another name, or is wider, has its own too.
        if (isNew && index.Settings != new IndexSettings() && database.Indexes.Definitions().Any(known => known.Name == name))
            database.Indexes.Control.Set(name, _ => index.Settings);
        return ValueTask.FromResult(true);
    }

    /// <summary>Whether the program has the analyzers that it names.</summary>
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

    public async ValueTask<bool> IdentityAsync(string name, long value, CancellationToken cancellationToken)
    {
        if (!options.Content.HasFlag(BackupContent.Identities))
            return false;

        await database.SeedIdentityAsync(name, value, force: false, cancellationToken).ConfigureAwait(false);
        return true;
    }

    public AttachmentUpload? BeginContent() =>
        options.Content.HasFlag(BackupContent.Attachments) ? database.BeginUpload() : null;

    public async ValueTask ContentAsync(AttachmentUpload content, CancellationToken cancellationToken) =>
        await content.SettleAsync(database.Environment, cancellationToken).ConfigureAwait(false);

    public async ValueTask<bool> BesideAsync(RestoredKind item, CancellationToken cancellationToken)
    {
        ReadOnlyMemory<byte> key = item.Key;
        Kind kind = KindKey.KindOf(key.Span);
        BackupContent content = DumpKinds.All.First(known => known.Kind == kind).Content;
        if (item.IsDeleted || !options.Content.HasFlag(content))
            return false;

        Action<ReadOnlyMemory<byte>>? merge = kind != Kind.Setting ? null
            : item.Name.Span.SequenceEqual(_analyzers) ? database.Indexes.Analyzers.Merge
            : item.Name.Span.SequenceEqual(_sorters) ? database.Sorters.Merge
            : null;
        if (merge is not null)
        {
            merge(item.Value);
            return true;
        }

        if (kind == Kind.Revision && !options.Content.HasFlag(BackupContent.Attachments))
            item = item with { Value = new RevisionRecord(item.Value.Span).WithAttachments(default) };
        await insert.FlushAsync(cancellationToken).ConfigureAwait(false); // the document may be on its way
        using var batch = new WriteBatch(database.Options);
        // its one command
        return ((RestoredResult)(await database.WriteAsync(batch.Restore(item, _hereUpTo), cancellationToken)
            .ConfigureAwait(false))[0].Beside!).IsTaken;
    }

    public ValueTask CollectionAsync(string name, long lastEtag, CancellationToken cancellationToken) => ValueTask.CompletedTask;

    /// <summary>Whether the database has handed out as many ids of this range, or more.</summary>
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
