using System.Buffers;
using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Text;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>
/// An immutable view of all documents of a database at one point in time. Not thread-safe. Must be disposed.
/// </summary>
public sealed class DatabaseSnapshot : IDisposable
{
    private readonly ReadTransaction _transaction;
    private readonly bool _ownsTransaction;
    private readonly CollectionNames _collectionNames;
    private readonly BodyDictionaries _dictionaries;
    private readonly Tree _documents;
    private UnpackedBodies? _unpacked;
    private Tree? _meta;
    private Tree? _collections;
    private KindItems? _kinds;
    private long _lastEtag = -1;

    internal DatabaseSnapshot(
        ReadTransaction transaction, CollectionNames collectionNames, BodyDictionaries dictionaries, ChangeVectors changeVectors,
        bool ownsTransaction = true)
    {
        _ownsTransaction = ownsTransaction;
        _transaction = transaction;
        _collectionNames = collectionNames;
        _dictionaries = dictionaries;
        ChangeVectors = changeVectors;
        _documents = Tree(TreeNames.Documents);
    }

    /// <summary>The etag of the last change in the snapshot.</summary>
    public long LastEtag => _lastEtag >= 0 ? _lastEtag : _lastEtag = ReadMeta(TreeNames.MetaEtag);

    /// <summary>The change vector of the last change in the snapshot; empty for an empty database.</summary>
    public string ChangeVector => ChangeVectors.Format(LastEtag);

    /// <summary>The number of documents.</summary>
    public long DocumentCount => _documents.Count;

    /// <summary>The number of tombstones.</summary>
    public long TombstoneCount => Tree(TreeNames.TombstonesByEtag).Count;

    /// <summary>The number of identities.</summary>
    internal long IdentityCount => Tree(TreeNames.Identities).Count;

    /// <summary>Related data of documents.</summary>
    internal KindItems Kinds => _kinds ??= new KindItems(_transaction.FindTree, Unpacked);

    /// <summary>The index of times at which documents are due for an action.</summary>
    internal DueIndex Due => new(_transaction.FindTree);

    internal ChangeVectors ChangeVectors { get; }

    /// <summary>The number of page accesses so far.</summary>
    internal long PageVisits => _transaction.PageVisits;

    /// <summary>Gets the document with the specified id (case-insensitive); returns false if there is none.</summary>
    [SkipLocalsInit]
    public bool TryGet(scoped ReadOnlySpan<char> id, out Document document)
    {
        Span<byte> folded = stackalloc byte[DocumentId.MaxFoldedBytes];
        document = default;
        return DocumentId.TryFold(id, folded, out int length) && TryGetByFoldedId(folded[..length], out document);
    }

    /// <summary>Gets the document with the specified UTF-8 id (case-insensitive); returns false if there is none.</summary>
    [SkipLocalsInit]
    public bool TryGet(scoped ReadOnlySpan<byte> id, out Document document)
    {
        Span<byte> folded = stackalloc byte[DocumentId.MaxFoldedBytes];
        document = default;
        return DocumentId.TryFold(id, folded, out int length) && TryGetByFoldedId(folded[..length], out document);
    }

    /// <summary>Returns the documents whose ids start with a prefix, in id order.</summary>
    public DocumentCursor ByPrefix(DocumentPrefix prefix)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        return ByPrefix(prefix, string.IsNullOrEmpty(prefix.StartAfter) ? null : CollectionName.Fold(prefix.StartAfter));
    }

    /// <summary>Same as above, but begins after a folded id instead of the prefix's own.</summary>
    internal DocumentCursor ByPrefix(DocumentPrefix prefix, byte[]? foldedStartAfter) =>
        new PrefixCursor(
            this, _documents, CollectionName.Fold(prefix.StartsWith), foldedStartAfter, IdPattern.From(prefix.Matches),
            IdPattern.From(prefix.Exclude));

    /// <summary>
    /// Returns the number of documents whose ids start with a prefix, optionally of one collection. Documents of all collections
    /// are counted by leaves. For one collection, either those of other collections are subtracted or those of the collection are
    /// counted, using their logs: whichever are fewer.
    /// </summary>
    internal long CountByPrefix(string prefix, string? collection, CancellationToken cancellationToken)
    {
        byte[] folded = CollectionName.Fold(prefix);
        if (folded.Length > DocumentId.MaxFoldedBytes)
            return 0;
        long all = CountOfAll(folded, cancellationToken);
        if (collection is null || all == 0)
            return all;
        long own = Collection(collection)?.DocumentCount ?? 0;
        if (own <= DocumentCount - own)
            return own == 0 ? 0 : CountInLog(collection, folded, cancellationToken);

        string name = Collection(collection)!.Name; // it has documents, so it exists
        foreach (CollectionStatistics other in AllCollections())
            if (other.DocumentCount > 0 && other.Name != name)
                all -= CountInLog(other.Name, folded, cancellationToken);

        return all;
    }

    private long CountOfAll(byte[] folded, CancellationToken cancellationToken)
    {
        const int Step = 1 << 16;
        using Cursor cursor = _documents.OpenCursor();
        long count = 0;
        if (!(folded.Length == 0 ? cursor.MoveFirst() : cursor.Seek(folded)))
            return 0;
        while (true)
        {
            long skipped = cursor.Skip(Step, folded);
            count += skipped;
            if (skipped < Step || !cursor.IsValid)
                return count;
            cancellationToken.ThrowIfCancellationRequested();
            ReleasePages();
        }
    }

    private long CountInLog(string collection, byte[] folded, CancellationToken cancellationToken)
    {
        const int Step = 1 << 10;
        using LogReader log = CollectionLog(TreeNames.DocumentsByCollection, FindCollection(collection), 0);
        long count = 0;
        for (int seen = 1; log.MoveNext(); seen++)
        {
            count += log.Value.StartsWith(folded) ? 1 : 0;
            if (seen % Step != 0)
                continue;
            cancellationToken.ThrowIfCancellationRequested();
            ReleasePages();
        }

        return count;
    }

    /// <summary>
    /// Returns the documents of a collection (case-insensitive) with an etag greater than <paramref name="afterEtag"/>, in etag
    /// order.
    /// </summary>
    public DocumentCursor ByCollection(string collection, long afterEtag = 0) =>
        new LogCursor(
            this, CollectionLog(TreeNames.DocumentsByCollection, FindCollection(collection), afterEtag), backwards: false);

    /// <summary>Returns all documents with an etag greater than <paramref name="afterEtag"/>, in etag order.</summary>
    public DocumentCursor ByEtag(long afterEtag = 0) =>
        new LogCursor(this, new LogReader(Tree(TreeNames.DocumentsByEtag), null, afterEtag), backwards: false);

    /// <summary>Returns all documents, most recently changed first.</summary>
    public DocumentCursor NewestFirst() =>
        new LogCursor(this, new LogReader(Tree(TreeNames.DocumentsByEtag), null, 0), backwards: true);

    /// <summary>
    /// Opens the change feed: every document and tombstone of a collection (null: of all collections) with an etag greater than
    /// <paramref name="afterEtag"/>, in etag order.
    /// </summary>
    public ChangeFeed Changes(string? collection, long afterEtag)
    {
        if (collection is null)
        {
            return new ChangeFeed(
                this,
                new LogReader(Tree(TreeNames.DocumentsByEtag), null, afterEtag),
                new LogReader(Tree(TreeNames.TombstonesByEtag), null, afterEtag),
                ofOneCollection: false);
        }

        int? collectionId = FindCollection(collection);
        return new ChangeFeed(
            this,
            CollectionLog(TreeNames.DocumentsByCollection, collectionId, afterEtag),
            CollectionLog(TreeNames.TombstonesByCollection, collectionId, afterEtag),
            ofOneCollection: true);
    }

    /// <summary>Returns the non-empty collections with their statistics, sorted by name.</summary>
    public IReadOnlyList<CollectionStatistics> Collections()
    {
        var collections = new List<CollectionStatistics>();
        using Cursor cursor = CollectionsTree.OpenCursor();
        for (bool found = cursor.MoveFirst(); found; found = cursor.MoveNext())
            if (Statistics(cursor.Value) is { DocumentCount: > 0 } statistics)
                collections.Add(statistics);
        collections.Sort(static (left, right) => string.CompareOrdinal(left.Name, right.Name));
        return collections;
    }

    /// <summary>Returns all collections that ever existed, including empty ones, by name.</summary>
    internal IReadOnlyList<CollectionStatistics> AllCollections()
    {
        var collections = new List<CollectionStatistics>();
        using Cursor cursor = CollectionsTree.OpenCursor();
        for (bool found = cursor.MoveFirst(); found; found = cursor.MoveNext())
            collections.Add(Statistics(cursor.Value));
        collections.Sort(static (left, right) => string.CompareOrdinal(left.Name, right.Name));
        return collections;
    }

    /// <summary>
    /// Returns the statistics of a collection (case-insensitive), even if it is empty by now; null if it never existed.
    /// </summary>
    public CollectionStatistics? Collection(string name)
    {
        if (FindCollection(name) is not { } id)
            return null;

        Span<byte> key = stackalloc byte[4];
        BinaryPrimitives.WriteInt32BigEndian(key, id);
        return CollectionsTree.TryGet(key, out ReadOnlySpan<byte> value) ? Statistics(value) : null;
    }

    /// <summary>
    /// Returns the last value assigned by each identity, sorted by name. Names include the <c>|</c> and keep the case in which
    /// they were first written.
    /// </summary>
    public IReadOnlyDictionary<string, long> Identities()
    {
        var identities = new SortedDictionary<string, long>(StringComparer.Ordinal);
        using Cursor cursor = Tree(TreeNames.Identities).OpenCursor();
        for (bool found = cursor.MoveFirst(); found; found = cursor.MoveNext())
        {
            var identity = new IdentityRecord(cursor.Value);
            identities[Encoding.UTF8.GetString(identity.Name)] = identity.Value;
        }

        return identities;
    }

    /// <summary>
    /// Invalidates every <see cref="Document"/> and span read from the snapshot so far; the snapshot and its cursors remain
    /// usable. Call it regularly when reading many documents from one snapshot: decrypted pages and decompressed bodies stay in
    /// memory as long as a span may refer to them. Costs almost nothing, and does nothing if there are none.
    /// </summary>
    public void ReleasePages()
    {
        _unpacked?.Release();
        _transaction.ReleasePages();
    }

    /// <summary>Returns the decompressed body of a record.</summary>
    internal ReadOnlySpan<byte> Unpack(DocumentRecord record) =>
        Unpacked.Get(record.Etag, record.StoredBody);

    private UnpackedBodies Unpacked => _unpacked ??= new UnpackedBodies(_dictionaries, _transaction.FindTree);

    /// <summary>
    /// Opens the same view for another thread, to be disposed too. This one must not be disposed before the method returns.
    /// </summary>
    internal DatabaseSnapshot BeginSame()
    {
        ReadTransaction transaction = _transaction.BeginSame();
        try
        {
            return new DatabaseSnapshot(transaction, _collectionNames, _dictionaries, ChangeVectors);
        }
        catch
        {
            transaction.Dispose();
            throw;
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _unpacked?.Release();
        if (_ownsTransaction)
            _transaction.Dispose();
    }

    /// <summary>The etag up to which tombstones were purged; 0 if none were.</summary>
    internal long PurgedUpTo => ReadMeta(TreeNames.MetaPurged);

    /// <summary>The latest time (UTC ticks) of a deletion whose tombstone was purged; 0 if none is known.</summary>
    internal long ForgottenTicks => ReadMeta(TreeNames.MetaForgotten);

    private long ReadMeta(ReadOnlySpan<byte> key) =>
        (_meta ??= Tree(TreeNames.Meta)).TryGet(key, out ReadOnlySpan<byte> value)
            ? BinaryPrimitives.ReadInt64LittleEndian(value)
            : 0;

    /// <summary>
    /// Returns the tombstones with an etag greater than <paramref name="afterEtag"/> in etag order, including superseded ones.
    /// </summary>
    internal LogReader Tombstones(long afterEtag = 0) => new(Tree(TreeNames.TombstonesByEtag), null, afterEtag);

    /// <summary>Returns a tree of its transaction; null if it does not exist.</summary>
    internal Tree? FindTree(string name) => _transaction.FindTree(name);

    internal CollectionName NameOf(int collectionId) =>
        _collectionNames.Find(collectionId) ?? _collectionNames.Load(collectionId, CollectionsTree);

    /// <summary>Opens a cursor for <see cref="GetByFoldedId(Cursor, ReadOnlySpan{byte})"/>.</summary>
    internal Cursor OpenDocuments() => _documents.OpenCursor();

    /// <summary>Returns the document that a log entry refers to.</summary>
    internal Document GetByFoldedId(scoped ReadOnlySpan<byte> foldedId) =>
        _documents.TryGet(foldedId, out ReadOnlySpan<byte> record) ? new Document(this, record) : throw Missing(foldedId);

    /// <summary>Same as above, starting the search at the cursor's position.</summary>
    internal Document GetByFoldedId(Cursor near, scoped ReadOnlySpan<byte> foldedId) =>
        near.TryMoveTo(foldedId, out ReadOnlySpan<byte> record) ? new Document(this, record) : throw Missing(foldedId);

    /// <summary>Returns the tombstone with the specified etag.</summary>
    internal ReadOnlySpan<byte> GetTombstone(long etag)
    {
        Span<byte> key = stackalloc byte[TreeNames.EtagKeyBytes];
        TreeNames.WriteEtagKey(key, etag);
        return Tree(TreeNames.TombstonesByEtag).TryGet(key, out ReadOnlySpan<byte> record)
            ? record
            : throw new CorruptionException(
                $"The log of a collection names the tombstone {etag}, which does not exist. Run a check of the database and "
                    + $"restore a backup.");
    }

    /// <summary>Writes the metadata members about a document's related data, each with a leading comma.</summary>
    internal void WriteBeside(IBufferWriter<byte> output, ReadOnlySpan<byte> id, DocumentFlags flags, ReadOnlySpan<byte> given)
    {
        Span<byte> folded = stackalloc byte[DocumentId.MaxFoldedBytes];
        new BesideMetadata(Kinds).Write(output, folded[..DocumentId.Fold(id, folded)], flags, given);
    }

    private static CorruptionException Missing(ReadOnlySpan<byte> foldedId) =>
        new(
            $"The log names the document '{Encoding.UTF8.GetString(foldedId)}', which does not exist. Run a check of the "
                + $"database and restore a backup.");

    private Tree CollectionsTree => _collections ??= Tree(TreeNames.Collections);

    private static CollectionStatistics Statistics(ReadOnlySpan<byte> value)
    {
        var record = new CollectionRecord(value);
        return new CollectionStatistics(
            Encoding.UTF8.GetString(record.Name), record.DocumentCount, record.SizeBytes, record.LastEtag);
    }

    internal bool TryGetByFoldedId(scoped ReadOnlySpan<byte> foldedId, out Document document)
    {
        if (!foldedId.IsEmpty && _documents.TryGet(foldedId, out ReadOnlySpan<byte> record))
        {
            document = new Document(this, record);
            return true;
        }

        document = default;
        return false;
    }

    /// <summary>Same as above, starting the search at the cursor's position.</summary>
    internal bool TryGetByFoldedId(Cursor near, scoped ReadOnlySpan<byte> foldedId, out Document document)
    {
        if (!foldedId.IsEmpty && near.TryMoveTo(foldedId, out ReadOnlySpan<byte> record))
        {
            document = new Document(this, record);
            return true;
        }

        document = default;
        return false;
    }

    private LogReader CollectionLog(string tree, int? collectionId, long afterEtag) =>
        collectionId is { } id ? new LogReader(Tree(tree), id, afterEtag) : LogReader.Empty;

    /// <summary>Returns the number of a collection; null if it never existed.</summary>
    internal int? FindCollection(string name)
    {
        byte[] folded = CollectionName.Fold(name);
        return folded.Length is > 0 and <= CollectionName.MaxBytes * 2
            && Tree(TreeNames.CollectionsByName).TryGet(folded, out ReadOnlySpan<byte> value)
            ? BinaryPrimitives.ReadInt32LittleEndian(value)
            : null;
    }

    private Tree Tree(string name) => _transaction.FindTree(name)
        ?? throw new CorruptionException(
            $"The database has lost its tree '{name}'. Run a check of the database and restore a backup.");
}

/// <summary>The statistics of a collection.</summary>
/// <param name="Name">The name, in the case in which it was first written.</param>
/// <param name="DocumentCount">The number of documents.</param>
/// <param name="SizeBytes">The total size of their JSON in bytes.</param>
/// <param name="LastEtag">The etag of the last change in the collection, including deletions.</param>
public sealed record CollectionStatistics(string Name, long DocumentCount, long SizeBytes, long LastEtag);

/// <summary>Selects documents by the beginning of their id.</summary>
public sealed record DocumentPrefix
{
    /// <summary>The prefix of the id (case-insensitive).</summary>
    public required string StartsWith { get; init; }

    /// <summary>
    /// Patterns for the rest of the id, separated by <c>|</c>, with the wildcards <c>*</c> and <c>?</c>. Null: anything.
    /// </summary>
    public string? Matches { get; init; }

    /// <summary>Patterns that the rest of the id must not match, in the same form as <see cref="Matches"/>.</summary>
    public string? Exclude { get; init; }

    /// <summary>The id after which to start. Null: at the first document.</summary>
    public string? StartAfter { get; init; }
}
