using System.Buffers.Binary;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using TreeNames = Treepie.Store.TreeNames;

namespace Treepie.Archiving;

/// <summary>
/// The log of a database, kept for whoever archives it. Tasks have their places in it durably, with their state; others
/// (<c>BackupOptions.LogReader</c>) until the database is closed. What the slowest of them has not archived is kept,
/// within the budget: the largest that was asked for. Beyond, the slowest finds a gap, and only he. Thread-safe.
/// </summary>
internal sealed class DatabaseLog(StorageEnvironment environment, string directory)
{
    private readonly Lock _lock = new();
    private readonly Dictionary<string, long> _places = new(StringComparer.Ordinal);
    private readonly List<long> _held = [];

    /// <summary>
    /// As it was kept before the database was closed: nothing is lost between its opening and the first backup. Before the first
    /// write.
    /// </summary>
    public void Resume()
    {
        if (Budget() is > 0 and var budget)
            environment.KeepLog(budget);
    }

    /// <summary>Sets what is kept whatever tasks want, durably.</summary>
    public async Task SetAsync(long budgetBytes, CancellationToken cancellationToken)
    {
        if (budgetBytes != 0)
            ArgumentOutOfRangeException.ThrowIfLessThan(budgetBytes, EnvironmentLog.MinBudgetBytes);
        await environment.WriteAsync(
            transaction =>
            {
                Tree meta = transaction.GetOrCreateTree(TreeNames.Meta);
                if (budgetBytes == 0)
                    meta.Delete(TreeNames.MetaLogBudget);
                else
                    BinaryPrimitives.WriteInt64LittleEndian(meta.Reserve(TreeNames.MetaLogBudget, sizeof(long)), budgetBytes);
                return true;
            },
            cancellationToken).ConfigureAwait(false);
        Apply();
    }

    /// <summary>Keeps as much as is wanted now.</summary>
    public void Apply() => environment.KeepLog(Budget(), keepsEarlier: false);

    /// <summary>What waits.</summary>
    public LogStatus Describe()
    {
        EnvironmentLogState state = environment.GetLogState();
        return new LogStatus(state.IsKept, state.BudgetBytes, state.WaitingBytes, state.FilesGivenUp);
    }

    /// <summary>Whether a log can go on from a commit.</summary>
    public bool HoldsAfter(long commit) => environment.HoldsLogAfter(commit);

    /// <summary>Somebody who is no task has archived everything up to a commit.</summary>
    public void Reached(string reader, long commit)
    {
        lock (_lock)
            _places[reader] = commit;
        Release();
    }

    /// <summary>He will go on from another backup.</summary>
    public void Forget(string reader)
    {
        lock (_lock)
            _places.Remove(reader);
    }

    /// <summary>
    /// Keeps what is committed from now on, whatever others have archived, until this is disposed: for a backup that is under
    /// way, from whose commit its log will go on.
    /// </summary>
    public IDisposable Hold()
    {
        long commit = environment.GetStatistics().LastTransactionId;
        lock (_lock)
            _held.Add(commit);
        return new Held(this, commit);
    }

    /// <summary>Lets go of what all have archived.</summary>
    public void Release()
    {
        var reached = LogNeed.OfTasks(environment, directory)
            .Where(static need => need.Reached is not null)
            .Select(static need => need.Reached ?? 0)
            .ToList();
        lock (_lock)
            reached.AddRange(_places.Values.Concat(_held));
        if (reached.Count > 0)
            environment.ReleaseLog(reached.Min());
    }

    private long Budget()
    {
        long wanted = LogNeed.OfTasks(environment, directory).Select(static need => need.BudgetBytes).DefaultIfEmpty(0).Max();
        using ReadTransaction read = environment.BeginRead();
        return read.FindTree(TreeNames.Meta) is { } meta
            && meta.TryGet(TreeNames.MetaLogBudget, out ReadOnlySpan<byte> value)
            && value.Length == sizeof(long)
            ? Math.Max(wanted, BinaryPrimitives.ReadInt64LittleEndian(value))
            : wanted;
    }

    private sealed class Held(DatabaseLog log, long commit) : IDisposable
    {
        private bool _isOver;

        public void Dispose()
        {
            lock (log._lock)
                if (!_isOver)
                    log._held.Remove(commit);
            _isOver = true;
        }
    }
}
