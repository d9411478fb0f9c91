using Treepie.Storage.Format;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Sessions;

/// <summary>
/// A transaction that thinks: it reads one snapshot, keeps its writes to itself, and commits only if nothing it read has been
/// changed by others meanwhile. It takes no lock, so it makes nobody wait and cannot deadlock; it may take as long as it likes
/// and go through any number of awaits. Committed sessions are serializable: there is an order in which they could have run one
/// after the other.
/// </summary>
/// <remarks>
/// From one thread at a time, any thread. It holds a snapshot until it ends, so dispose it. What it remembers is bounded by
/// <see cref="OptimisticSessionOptions"/>. The cost of a commit: one comparison for each key or stretch read, which ends at the
/// first page that is still the same; then its writes in key order. A long list of reads is compared outside the commit queue
/// first, so that inside only what came last is left to compare.
/// </remarks>
public sealed class OptimisticSession : IDisposable
{
    /// <summary>From this many reads on, or with any stretch, they are compared before the commit as well.</summary>
    private const int ManyReads = 64;

    private readonly ITransactionSource _environment;
    private readonly OptimisticSessionOptions _options;
    private readonly SessionArena _arena = new();
    private readonly SortedDictionary<string, SessionTree> _trees = new(StringComparer.Ordinal);
    private readonly List<SessionCursor> _cursors = [];
    private readonly List<Validated> _validated = [];
    private ReadTransaction _read;
    private long _readBytes;
    private long _writeBytes;

    internal OptimisticSession(ITransactionSource environment, OptimisticSessionOptions options)
    {
        _environment = environment;
        _options = options;
        _read = environment.BeginRead();
        SnapshotId = _read.TransactionId;
    }

    /// <summary>The transaction whose result the session reads.</summary>
    public long SnapshotId { get; }

    /// <summary>Bytes of memory used for remembering reads.</summary>
    public long ReadBytes => _readBytes;

    /// <summary>Bytes of memory used for writes.</summary>
    public long WriteBytes => _writeBytes;

    /// <summary>
    /// Called in the commit with the number of the transaction that the session became; what it throws undoes that.
    /// </summary>
    internal Action<long>? Applied { get; set; }

    internal bool IsEnded { get; private set; }

    /// <summary>The tree of that name; one that does not exist reads as empty. May be used until the session ends.</summary>
    /// <exception cref="ArgumentException">The name is empty or too long.</exception>
    /// <exception cref="ObjectDisposedException">The session has ended.</exception>
    public SessionTree GetTree(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ThrowIfEnded();
        if (_trees.TryGetValue(name, out SessionTree? tree))
            return tree;

        _ = Catalogue.KeyOf(name); // too long a name is refused here, not at commit
        tree = new SessionTree(this, _read.FindTreeOrEmpty(name), _arena);
        _trees.Add(name, tree);
        return tree;
    }

    /// <summary>
    /// Makes the writes durable, all or none, and ends the session, whatever comes of it. Returns the number of the transaction;
    /// for a session that wrote nothing that of its snapshot, at once and always: what it read was true then.
    /// </summary>
    /// <exception cref="SessionConflictException">Something it read was changed by another commit; nothing of it was
    /// kept.</exception>
    /// <exception cref="OperationCanceledException">Cancelled before it began; nothing was kept.</exception>
    /// <exception cref="DiskFullException">No room; nothing was kept.</exception>
    /// <exception cref="CommitOutcomeUnknownException">The journal failed; see there.</exception>
    /// <exception cref="ObjectDisposedException">The session has ended already.</exception>
    public long Commit(CancellationToken cancellationToken = default)
    {
        ThrowIfEnded();
        try
        {
            return Prepare(cancellationToken) ? _environment.Write(Run, cancellationToken) : SnapshotId;
        }
        finally
        {
            End();
        }
    }

    /// <summary>As <see cref="Commit"/>, without blocking while others' batches are being synced.</summary>
    public async ValueTask<long> CommitAsync(CancellationToken cancellationToken = default)
    {
        ThrowIfEnded();
        try
        {
            return Prepare(cancellationToken)
                ? await _environment.WriteAsync(Run, cancellationToken).ConfigureAwait(false)
                : SnapshotId;
        }
        finally
        {
            End();
        }
    }

    /// <summary>Ends the session; what was not committed is gone.</summary>
    public void Dispose() => End();

    internal void ThrowIfEnded() => ObjectDisposedException.ThrowIf(IsEnded, this);

    internal void Register(SessionCursor cursor) => _cursors.Add(cursor);

    internal void Unregister(SessionCursor cursor) => _cursors.Remove(cursor);

    internal void ChargeRead(int bytes)
    {
        if (_readBytes + bytes > _options.MaxReadBytes)
            throw new SessionLimitException(
                $"The session would have to remember more than {_options.MaxReadBytes} bytes of reads, which "
                    + $"OptimisticSessionOptions.MaxReadBytes allows. Read less in one session, read stretches by a cursor "
                    + $"instead of single keys, or raise it.");
        _readBytes += bytes;
    }

    internal void ChargeWrite(int bytes)
    {
        if (_writeBytes + bytes > _options.MaxWriteBytes)
            throw new SessionLimitException(
                $"The session would have more than {_options.MaxWriteBytes} bytes of writes, which "
                    + $"OptimisticSessionOptions.MaxWriteBytes allows. Write less in one session, or raise it.");
        _writeBytes += bytes;
    }

    /// <summary>Does what can be done before the commit; false if there is nothing to write.</summary>
    private bool Prepare(CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        foreach (SessionCursor cursor in _cursors)
            cursor.Note();
        if (_writeBytes == 0)
            return false;

        int reads = 0;
        bool hasRanges = false;
        foreach (SessionTree tree in _trees.Values)
        {
            reads += tree.Reads.Count;
            hasRanges |= tree.Reads.Ranges.Count > 0;
            if (tree.Reads.Count > 0)
                _validated.Add(new Validated(tree, tree.Reads.SortKeys(), tree.Snapshot.Record));
        }

        if (reads >= ManyReads || hasRanges)
            ValidateAhead();
        return true;
    }

    /// <summary>
    /// Compares with the newest published state and goes on from there: in the commit only what came after is left.
    /// </summary>
    private void ValidateAhead()
    {
        ReadTransaction newest = _environment.BeginRead();
        try
        {
            for (int i = 0; i < _validated.Count; i++)
            {
                Validated reads = _validated[i];
                TreeRecord record = newest.FindTreeOrEmpty(reads.Tree.Name).Record;
                ReadValidation.Run(
                    _environment.State.Store, reads.Tree.Name, reads.Record, record, reads.Keys, reads.Tree.Reads.Ranges);
                _validated[i] = reads with { Record = record };
            }
        }
        catch
        {
            newest.Dispose();
            throw;
        }

        // The trees keep reading the older snapshot, but nothing reads any more.
        _read.Dispose();
        _read = newest;
    }

    /// <summary>
    /// The command: validates in the state that the commits before it have left, then writes. Changes nothing of the session, so
    /// that it can run again.
    /// </summary>
    private long Run(WriteTransaction transaction)
    {
        foreach (Validated reads in _validated)
        {
            TreeRecord now = transaction.Batch.FindTree(reads.Tree.Name) ?? TreeRecord.Empty(0);
            ReadValidation.Run(_environment.State.Store, reads.Tree.Name, reads.Record, now, reads.Keys, reads.Tree.Reads.Ranges);
        }

        foreach (SessionTree tree in _trees.Values)
            Apply(transaction, tree);
        Applied?.Invoke(transaction.TransactionId);
        return transaction.TransactionId;
    }

    private static void Apply(WriteTransaction transaction, SessionTree tree)
    {
        WriteBuffer writes = tree.Writes;
        Trees.Tree? target = writes.Count == 0 ? null : transaction.FindTree(tree.Name);
        for (int entry = writes.Next(0); entry != 0; entry = writes.Next(entry))
        {
            if (writes.IsDelete(entry))
                target?.Delete(writes.Key(entry));
            else
                (target ??= transaction.GetOrCreateTree(tree.Name)).Put(writes.Key(entry), writes.Value(entry));
        }
    }

    private void End()
    {
        if (IsEnded)
            return;

        IsEnded = true;
        _read.Dispose();
    }

    /// <summary>A tree's reads, and the state of it they are known to be true in.</summary>
    private readonly record struct Validated(SessionTree Tree, ReadOnlyMemory<byte>[] Keys, TreeRecord Record);
}
