using System.Text;
using Treepie.Kinds;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Backups;

/// <summary>
/// Writes the contents of a dump to the storage of a database that is not in use yet, in steps: while one is committed, the
/// next is read. Memory use is two steps and a document.
/// </summary>
internal sealed class RestoreSink(StorageEnvironment environment) : IDumpSink, IAsyncDisposable
{
    private const int MaxStepDocuments = 4096;
    private const int MaxStepBytes = 4 * 1024 * 1024;
    private const int MaxStepPurged = 4096;

    private Step _step = new();
    private Step? _spare;
    private Task _commit = Task.CompletedTask;
    private DumpHeader? _header;
    private long _lastEtag;

    /// <summary>Whether the dump is applied on top of an earlier part of the chain.</summary>
    private bool IsIncrement => _header?.Since is not null;

    /// <summary>The indexes to create after all documents are restored.</summary>
    public List<DumpedIndex> Indexes { get; } = [];

    public ValueTask BeginAsync(DumpHeader? header, CancellationToken cancellationToken)
    {
        _header = header;
        return ValueTask.CompletedTask;
    }

    public async ValueTask<bool> DocumentAsync(DumpDocument document, long etag, long ticks, CancellationToken cancellationToken)
    {
        _step.Add(document, etag, ticks);
        _lastEtag = Math.Max(_lastEtag, etag);
        await CommitIfFullAsync(cancellationToken).ConfigureAwait(false);
        return true;
    }

    public async ValueTask<DumpItemFate> TombstoneAsync(DumpTombstone tombstone, CancellationToken cancellationToken)
    {
        _step.Tombstones.Add((tombstone, NameOf(tombstone.Collection)));
        _lastEtag = Math.Max(_lastEtag, tombstone.Etag);
        await CommitIfFullAsync(cancellationToken).ConfigureAwait(false);
        return DumpItemFate.Taken;
    }

    public ValueTask<DumpItemFate> IndexAsync(DumpedIndex index, CancellationToken cancellationToken)
    {
        Indexes.Add(index);
        return ValueTask.FromResult(DumpItemFate.Taken);
    }

    public async ValueTask<DumpItemFate> IdentityAsync(string name, long value, CancellationToken cancellationToken)
    {
        _step.Identities.Add((IdMaker.IdentityName(name, DocumentId.MaxBytes), value));
        await CommitIfFullAsync(cancellationToken).ConfigureAwait(false);
        return DumpItemFate.Taken;
    }

    public AttachmentUpload? BeginContent() => new(environment);

    public async ValueTask ContentAsync(AttachmentUpload content, CancellationToken cancellationToken) =>
        await content.SettleAsync(environment, cancellationToken).ConfigureAwait(false);

    public async ValueTask<DumpItemFate> BesideAsync(string section, RestoredKind item, CancellationToken cancellationToken)
    {
        _step.Add(item);
        _lastEtag = Math.Max(_lastEtag, item.Etag);
        await CommitIfFullAsync(cancellationToken).ConfigureAwait(false);
        return DumpItemFate.Taken;
    }

    public ValueTask EndSectionAsync(CancellationToken cancellationToken) => ValueTask.CompletedTask;

    public async ValueTask CollectionAsync(string name, long lastEtag, CancellationToken cancellationToken)
    {
        _step.Collections.Add((NameOf(name), lastEtag));
        await CommitIfFullAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Makes everything durable, and gives the database the id and last etag of the backup.</summary>
    public async Task CompleteAsync(CancellationToken cancellationToken)
    {
        await BeginCommitAsync(cancellationToken).ConfigureAwait(false);
        await _commit.ConfigureAwait(false);
        if (_header?.Since is { PurgedUpTo: > 0 and var upTo })
            await PurgeAsync(upTo, cancellationToken).ConfigureAwait(false);
        await AttachmentUpload.SweepAsync(environment, cancellationToken).ConfigureAwait(false);
        Guid id = _header?.DatabaseId ?? environment.StoreId;
        long lastEtag = _header?.LastEtag ?? _lastEtag;
        await environment.WriteAsync(
            transaction =>
            {
                foreach (string name in TreeNames.All)
                    transaction.GetOrCreateTree(name);
                new RestoreWriter(transaction).PutOrigin(
                    id, lastEtag, _header?.TakenAt.Ticks ?? DateTime.MaxValue.Ticks);
                return true;
            },
            cancellationToken).ConfigureAwait(false);
        environment.Checkpoint(cancellationToken);
    }

    /// <summary>Waits for a pending commit, even a failing one, because the storage must not be closed during it.</summary>
    public async ValueTask DisposeAsync()
    {
        await _commit.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _step.Dispose();
    }

    private async Task PurgeAsync(long upToEtag, CancellationToken cancellationToken)
    {
        int purged = MaxStepPurged;
        while (purged == MaxStepPurged)
            purged = await environment.WriteAsync(
                transaction => new RestoreWriter(transaction).Purge(upToEtag, MaxStepPurged),
                cancellationToken).ConfigureAwait(false);
    }

    private static CollectionName NameOf(string collection) => CollectionName.From(Encoding.UTF8.GetBytes(collection), "");

    private ValueTask CommitIfFullAsync(CancellationToken cancellationToken) =>
        _step.Count >= MaxStepDocuments || _step.LengthBytes >= MaxStepBytes
            ? new ValueTask(BeginCommitAsync(cancellationToken))
            : ValueTask.CompletedTask;

    private async Task BeginCommitAsync(CancellationToken cancellationToken)
    {
        await _commit.WaitAsync(cancellationToken).ConfigureAwait(false);
        Step step = _step;
        bool isIncrement = IsIncrement;
        _step = _spare ?? new Step();
        _spare = null;
        // a step passed to the committer is always written
        _commit = Task.Run(() => CommitAsync(step, isIncrement), CancellationToken.None);
    }

    private async Task CommitAsync(Step step, bool isIncrement)
    {
        await environment.WriteAsync(transaction => step.Apply(transaction, isIncrement), CancellationToken.None)
            .ConfigureAwait(false);
        step.Dispose();
        _spare = step;
    }

    /// <summary>The changes committed in one transaction.</summary>
    private sealed class Step : IDisposable
    {
        private readonly List<RestoredDocument> _documents = [];
        private readonly List<RestoredKind> _beside = [];
        private readonly BatchBuffer _buffer = new();
        private long _besideBytes;

        public List<(DumpTombstone Tombstone, CollectionName Collection)> Tombstones { get; } = [];

        public List<(string Name, long Value)> Identities { get; } = [];

        public List<(CollectionName Name, long LastEtag)> Collections { get; } = [];

        public int Count => _documents.Count + Tombstones.Count + Identities.Count + Collections.Count + _beside.Count;

        public long LengthBytes => _buffer.LengthBytes + _besideBytes;

        public void Add(RestoredKind item)
        {
            _beside.Add(item);
            _besideBytes += item.Value.Length;
        }

        public void Add(DumpDocument document, long etag, long ticks)
        {
            ReadOnlyMemory<byte> id = Copy(document.IdUtf8);
            int foldedLength = DocumentId.Fold(id.Span, _buffer.Room(DocumentId.MaxFoldedBytes));
            ReadOnlyMemory<byte> folded = _buffer.Take(foldedLength);
            _documents.Add(
                new RestoredDocument(id, folded, document.Collection, Copy(document.Metadata), Copy(document.Body), etag, ticks));
        }

        public bool Apply(WriteTransaction transaction, bool isIncrement)
        {
            var writer = new RestoreWriter(transaction);
            if (isIncrement)
                ApplyChanges(writer);
            else
                ApplyAll(writer);
            foreach (RestoredKind item in _beside)
                writer.Put(item);
            foreach ((CollectionName name, long lastEtag) in Collections)
                writer.Put(name, lastEtag);
            foreach ((string name, long value) in Identities)
                writer.PutIdentity(name, value);
            writer.Save();
            return true;
        }

        private void ApplyAll(RestoreWriter writer)
        {
            foreach (RestoredDocument document in _documents)
                if (!writer.TryPut(document))
                    throw new BackupException(
                        BackupFault.Damaged,
                        $"The backup holds the document '{Encoding.UTF8.GetString(document.Id.Span)}' twice (ids are equal "
                            + $"without case). Take another copy.");
            foreach ((DumpTombstone tombstone, CollectionName collection) in Tombstones)
                writer.Put(tombstone.Id, collection, tombstone.Etag, tombstone.Ticks, tombstone.IsSuperseded);
        }

        private void ApplyChanges(RestoreWriter writer)
        {
            foreach (RestoredDocument document in _documents)
                writer.Replace(document);
            foreach ((DumpTombstone tombstone, CollectionName collection) in Tombstones)
                writer.Delete(tombstone.Id, collection, tombstone.Etag, tombstone.Ticks, tombstone.IsSuperseded);
        }

        /// <summary>Clears the step for reuse.</summary>
        public void Dispose()
        {
            _documents.Clear();
            _buffer.Dispose();
            Tombstones.Clear();
            Identities.Clear();
            Collections.Clear();
            _beside.Clear();
            _besideBytes = 0;
        }

        private ReadOnlyMemory<byte> Copy(ReadOnlySpan<byte> bytes)
        {
            bytes.CopyTo(_buffer.Room(bytes.Length));
            return _buffer.Take(bytes.Length);
        }
    }
}
