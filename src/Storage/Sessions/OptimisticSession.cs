using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Sessions;

/// <summary>
/// An optimistic transaction: it reads one snapshot, buffers its writes, and commits only if nothing that it has read was changed
/// by others in the meantime. It takes no locks, so it never blocks others and cannot deadlock; it can take any time and span any
/// number of awaits. Committed sessions are serializable.
/// </summary>
/// <remarks>
/// Not thread-safe, but may move between threads. It holds a snapshot until it ends, so it must be disposed. Its memory is
/// bounded by <see cref="OptimisticSessionOptions"/>. The cost of a commit: one comparison for each key or range read, which ends
/// at the first unchanged page; then its writes in key order. A long list of reads is first validated outside the commit queue,
/// so that only recent changes remain to be validated inside.
/// </remarks>
public sealed class OptimisticSession : IDisposable
{
    /// <summary>With this many reads, or any range, reads are also validated before the commit.</summary>
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

    /// <summary>The id of the transaction whose result the session reads.</summary>
    public long SnapshotId { get; }

    /// <summary>The memory in bytes used for tracking reads.</summary>
    public long ReadBytes => _readBytes;

    /// <summary>The memory in bytes used for writes.</summary>
    public long WriteBytes => _writeBytes;

    /// <summary>Called in the commit with the id of the session's transaction; an exception undoes the commit.</summary>
    internal Action<long>? Applied { get; set; }

    internal bool IsEnded { get; private set; }

    /// <summary>Returns a tree; one that does not exist reads as empty. Valid until the session ends.</summary>
    /// <exception cref="ArgumentException">The name is empty or too long.</exception>
    /// <exception cref="ObjectDisposedException">The session has ended.</exception>
    public SessionTree GetTree(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ThrowIfEnded();
        if (_trees.TryGetValue(name, out SessionTree? tree))
            return tree;

        _ = Catalogue.KeyOf(name); // rejects a name that is too long here rather than at commit
        tree = new SessionTree(this, _read.FindTreeOrEmpty(name), _arena);
        _trees.Add(name, tree);
        return tree;
    }

    /// <summary>
    /// Commits the writes atomically and durably, and ends the session in any case. Returns the id of the transaction; a session
    /// without writes returns that of its snapshot, immediately and without conflicts, since what it read was true then.
    /// </summary>
    /// <exception cref="SessionConflictException">Something that the session has read was changed by another commit; nothing was
    /// kept.</exception>
    /// <exception cref="OperationCanceledException">The commit was cancelled before it started; nothing was kept.</exception>
    /// <exception cref="DiskFullException">The disk is full; nothing was kept.</exception>
    /// <exception cref="CommitOutcomeUnknownException">The journal could not be written; it is unknown whether the writes are
    /// kept.</exception>
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

    /// <summary>Same as <see cref="Commit"/>, without blocking while batches are being synced.</summary>
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

    /// <summary>Ends the session and discards what was not committed.</summary>
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
        Debug.Assert(_readBytes >= 0, "bytes of reads are given back once");
    }

    internal void ChargeWrite(int bytes)
    {
        Debug.Assert(bytes >= 0, "bytes of writes are not given back");
        if (_writeBytes + bytes > _options.MaxWriteBytes)
            throw new SessionLimitException(
                $"The session would have more than {_options.MaxWriteBytes} bytes of writes, which "
                    + $"OptimisticSessionOptions.MaxWriteBytes allows. Write less in one session, or raise it.");
        _writeBytes += bytes;
    }

    /// <summary>Prepares the commit outside the commit queue; returns false if there is nothing to write.</summary>
    private bool Prepare(CancellationToken cancellationToken)
    {
        Debug.Assert(!IsEnded && _validated.Count == 0, "a session commits once");
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
    /// Validates the reads against the newest published state, so that only later changes remain to be validated in the
    /// commit.
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

        // The trees still refer to the older snapshot, but nothing is read through them any more.
        _read.Dispose();
        _read = newest;
    }

    /// <summary>
    /// The write command: validates the reads in the state left by the previous commits, then writes. Does not change the
    /// session, so that it can run again.
    /// </summary>
    private long Run(WriteTransaction transaction)
    {
        Debug.Assert(transaction.TransactionId > SnapshotId, "a session commits after the snapshot it has read");
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

    /// <summary>The reads of a tree, and the state of the tree in which they are known to be valid.</summary>
    private readonly record struct Validated(SessionTree Tree, ReadOnlyMemory<byte>[] Keys, TreeRecord Record);
}
