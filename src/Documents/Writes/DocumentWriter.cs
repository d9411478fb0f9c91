using System.Buffers.Binary;
using System.Diagnostics;
using System.Text;
using Treepie.Json;
using Treepie.Kinds;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;

namespace Treepie.Writes;

/// <summary>
/// Executes the commands of one batch inside one storage command and maintains the invariants of <see cref="TreeNames"/>. Created
/// for each run, because a storage command may be run again from its start.
/// </summary>
internal sealed class DocumentWriter : IKindHost
{
    private readonly WriteTransaction _transaction;
    private readonly ChangeVectors _changeVectors;
    private readonly DateTime _now;
    private readonly UnpackedBodies _unpacked;
    private readonly bool _wantsResults;
    private readonly Tree _documents;
    private readonly Tree _byEtag;
    private readonly Tree _byCollection;
    private readonly Tree _meta;
    private readonly TombstoneWriter _tombstones;
    private readonly CollectionWriter _collections;
    private RevisionWriter? _revisions;
    private long _lastEtag;

    /// <summary>Creates a writer for one run; without results it allocates nothing per document.</summary>
    /// <param name="transaction">The transaction to write to.</param>
    /// <param name="changeVectors">Formats change vectors.</param>
    /// <param name="dictionaries">The dictionaries for decompressing bodies.</param>
    /// <param name="now">The current time (UTC).</param>
    /// <param name="wantsResults">Whether results are returned.</param>
    /// <param name="keepsUnusedContents">See <see cref="ContentStore"/>.</param>
    public DocumentWriter(
        WriteTransaction transaction, ChangeVectors changeVectors, BodyDictionaries dictionaries, DateTime now,
        bool wantsResults = true, bool keepsUnusedContents = false)
    {
        _transaction = transaction;
        _wantsResults = wantsResults;
        _changeVectors = changeVectors;
        _unpacked = new UnpackedBodies(dictionaries, transaction.FindTree);
        _now = now;
        _documents = transaction.GetOrCreateTree(TreeNames.Documents);
        _byEtag = transaction.GetOrCreateTree(TreeNames.DocumentsByEtag);
        _byCollection = transaction.GetOrCreateTree(TreeNames.DocumentsByCollection);
        _meta = transaction.GetOrCreateTree(TreeNames.Meta);
        _tombstones = new TombstoneWriter(transaction);
        _collections = new CollectionWriter(transaction);
        Ids = new IdMaker(transaction, _documents);
        Kinds = new KindWriter(transaction, dictionaries, keepsUnusedContents);
        Due = DueIndex.Of(transaction);
        _lastEtag = _meta.TryGet(TreeNames.MetaEtag, out ReadOnlySpan<byte> value)
            ? BinaryPrimitives.ReadInt64LittleEndian(value)
            : 0;
    }

    /// <summary>Completes ids.</summary>
    public IdMaker Ids { get; }

    /// <inheritdoc/>
    public KindWriter Kinds { get; }

    /// <summary>The index of times at which documents are due for an action.</summary>
    public DueIndex Due { get; }

    /// <summary>Revisions; first accessed by the first command, before which the batch may have configured them.</summary>
    public RevisionWriter Revisions => _revisions ??= new RevisionWriter(this);

    /// <inheritdoc/>
    public long NowTicks => _now.Ticks;

    /// <inheritdoc/>
    public ChangeVectors ChangeVectors => _changeVectors;

    /// <summary>The etag of the last change so far.</summary>
    public long LastEtag => _lastEtag;

    /// <summary>The etag up to which tombstones were purged; 0 if none were.</summary>
    public long PurgedUpTo => _tombstones.PurgedUpTo;

    /// <summary>
    /// Executes all commands; if one throws, the storage undoes all of them. Returns a result for each, if results are requested.
    /// </summary>
    public WriteResult[] Apply(WriteBatch batch)
    {
        IReadOnlyList<WriteCommand> commands = batch.Commands;
        WriteResult[] results = _wantsResults ? new WriteResult[commands.Count] : [];
        if (HasOnlyDeletes(commands))
            UseReserve();
        if (batch.IsClusterWide)
            AtomicGuards.Check(this, batch);
        for (int index = 0; index < commands.Count; index++)
        {
            WriteCommand command = commands[index];
            WriteResult? result = command.Kind switch
            {
                WriteKind.Put => Put(in command, batch.SkipUnchanged),
                WriteKind.Delete => Delete(in command),
                WriteKind.Beside => Beside(command.Beside!), // set for commands of this kind
                WriteKind.Patch => Patched(in command),
                WriteKind.Require => Required(in command),
                WriteKind.RequireUnchanged => Unchanged(in command),
                _ => DeleteByPrefix(in command),
            };
            if (batch.HasGuards)
                result = AtomicGuards.Move(this, in command, result);
            if (result is not null)
                results[index] = result;
        }

        Save();
        return batch.IsTrial ? throw new TrialEndedException(results) : results;
    }

    private static bool HasOnlyDeletes(IReadOnlyList<WriteCommand> commands)
    {
        for (int index = 0; index < commands.Count; index++)
            if (commands[index] is { Kind: WriteKind.Put or WriteKind.Patch } or { Beside.IsDelete: false })
                return false;
        return true;
    }

    /// <summary>Gets the document with a folded id; valid until the next change.</summary>
    public bool TryGet(scoped ReadOnlySpan<byte> foldedId, out DocumentRecord record)
    {
        bool found = _documents.TryGet(foldedId, out ReadOnlySpan<byte> value);
        record = found ? new DocumentRecord(value) : default;
        return found;
    }

    /// <summary>Returns the body of a document; valid until the next change, or the next call.</summary>
    public ReadOnlySpan<byte> BodyOf(DocumentRecord record)
    {
        if (!record.IsPacked)
            return record.StoredBody;
        _unpacked.Release();
        return _unpacked.Get(record.Etag, record.StoredBody);
    }

    private static ReadOnlySpan<byte> PackedOf(DocumentRecord record) => record.IsPacked ? record.StoredBody : default;

    /// <summary>
    /// Replaces the body of a document at a change by its compressed form, and leaves everything else unchanged; does nothing if
    /// the document has changed since.
    /// </summary>
    public void Pack(ReadOnlySpan<byte> foldedId, long etag, ReadOnlySpan<byte> packed)
    {
        if (!_documents.TryGet(foldedId, out ReadOnlySpan<byte> value) || new DocumentRecord(value).Etag != etag)
            return;
        var existing = new DocumentRecord(value.ToArray()); // its page is modified below
        int size = DocumentRecord.SizeOf(existing.Id.Length, existing.Metadata.Length, packed.Length);
        DocumentRecord.Write(
            _documents.Reserve(foldedId, size), etag, existing.LastModifiedTicks, existing.CollectionId, existing.Flags,
            existing.Id, existing.Metadata, packed, isPacked: true);
    }

    /// <summary>
    /// Stores a dictionary for bodies; returns false if its number is in use. From then on, older versions cannot open the
    /// database.
    /// </summary>
    public bool TryPutDictionary(ReadOnlySpan<byte> bytes)
    {
        if (!BodyDictionaries.TryPut(_transaction, bytes))
            return false;
        DatabaseFormat.AllowPacked(_meta);
        return true;
    }

    /// <summary>Returns a tree; creates it if it does not exist.</summary>
    public Tree GetOrCreateTree(string name) => _transaction.GetOrCreateTree(name);

    /// <summary>Returns the name of a document's collection.</summary>
    public string CollectionOf(DocumentRecord record) => _collections.Get(record.CollectionId).Name;

    /// <summary>Stores one document; <see cref="Save"/> must be called afterwards.</summary>
    /// <param name="command">The command.</param>
    /// <param name="skipUnchanged">Whether an identical document is left unchanged.</param>
    /// <param name="isAnswered">Whether a result is returned even if the batch requests none.</param>
    public WriteResult? Put(in WriteCommand command, bool skipUnchanged = false, bool isAnswered = false)
    {
        Debug.Assert(command.Collection is not null, "a put names a collection, if only the empty one");
        long etag = _lastEtag + 1;
        string id = command.Id;
        ReadOnlySpan<byte> idUtf8 = command.IdUtf8.Span;
        ReadOnlySpan<byte> folded = command.FoldedId.Span;
        if (command.IdKind != IdKind.Given)
        {
            id = command.IdKind == IdKind.ServerSide ? Ids.ServerSide(id, ref etag) : Ids.Identity(id);
            idUtf8 = Encoding.UTF8.GetBytes(id);
            folded = CollectionName.Fold(idUtf8);
        }

        CollectionChange collection = _collections.Get(command.Collection);
        DocumentFlags flags = DocumentFlags.None;
        DueTimes dueBefore = default;
        bool isNew = !_documents.TryGet(folded, out ReadOnlySpan<byte> value);
        if (!isNew)
        {
            var existing = new DocumentRecord(value);
            Check(id, command.ExpectedChangeVector, existing.Etag);
            CheckCollection(id, existing.CollectionId, collection);
            if (skipUnchanged
                && existing.ContentBytes == command.Body.Length + command.Metadata.Length
                && BodyOf(existing).SequenceEqual(command.Body.Span)
                && existing.Metadata.SequenceEqual(command.Metadata.Span))
                return Result(id, collection.Name, existing.Etag, new DateTime(existing.LastModifiedTicks, DateTimeKind.Utc));
            if (!existing.Id.SequenceEqual(idUtf8))
                idUtf8 = existing.Id.ToArray(); // the case in which the id was first written is kept
            collection.SizeBytes -= existing.ContentBytes;
            flags = existing.Flags;
            dueBefore = DueTimes.Of(existing.Metadata);
            RemoveFromLogs(existing.Etag, collection.Id);
            if (command.ForcesRevision
                || (!Revisions.IsIdle
                    && Revisions.RuleOf(collection.Name) is not null
                    && !flags.HasFlag(DocumentFlags.HasRevisions)))
                etag = AddOldRevision(folded, etag, collection.Name, command.ForcesRevision, ref flags);
        }
        else
        {
            Check(id, command.ExpectedChangeVector, actualEtag: 0);
            collection.DocumentCount++;
            isNew = !_tombstones.IdIsBack(folded, collection.Id); // a life before this one may have left no revisions
            if (!Revisions.IsIdle && Kinds.Items.LastRevision(folded) is not null)
                flags |= DocumentFlags.HasRevisions;
        }

        _lastEtag = etag;
        if (!command.IsRevised && !Revisions.IsIdle)
            flags = AddRevision(
                folded, idUtf8, etag, collection.Name, MetadataMember.Without(command.Metadata.Span, MetadataKeys.Flags),
                command.Body.Span, command.Packed.Span, flags, isForced: false, isNew);
        ReadOnlySpan<byte> metadata = command.Metadata.Span;
        bool isPacked = !command.Packed.IsEmpty;
        ReadOnlySpan<byte> body = isPacked ? command.Packed.Span : command.Body.Span;
        int size = DocumentRecord.SizeOf(idUtf8.Length, metadata.Length, body.Length);
        DocumentRecord.Write(
            _documents.Reserve(folded, size), etag, _now.Ticks, collection.Id, flags, idUtf8, metadata, body, isPacked);
        AddToLogs(etag, collection.Id, folded);
        Due.Move(folded, dueBefore, DueTimes.Of(metadata));
        collection.SizeBytes += metadata.Length + command.Body.Length;
        collection.LastEtag = etag;
        return isAnswered
            ? new WriteResult(id, collection.Name, "", _now, Deleted: false, etag)
            : Result(id, collection.Name, etag, _now);
    }

    /// <summary>Writes the collections and the last etag.</summary>
    public void Save()
    {
        _collections.Save();
        Kinds.Save();
        Span<byte> value = stackalloc byte[8];
        BinaryPrimitives.WriteInt64LittleEndian(value, _lastEtag);
        _meta.Put(TreeNames.MetaEtag, value);
    }

    /// <inheritdoc/>
    public long NextEtag() => ++_lastEtag;

    /// <inheritdoc/>
    public void Touch(ReadOnlySpan<byte> foldedId) => Rewrite(foldedId, static metadata => metadata);

    /// <inheritdoc/>
    public void TouchUnrevised(ReadOnlySpan<byte> foldedId) =>
        Rewrite(foldedId, static metadata => metadata, isRevised: false);

    /// <inheritdoc/>
    public void AddRevision(ReadOnlySpan<byte> foldedId) => Rewrite(foldedId, static metadata => metadata, forcesRevision: true);

    /// <summary>Gives a document a new etag and other metadata; does nothing if it does not exist.</summary>
    public void Rewrite(
        ReadOnlySpan<byte> foldedId, Func<byte[], byte[]> change, bool forcesRevision = false, bool isRevised = true)
    {
        if (!_documents.TryGet(foldedId, out ReadOnlySpan<byte> value))
            return;

        var existing = new DocumentRecord(value.ToArray()); // its page is modified below
        DueTimes dueBefore = DueTimes.Of(existing.Metadata);
        byte[] metadata = change(existing.Metadata.ToArray());
        CollectionChange collection = _collections.Get(existing.CollectionId);
        collection.SizeBytes += metadata.Length - existing.Metadata.Length;
        long etag = NextEtag();
        collection.LastEtag = etag;
        RemoveFromLogs(existing.Etag, collection.Id);
        if (forcesRevision || (isRevised && !Revisions.IsIdle))
            AddRevision(
                foldedId, existing.Id, etag, collection.Name, MetadataMember.Without(metadata, MetadataKeys.Flags),
                BodyOf(existing), PackedOf(existing), Kinds.Items.FlagsOf(foldedId), forcesRevision);
        int size = DocumentRecord.SizeOf(existing.Id.Length, metadata.Length, existing.StoredBody.Length);
        DocumentRecord.Write(
            _documents.Reserve(foldedId, size), etag, _now.Ticks, collection.Id, Kinds.Items.FlagsOf(foldedId), existing.Id,
            metadata, existing.StoredBody, existing.IsPacked);
        AddToLogs(etag, collection.Id, foldedId);
        Due.Move(foldedId, dueBefore, DueTimes.Of(metadata));
    }

    /// <summary>Lets this transaction use the reserve of pages: tombstones need space even on a full disk.</summary>
    public void UseReserve() => _transaction.UseReserve();

    /// <summary>Deletes a document; returns false if it does not exist.</summary>
    public bool Remove(ReadOnlySpan<byte> foldedId)
    {
        if (!_documents.TryGet(foldedId, out ReadOnlySpan<byte> value))
            return false;
        UseReserve();
        Remove(foldedId, new DocumentRecord(value));
        return true;
    }

    /// <summary>
    /// Creates a revision of a document's new state if the rule of its collection requires it; returns its flags, updated for
    /// revisions.
    /// </summary>
    private DocumentFlags AddRevision(
        ReadOnlySpan<byte> folded, ReadOnlySpan<byte> id, long etag, string collection, ReadOnlySpan<byte> metadata,
        ReadOnlySpan<byte> body, ReadOnlySpan<byte> packed, DocumentFlags flags, bool isForced,
        bool isNew = false)
    {
        if (!isForced && Revisions.RuleOf(collection) is null)
            return flags;
        Revisions.Add(
            folded, id, etag, collection, _now.Ticks, isDeletion: false, metadata, body, packed,
            flags.HasFlag(DocumentFlags.HasAttachments), OriginOf(isForced, isNew && !flags.HasFlag(DocumentFlags.HasRevisions)));
        return Kinds.Items.LastRevision(folded) is null
            ? flags & ~DocumentFlags.HasRevisions
            : flags | DocumentFlags.HasRevisions;
    }

    /// <summary>
    /// Creates a revision of a document's current state, before a put changes it; returns the etag that is left for the put.
    /// </summary>
    private long AddOldRevision(
        ReadOnlySpan<byte> folded, long etag, string collection, bool isForced, ref DocumentFlags flags)
    {
        _documents.TryGet(folded, out ReadOnlySpan<byte> value);
        byte[] copy = value.ToArray();
        var existing = new DocumentRecord(copy);
        flags |= DocumentFlags.HasRevisions;
        if (Kinds.TryGet(KindKey.OfRevision(folded, existing.Etag), out _))
            return etag;
        _lastEtag = etag;
        Revisions.Add(
            folded, existing.Id, etag, collection, existing.LastModifiedTicks, isDeletion: false,
            MetadataMember.Without(existing.Metadata, MetadataKeys.Flags), BodyOf(existing), PackedOf(existing),
            existing.Flags.HasFlag(DocumentFlags.HasAttachments), OriginOf(isForced));
        return _lastEtag + 1;
    }

    private RevisionOrigin OriginOf(bool isForced, bool isCreation = false) => new()
    {
        IsForced = isForced,
        IsCreation = isCreation,
        ForgottenTicks = isCreation ? _tombstones.ForgottenTicks : 0,
    };

    private WriteResult? Beside(KindCommand command)
    {
        KindResult result = command.Apply(this);
        return _wantsResults
            ? new WriteResult("", null, _changeVectors.Format(_lastEtag), _now, Deleted: false, _lastEtag) { Beside = result }
            : null;
    }

    private WriteResult? Patched(in WriteCommand command)
    {
        PatchCommand patch = command.Patch ?? throw new InvalidOperationException("A patch has what it does.");
        (WriteResult? written, PatchResult result) = new PatchWriter(this, patch).Apply(in command);
        if (!_wantsResults)
            return null;
        if (written is null && TryGet(command.FoldedId.Span, out DocumentRecord record))
            written = new WriteResult(
                command.Id, CollectionOf(record), _changeVectors.Format(record.Etag),
                new DateTime(record.LastModifiedTicks, DateTimeKind.Utc), Deleted: false, record.Etag);
        return (written ?? new WriteResult(command.Id, null, null, _now, Deleted: false, Etag: 0)) with { Patch = result };
    }

    /// <summary>Deletes one document; <see cref="Save"/> must be called afterwards.</summary>
    public WriteResult? Delete(in WriteCommand command)
    {
        long etag = _documents.TryGet(command.FoldedId.Span, out ReadOnlySpan<byte> value) ? new DocumentRecord(value).Etag : 0;
        Check(command.Id, command.ExpectedChangeVector, etag);
        if (etag == 0)
            return NoDeletion(command.Id);

        Remove(command.FoldedId.Span, new DocumentRecord(value));
        return Deletion(command.Id);
    }

    private WriteResult? DeleteByPrefix(in WriteCommand command)
    {
        bool any = false;
        while (NextWithPrefix(command.FoldedId.Span) is { } folded)
        {
            any = true;
            _documents.TryGet(folded, out ReadOnlySpan<byte> value);
            Remove(folded, new DocumentRecord(value));
        }

        return any ? Deletion(command.Id) : NoDeletion(command.Id);
    }

    private byte[]? NextWithPrefix(ReadOnlySpan<byte> foldedPrefix)
    {
        using Cursor cursor = _documents.OpenCursor();
        return cursor.Seek(foldedPrefix) && cursor.Key.StartsWith(foldedPrefix) ? cursor.Key.ToArray() : null;
    }

    /// <summary>
    /// Replaces a document by a tombstone. The record is in a page that changes here, so everything needed of it is read first.
    /// </summary>
    private void Remove(ReadOnlySpan<byte> folded, DocumentRecord record)
    {
        long oldEtag = record.Etag;
        byte[] id = record.Id.ToArray();
        (int contentBytes, DocumentFlags flags) = (record.ContentBytes, record.Flags);
        Due.Move(folded, DueTimes.Of(record.Metadata), default);
        CollectionChange collection = _collections.Get(record.CollectionId);
        collection.DocumentCount--;
        collection.SizeBytes -= contentBytes;
        if (flags != DocumentFlags.None)
            RemoveBeside(folded, flags);
        if (Kinds.Items.Count(Kind.CompareExchange) > 0)
            AtomicGuard.Delete(this, folded);
        long etag = ++_lastEtag;
        if (!Revisions.IsIdle)
            AddDeletion(folded, id, etag, collection.Name, flags);
        collection.LastEtag = etag;
        Debug.Assert(collection.DocumentCount >= 0 && collection.SizeBytes >= 0, "a collection never holds less than nothing");

        bool found = _documents.Delete(folded);
        Debug.Assert(found, "what is removed was there");
        RemoveFromLogs(oldEtag, collection.Id);
        _tombstones.Add(etag, collection.Id, folded, id, _now.Ticks);
    }

    /// <summary>
    /// Handles the deletion of a document with revisions: deletes them too, or adds the deletion as a revision.
    /// </summary>
    private void AddDeletion(ReadOnlySpan<byte> folded, ReadOnlySpan<byte> id, long etag, string collection, DocumentFlags flags)
    {
        RevisionsRule? rule = Revisions.RuleOf(collection);
        if (rule is { PurgeOnDelete: true })
            Revisions.Purge(folded);
        else if (rule is not null || flags.HasFlag(DocumentFlags.HasRevisions))
            Revisions.Add(
                folded, id, etag, collection, _now.Ticks, isDeletion: true, default, "{}"u8, default, hasAttachments: false,
                OriginOf(isForced: false));
    }

    /// <summary>Deletes a document's related data, with tombstones: the document may be stored again without it.</summary>
    private void RemoveBeside(ReadOnlySpan<byte> folded, DocumentFlags flags)
    {
        foreach (Kind kind in DocumentFlagsExtensions.KindsOfDocuments)
        {
            if (!flags.HasFlag(kind.Flag()))
                continue;
            byte[] prefix = KindKey.Prefix(kind, folded);
            var keys = new List<byte[]>();
            using (KindCursor cursor = Kinds.Items.Under(prefix))
                while (cursor.MoveNext())
                    keys.Add(cursor.Key.ToArray());
            foreach (byte[] key in keys)
                Kinds.Delete(key, NextEtag(), _now.Ticks);
        }
    }

    private void AddToLogs(long etag, int collectionId, ReadOnlySpan<byte> folded)
    {
        Span<byte> key = stackalloc byte[TreeNames.CollectionKeyBytes];
        TreeNames.WriteCollectionKey(key, collectionId, etag);
        bool isNew = _byCollection.Put(key, folded) & _byEtag.Put(key[^TreeNames.EtagKeyBytes..], folded);
        Debug.Assert(isNew, "an etag is given once");
    }

    private void RemoveFromLogs(long etag, int collectionId)
    {
        Span<byte> key = stackalloc byte[TreeNames.CollectionKeyBytes];
        TreeNames.WriteCollectionKey(key, collectionId, etag);
        bool found = _byCollection.Delete(key) & _byEtag.Delete(key[^TreeNames.EtagKeyBytes..]);
        Debug.Assert(found, "a document stands in both logs");
    }

    private WriteResult Required(in WriteCommand command)
    {
        bool exists = TryGet(command.FoldedId.Span, out DocumentRecord record);
        Check(command.Id, command.ExpectedChangeVector, exists ? record.Etag : 0);
        return new WriteResult(command.Id, null, exists ? _changeVectors.Format(record.Etag) : null, _now, false, 0);
    }

    private WriteResult Unchanged(in WriteCommand command)
    {
        if (!command.FoldedId.IsEmpty)
            return PrefixChange.After(command.ExpectedGuard, command.FoldedId.Span, _byEtag, _tombstones) is { } change
                ? throw LastChange.ConflictOfPrefix(command.Id, command.ExpectedGuard, change)
                : new WriteResult(command.Id, null, null, _now, false, 0);
        long actual = command.Collection is { } name ? _collections.LastEtagOf(name) : _lastEtag;
        return actual == command.ExpectedGuard
            ? new WriteResult(command.Id, null, null, _now, false, 0)
            : throw LastChange.Conflict(command.Collection?.Text, command.ExpectedGuard, actual);
    }

    /// <summary>Checks an expected change vector.</summary>
    /// <exception cref="ConcurrencyException">The change vector is another one.</exception>
    public void Check(string id, string? expected, long actualEtag)
    {
        if (expected is null || (expected.Length == 0 && actualEtag == 0))
            return;
        if (actualEtag != 0 && expected.Length > 0 && _changeVectors.Matches(expected, actualEtag))
            return;

        string? actual = actualEtag == 0 ? null : _changeVectors.Format(actualEtag);
        string message = (expected.Length == 0, actual) switch
        {
            (true, _) => $"Document '{id}' was expected not to exist, but it does, with change vector '{actual}'.",
            (false, null) => $"Document '{id}' was expected with change vector '{expected}', but it does not exist.",
            _ => $"Document '{id}' was expected with change vector '{expected}', but has '{actual}'.",
        };
        throw new ConcurrencyException(
            message + " Nothing of the batch was written. Load it again, and apply the change to what is there now.", id,
            expected, actual);
    }

    private void CheckCollection(string id, int existingCollection, CollectionChange collection)
    {
        if (existingCollection == collection.Id)
            return;
        throw new InvalidDocumentException(
            $"Document '{id}' is in collection '{_collections.Get(existingCollection).Name}' and cannot be put into "
            + $"'{collection.Name}'. Nothing of the batch was written. "
            + "Delete it first, in the same batch if you like, or keep its @collection.");
    }

    private WriteResult? Result(string id, string collection, long etag, DateTime lastModified) =>
        _wantsResults ? new WriteResult(id, collection, _changeVectors.Format(etag), lastModified, Deleted: false, etag) : null;

    private WriteResult? Deletion(string id) =>
        _wantsResults ? new WriteResult(id, null, _changeVectors.Format(_lastEtag), _now, Deleted: true, _lastEtag) : null;

    private WriteResult? NoDeletion(string id) =>
        _wantsResults ? new WriteResult(id, null, null, _now, Deleted: false, Etag: 0) : null;
}
