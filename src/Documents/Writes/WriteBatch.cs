using Treepie.Json;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Writes;

/// <summary>
/// A batch of commands that are executed atomically. Not thread-safe; can be written once. Each document is validated and copied
/// when it is added: an invalid one throws immediately and leaves the batch unchanged.
/// </summary>
public sealed class WriteBatch : IDisposable
{
    private readonly List<WriteCommand> _commands = [];
    private readonly BatchBuffer _buffer = new();
    private readonly DocumentParser _parser;
    private CollectionName _lastCollection = EmptyCollection;
    private long _besideBytes;
    private bool _used;

    /// <summary>
    /// Creates a batch with the limits of <paramref name="options"/>; pass those of the database unless they are the defaults.
    /// </summary>
    public WriteBatch(DatabaseOptions? options = null)
    {
        Options = options ?? DefaultOptions;
        _buffer.IsSecret = Options.IsEncrypted;
        _parser = new DocumentParser(Options.MaxDocumentBytes, Options.MaxDocumentDepth);
    }

    /// <summary>The number of commands in the batch.</summary>
    public int Count => _commands.Count;

    /// <summary>The size of the batch in bytes: minified documents, their ids, and related data.</summary>
    public long SizeBytes => _buffer.LengthBytes + _besideBytes;

    /// <summary>The number of commands on documents themselves.</summary>
    internal int DocumentCount { get; private set; }

    /// <summary>
    /// Leaves a document and its change vector unchanged if it is stored again with the same content. Intended for repeated bulk
    /// imports.
    /// </summary>
    public bool SkipUnchanged { get; init; }

    /// <summary>Whether revisions of the following documents are provided separately, so that none are created.</summary>
    internal bool IsRevised { get; set; }

    /// <summary>Whether the batch is a dry run: it returns results as if it were written, but changes nothing.</summary>
    public bool IsTrial { get; init; }

    /// <summary>
    /// Makes the batch cluster-wide: it fails as a whole if a compare-exchange value has changed, and documents get atomic
    /// guards, so that it also fails if another cluster-wide batch has written them since their change vectors were read.
    /// </summary>
    public bool IsClusterWide { get; set; }

    /// <summary>Disables the atomic guards of a cluster-wide batch.</summary>
    public bool DisableAtomicGuards { get; set; }

    internal bool HasGuards => IsClusterWide && !DisableAtomicGuards;

    internal DatabaseOptions Options { get; }

    internal IReadOnlyList<WriteCommand> Commands => _commands;

    /// <summary>The limits needed by the largest, the deepest and the longest-named of its documents.</summary>
    internal (int DocumentBytes, int Depth, int IdBytes) Needs { get; private set; }

    private static DatabaseOptions DefaultOptions { get; } = new();

    private static CollectionName EmptyCollection { get; } = new(CollectionNames.Empty);

    /// <summary>
    /// Stores a document. <paramref name="json"/> is a UTF-8 JSON object, which may contain <c>@metadata</c>; it is copied.
    /// An id that ends in <c>/</c> is completed with a number by the server, one that ends in <c>|</c> with the next identity
    /// value; an empty or null id becomes a GUID. <paramref name="expectedChangeVector"/> is the change vector that the
    /// document must have; empty: it must not exist; null: not checked.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The id or the document is not valid or exceeds a limit; the batch is
    /// unchanged.</exception>
    public WriteBatch Put(string? id, ReadOnlyMemory<byte> json, string? expectedChangeVector = null) =>
        Put(id, json.Span, expectedChangeVector);

    /// <summary>Same as <see cref="Put(string?, ReadOnlyMemory{byte}, string?)"/>.</summary>
    public WriteBatch Put(string? id, ReadOnlySpan<byte> json, string? expectedChangeVector = null) =>
        Put(id, json, expectedChangeVector, originalChangeVector: null);

    /// <summary>
    /// Stores a document. In a cluster-wide batch, the original change vector, as it was read, determines which guard is
    /// expected. With <paramref name="forceRevision"/>, a revision of the previous state is created, regardless of the
    /// revisions configuration.
    /// </summary>
    public WriteBatch Put(
        string? id, ReadOnlySpan<byte> json, string? expectedChangeVector, string? originalChangeVector,
        bool forceRevision = false)
    {
        ObjectDisposedException.ThrowIf(_used, this);
        if (string.IsNullOrEmpty(id))
            id = Guid.NewGuid().ToString();

        IdKind idKind = id[^1] switch
        {
            '/' => IdKind.ServerSide,
            '|' => IdKind.Identity,
            _ => IdKind.Given,
        };
        (ReadOnlyMemory<byte> idUtf8, ReadOnlyMemory<byte> foldedId) = Encode(id);
        if (idKind != IdKind.Given && idUtf8.Length + IdMaker.MaxAddedBytes > Options.MaxIdBytes)
        {
            throw new InvalidDocumentException(
                $"The document id '{id.AsSpan(0, Math.Min(id.Length, 40))}…' is to be completed with up to "
                    + $"{IdMaker.MaxAddedBytes} bytes and would be longer than {Options.MaxIdBytes} (MaxIdBytes). Shorten it.");
        }

        Span<byte> room = _buffer.Room(Math.Min(json.Length, Options.MaxDocumentBytes));
        ParsedDocument parsed = _parser.Parse(id, json, room);
        DueTimes.Check(id, room.Slice(parsed.BodyLength, parsed.MetadataLength));
        CollectionName collection = CollectionOf(id);
        ReadOnlyMemory<byte> body = _buffer.Take(parsed.BodyLength);
        ReadOnlyMemory<byte> metadata = _buffer.Take(
            MetadataFlags.RemoveGiven(room.Slice(parsed.BodyLength, parsed.MetadataLength)));
        (int documentBytes, int depth, int idBytes) = Needs;
        Needs = (Math.Max(documentBytes, json.Length), Math.Max(depth, parsed.Depth), Math.Max(idBytes, idUtf8.Length));
        DocumentCount++;
        _commands.Add(new WriteCommand(
            WriteKind.Put, id, idKind, idUtf8, foldedId, metadata, body, collection, expectedChangeVector,
            ExpectedGuard: AtomicGuard.IndexIn(originalChangeVector), ForcesRevision: forceRevision, IsRevised: IsRevised));
        return this;
    }

    /// <summary>Deletes a document. It need not exist, unless a change vector is expected.</summary>
    /// <exception cref="InvalidDocumentException">The id is not valid.</exception>
    public WriteBatch Delete(string id, string? expectedChangeVector = null, string? originalChangeVector = null)
    {
        ArgumentNullException.ThrowIfNull(id);
        ObjectDisposedException.ThrowIf(_used, this);
        (ReadOnlyMemory<byte> idUtf8, ReadOnlyMemory<byte> foldedId) = Encode(id);
        _commands.Add(
            new WriteCommand(
                WriteKind.Delete, id, IdKind.Given, idUtf8, foldedId, default, default, null, expectedChangeVector,
                ExpectedGuard: originalChangeVector is null ? WriteCommand.AnyGuard : AtomicGuard.IndexIn(originalChangeVector)));
        return this;
    }

    /// <summary>
    /// Makes the batch fail unless a document has the specified change vector before the following commands are executed; empty:
    /// unless the document does not exist. The document is not written.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The id is not valid.</exception>
    public WriteBatch Require(string id, string changeVector)
    {
        ArgumentNullException.ThrowIfNull(id);
        ArgumentNullException.ThrowIfNull(changeVector);
        ObjectDisposedException.ThrowIf(_used, this);
        (ReadOnlyMemory<byte> idUtf8, ReadOnlyMemory<byte> foldedId) = Encode(id);
        _commands.Add(
            new WriteCommand(WriteKind.Require, id, IdKind.Given, idUtf8, foldedId, default, default, null, changeVector));
        return this;
    }

    /// <summary>
    /// Makes the batch fail unless the last change of a collection, or of the database, is the specified one before the following
    /// commands are executed.
    /// </summary>
    /// <param name="collection">The collection; null: the database.</param>
    /// <param name="lastEtag">The etag of the last change; 0 if there is none.</param>
    internal void RequireUnchanged(string? collection, long lastEtag)
    {
        ObjectDisposedException.ThrowIf(_used, this);
        CollectionName? name = collection is null ? null : new CollectionName(collection);
        _commands.Add(
            new WriteCommand(
                WriteKind.RequireUnchanged, "", IdKind.Given, default, default, default, default, name, null,
                ExpectedGuard: lastEtag));
    }

    /// <summary>
    /// Makes the batch fail if a document whose id starts with a prefix was written or deleted after an etag.
    /// </summary>
    /// <param name="prefix">The prefix, not empty.</param>
    /// <param name="lastEtag">The etag of the last change of the database that is known.</param>
    /// <exception cref="InvalidDocumentException">The prefix is not a valid start of an id.</exception>
    internal void RequireUnchangedPrefix(string prefix, long lastEtag)
    {
        ObjectDisposedException.ThrowIf(_used, this);
        (ReadOnlyMemory<byte> utf8, ReadOnlyMemory<byte> folded) = Encode(prefix);
        _commands.Add(
            new WriteCommand(
                WriteKind.RequireUnchanged, prefix, IdKind.Given, utf8, folded, default, default, null, null,
                ExpectedGuard: lastEtag));
    }

    /// <summary>
    /// Patches a document with a script, which runs in the transaction that writes the batch; see
    /// <see cref="Writes.Patch.Compile(string, DatabaseOptions)"/>.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The id is not valid.</exception>
    public WriteBatch Patch(string id, Patch patch, PatchOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(id);
        ArgumentNullException.ThrowIfNull(patch);
        ObjectDisposedException.ThrowIf(_used, this);
        (ReadOnlyMemory<byte> idUtf8, ReadOnlyMemory<byte> foldedId) = Encode(id);
        _commands.Add(new WriteCommand(
            WriteKind.Patch, id, IdKind.Given, idUtf8, foldedId, default, default, null, null,
            Patch: new PatchCommand(patch, options ?? new PatchOptions(), Options)));
        return this;
    }

    /// <summary>
    /// Deletes every document whose id starts with <paramref name="prefix"/>, which must not be empty, in one transaction,
    /// however many there are.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The prefix is not a valid start of an id.</exception>
    public WriteBatch DeleteByPrefix(string prefix)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        ObjectDisposedException.ThrowIf(_used, this);
        (ReadOnlyMemory<byte> prefixUtf8, ReadOnlyMemory<byte> foldedPrefix) = Encode(prefix);
        _commands.Add(
            new WriteCommand(
                WriteKind.DeleteByPrefix, prefix, IdKind.Given, prefixUtf8, foldedPrefix, default, default, null, null));
        return this;
    }

    /// <summary>
    /// Stores a compare-exchange value if its current index is <paramref name="expectedIndex"/> (0: if it does not exist).
    /// Otherwise, a cluster-wide batch fails as a whole; any other batch continues, and the result reports it.
    /// </summary>
    /// <param name="key">The key: 1 to 512 bytes of UTF-8, case-insensitive.</param>
    /// <param name="json">A JSON object with the value in the member <c>Object</c> and optional <c>@metadata</c>.</param>
    /// <param name="expectedIndex">The expected index of the value.</param>
    /// <exception cref="InvalidDocumentException">The key or value is not valid or exceeds a limit; the batch is
    /// unchanged.</exception>
    public WriteBatch PutCompareExchange(string key, ReadOnlySpan<byte> json, long expectedIndex)
    {
        byte[] utf8 = KindNames.Encode("a compare-exchange value", key);
        byte[] room = new byte[Math.Min(json.Length, Options.MaxDocumentBytes)];
        ParsedDocument parsed = _parser.Parse(key, json, room);
        ReadOnlySpan<byte> body = room.AsSpan(0, parsed.BodyLength);
        if (!body.StartsWith("{\"Object\":"u8))
            throw new InvalidDocumentException(
                $"The compare-exchange value '{key}' lacks 'Object' at its beginning. Nothing was changed. Send "
                    + $"{{\"Object\":…}}.");
        ReadOnlySpan<byte> metadata = room.AsSpan(parsed.BodyLength, parsed.MetadataLength);
        DueTimes.Check(key, metadata, "the compare-exchange value");
        return Beside(
            new CompareExchangeCommand(key, utf8, expectedIndex, CompareExchangeValue.Encode(body, metadata)));
    }

    /// <summary>
    /// Deletes a compare-exchange value if its current index is the expected one; see <see cref="PutCompareExchange"/>.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The key is not valid.</exception>
    public WriteBatch DeleteCompareExchange(string key, long expectedIndex) =>
        Beside(new CompareExchangeCommand(key, KindNames.Encode("a compare-exchange value", key), expectedIndex, value: null));

    /// <summary>
    /// Adds to a counter of a document; creates the counter if it does not exist. Increments of concurrent batches are all
    /// counted.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The id or name is not valid.</exception>
    public WriteBatch IncrementCounter(string id, string name, long delta = 1) =>
        Counters(id, [CounterOperation.Of(CounterOperationKind.Increment, name, delta)]);

    /// <summary>Deletes a counter of a document, which need not exist.</summary>
    /// <exception cref="InvalidDocumentException">The id or name is not valid.</exception>
    public WriteBatch DeleteCounter(string id, string name) =>
        Counters(id, [CounterOperation.Of(CounterOperationKind.Delete, name, 0)]);

    /// <summary>
    /// Executes operations on counters of one document, in order; the result is a <see cref="CountersResult"/>.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The id is not valid.</exception>
    public WriteBatch Counters(string id, IReadOnlyList<CounterOperation> operations)
    {
        ArgumentNullException.ThrowIfNull(id);
        ArgumentNullException.ThrowIfNull(operations);
        byte[] utf8 = DocumentId.Encode(id, Options.MaxIdBytes);
        foreach (CounterOperation operation in operations)
            _besideBytes += operation.Name.Length + utf8.Length + sizeof(long);
        return Beside(new CountersCommand(id, CollectionName.Fold(utf8), operations));
    }

    /// <summary>
    /// Stores an attachment of a document, replacing one of the same name. Dispose the upload after the batch has been written.
    /// </summary>
    /// <param name="id">The id of the document.</param>
    /// <param name="name">The name: 1 to 512 bytes of UTF-8, case-insensitive.</param>
    /// <param name="contentType">The content type; null for none.</param>
    /// <param name="upload">The content, which must be complete.</param>
    /// <param name="expectedChangeVector">The expected change vector of the attachment; same rules as for documents.</param>
    /// <exception cref="InvalidDocumentException">The id, name or content type is not valid.</exception>
    public WriteBatch PutAttachment(
        string id, string name, string? contentType, AttachmentUpload upload, string? expectedChangeVector = null)
    {
        ArgumentNullException.ThrowIfNull(upload);
        contentType ??= "";
        if (contentType.Length > KindNames.MaxBytes || contentType.AsSpan().ContainsAnyExceptInRange(' ', '~'))
            throw new InvalidDocumentException(
                $"The content type of the attachment '{name}' of document '{id}' is longer than {KindNames.MaxBytes} characters, "
                    + $"or has some that are not printable ASCII. Nothing was changed. Correct it.");
        _besideBytes += upload.Content.Only.Length;
        return Attachment(AttachmentOperation.Put, id, name, null, null, upload.Content, contentType, expectedChangeVector);
    }

    /// <summary>
    /// Deletes an attachment of a document. It need not exist, unless a change vector is expected.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The id or name is not valid.</exception>
    public WriteBatch DeleteAttachment(string id, string name, string? expectedChangeVector = null) =>
        Attachment(AttachmentOperation.Delete, id, name, null, null, null, "", expectedChangeVector);

    /// <summary>Copies an attachment to another name or document. Its content is stored only once.</summary>
    /// <exception cref="InvalidDocumentException">An id or name is not valid.</exception>
    public WriteBatch CopyAttachment(
        string id, string name, string destinationId, string destinationName, string? expectedChangeVector = null) =>
        Attachment(AttachmentOperation.Copy, id, name, destinationId, destinationName, null, "", expectedChangeVector);

    /// <summary>Same as <see cref="CopyAttachment"/>, and deletes the original.</summary>
    /// <exception cref="InvalidDocumentException">An id or name is not valid.</exception>
    public WriteBatch MoveAttachment(
        string id, string name, string destinationId, string destinationName, string? expectedChangeVector = null) =>
        Attachment(AttachmentOperation.Move, id, name, destinationId, destinationName, null, "", expectedChangeVector);

    private WriteBatch Attachment(
        AttachmentOperation operation, string id, string name, string? destinationId, string? destinationName,
        UploadedContent? content, string contentType, string? expectedChangeVector) => Beside(new AttachmentCommand(
            operation, AttachmentPlace.Of(id, name, Options.MaxIdBytes),
            destinationId is null ? null : AttachmentPlace.Of(destinationId, destinationName, Options.MaxIdBytes), content,
            contentType, expectedChangeVector));

    /// <summary>
    /// Deletes ranges of a time series of a document, both ends included, and then appends entries, which replace those at
    /// the same times. Creates the series if it does not exist. The result is a <see cref="TimeSeriesResult"/>.
    /// </summary>
    /// <param name="id">The id of the document.</param>
    /// <param name="name">The name: 1 to 512 bytes of UTF-8, case-insensitive. In an incremental time series, whose name starts
    /// with
    /// <c>INC:</c>, values are added to those at the same time instead of replacing them.</param>
    /// <param name="points">The entries, in any order; of several at the same time, the last one wins.</param>
    /// <param name="deletes">The time ranges to delete.</param>
    /// <exception cref="InvalidDocumentException">The id, the name, an entry or a range is not valid.</exception>
    public WriteBatch TimeSeries(
        string id, string name, IReadOnlyList<TimeSeriesPoint> points,
        IReadOnlyList<(DateTime From, DateTime To)>? deletes = null)
    {
        ArgumentNullException.ThrowIfNull(points);
        (byte[] folded, byte[] utf8) = SeriesOf(id, name);
        foreach (TimeSeriesPoint point in points)
            point.Check(id, name);
        foreach ((DateTime from, DateTime to) in deletes ?? [])
            RequireRange(id, name, from, to);
        bool isIncrement = name.StartsWith("INC:", StringComparison.OrdinalIgnoreCase);
        var sorted = new List<TimeSeriesPoint>(points.Count);
        IEnumerable<TimeSeriesPoint> ordered = points;
        if (!IsInOrder(points))
            ordered = points.OrderBy(static point => point.Timestamp); // stable
        foreach (TimeSeriesPoint point in ordered)
        {
            if (!isIncrement && sorted.Count > 0 && sorted[^1].Timestamp == point.Timestamp)
                sorted.RemoveAt(sorted.Count - 1);
            sorted.Add(point);
            _besideBytes += sizeof(long) * (1 + point.Values.Count);
        }

        return Beside(new TimeSeriesCommand(id, folded, utf8, sorted, isIncrement, deletes ?? []));
    }

    /// <summary>
    /// Copies the entries of a time series within a range, both ends included, to another series, of the same or of another
    /// document, where they replace those at the same times. The result is a <see cref="TimeSeriesResult"/>.
    /// </summary>
    /// <param name="id">The id of the document.</param>
    /// <param name="name">The name of the series. If there is none, nothing is copied.</param>
    /// <param name="destinationId">The id of the other document.</param>
    /// <param name="destinationName">The name of the other series, which is created if it does not exist.</param>
    /// <param name="from">The first time; null: from the start.</param>
    /// <param name="to">The last time; null: to the end.</param>
    /// <exception cref="InvalidDocumentException">An id, a name or the range is not valid.</exception>
    public WriteBatch CopyTimeSeries(
        string id, string name, string destinationId, string destinationName, DateTime? from = null, DateTime? to = null)
    {
        (byte[] folded, _) = SeriesOf(id, name);
        (byte[] destination, byte[] utf8) = SeriesOf(destinationId, destinationName);
        (DateTime begin, DateTime end) = (from ?? DateTime.MinValue, to ?? DateTime.MaxValue);
        RequireRange(id, name, begin, end);
        return Beside(new TimeSeriesCopyCommand((id, folded, name), (destinationId, destination, utf8), begin, end));
    }

    private (byte[] FoldedId, byte[] Name) SeriesOf(string id, string name)
    {
        byte[] folded = CollectionName.Fold(DocumentId.Encode(id, Options.MaxIdBytes)),
            utf8 = KindNames.Encode("a time series", name);
        return name.Contains('\0', StringComparison.Ordinal)
            ? throw new InvalidDocumentException(
                $"The name of a time series of document '{id}' holds a character of value 0. Nothing was changed. Remove it.")
            : (folded, utf8);
    }

    private static bool IsInOrder(IReadOnlyList<TimeSeriesPoint> points)
    {
        for (int i = 1; i < points.Count; i++)
            if (points[i].Timestamp < points[i - 1].Timestamp)
                return false;
        return true;
    }

    private static void RequireRange(string id, string name, DateTime from, DateTime to)
    {
        if (from > to)
            throw new InvalidDocumentException(
                $"The range from {from:O} to {to:O} of the time series '{name}' of document '{id}' ends before it begins. "
                    + $"Nothing was changed. Turn it round.");
    }

    /// <summary>
    /// Creates a revision of the current state of a document, regardless of the revisions configuration; the result is a
    /// <see cref="RevisionResult"/>.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The id is not valid.</exception>
    public WriteBatch ForceRevision(string id) =>
        Beside(new ForceRevisionCommand(id, CollectionName.Fold(DocumentId.Encode(id, Options.MaxIdBytes))));

    /// <summary>Deletes revisions by key.</summary>
    internal WriteBatch DeleteRevisions(byte[] foldedId, IReadOnlyList<byte[]> keys, int most) =>
        Beside(new DeleteRevisionsCommand(foldedId, keys, most));

    /// <summary>Keeps the contents of a revision's attachments until <see cref="RevertAttachments"/>.</summary>
    internal WriteBatch HoldContents(Revision revision) =>
        Beside(new HoldContentsCommand(revision.Id, revision.AttachmentList));

    /// <summary>Reverts the attachments of a document to those of a revision.</summary>
    internal WriteBatch RevertAttachments(byte[] foldedId, Revision revision) =>
        Beside(new RevertAttachmentsCommand(foldedId, revision.AttachmentList));

    /// <summary>Stores a setting of the database, or deletes it if null.</summary>
    internal WriteBatch Setting(string name, byte[]? json) => Beside(new SettingCommand(name, json));

    private WriteBatch Beside(KindCommand command)
    {
        ObjectDisposedException.ThrowIf(_used, this);
        _commands.Add(
            new WriteCommand(WriteKind.Beside, "", IdKind.Given, default, default, default, default, null, null, command));
        return this;
    }

    /// <summary>Returns the buffers of the batch to the pool. Not needed for a batch that has been written.</summary>
    public void Dispose()
    {
        _used = true;
        _commands.Clear();
        _buffer.Dispose();
    }

    /// <summary>Marks the batch as written, which is possible once, and checks it against the limits of the database.</summary>
    internal void BeginWrite(DatabaseOptions database)
    {
        ObjectDisposedException.ThrowIf(_used, this);
        if (!ReferenceEquals(database, Options))
            CheckLimits(database);
        _used = true;
        _buffer.IsSecret |= database.IsEncrypted;
    }

    /// <summary>Compresses the bodies of documents with the dictionaries of their collections, where there are any.</summary>
    internal void Pack(Func<CollectionName, BodyDictionary?> dictionaryOf)
    {
        CollectionName? last = null;
        BodyDictionary? dictionary = null;
        for (int i = 0; i < _commands.Count; i++)
        {
            WriteCommand command = _commands[i];
            if (command.Kind != WriteKind.Put)
                continue;
            if (!ReferenceEquals(command.Collection, last))
                dictionary = (last = command.Collection) is null ? null : dictionaryOf(last);
            if (dictionary is null)
                continue;
            int length = PackedBody.Pack(dictionary, command.Body.Span, _buffer.Room(command.Body.Length));
            if (length > 0)
                _commands[i] = command with { Packed = _buffer.Take(length) };
        }
    }

    /// <summary>Clears a written batch for reuse.</summary>
    internal void Reopen()
    {
        Dispose();
        _used = false;
        (_besideBytes, DocumentCount) = (0, 0);
        Needs = default;
    }

    private static InvalidDocumentException OverLimit(string what, long found, long limit, string option) => new(
        $"The batch holds {what} {found:N0}, the limit of this database is {limit:N0} ({option}). Make the batch with the "
            + $"database's options to be told which, and shorten it.");

    private void CheckLimits(DatabaseOptions database)
    {
        if (Needs.DocumentBytes > database.MaxDocumentBytes)
            throw OverLimit(
                "a document with bytes", Needs.DocumentBytes, database.MaxDocumentBytes, nameof(database.MaxDocumentBytes));
        if (Needs.Depth > database.MaxDocumentDepth)
            throw OverLimit("a document with nesting", Needs.Depth, database.MaxDocumentDepth, nameof(database.MaxDocumentDepth));
        if (Needs.IdBytes > database.MaxIdBytes)
            throw OverLimit("an id with bytes", Needs.IdBytes, database.MaxIdBytes, nameof(database.MaxIdBytes));
    }

    /// <summary>Encodes an id in UTF-8 and folded, in the buffer of the batch.</summary>
    private (ReadOnlyMemory<byte> Utf8, ReadOnlyMemory<byte> Folded) Encode(string id)
    {
        ReadOnlyMemory<byte> utf8 = _buffer.Take(DocumentId.Encode(id, Options.MaxIdBytes, _buffer.Room(DocumentId.MaxBytes)));
        int foldedLength = DocumentId.Fold(utf8.Span, _buffer.Room(DocumentId.MaxFoldedBytes));
        return (utf8, _buffer.Take(foldedLength));
    }

    private CollectionName CollectionOf(string id)
    {
        ReadOnlySpan<byte> name = _parser.Collection;
        if (name.IsEmpty)
            return EmptyCollection;
        if (!name.SequenceEqual(_lastCollection.Utf8)) // most documents of a batch are of one collection
            _lastCollection = CollectionName.From(name, id);
        return _lastCollection;
    }
}
