using System.Buffers.Binary;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using TreeNames = Treepie.Store.TreeNames;

namespace Treepie.Archiving;

/// <summary>
/// Keeps the log of a database for its readers. Backup tasks store their positions durably with their state; positions of
/// other readers (<c>BackupOptions.LogReader</c>) last until the database is closed. Everything that the slowest reader has
/// not archived is kept, within the largest budget requested. Beyond the budget, only readers that are too slow get a gap.
/// Thread-safe.
/// </summary>
internal sealed class DatabaseLog(StorageEnvironment environment, string directory)
{
    private readonly Lock _lock = new();
    private readonly Dictionary<string, long> _places = new(StringComparer.Ordinal);
    private readonly List<long> _held = [];

    /// <summary>
    /// Keeps the log as before the database was closed, so that nothing is lost between opening it and the first backup.
    /// Must be called before the first write.
    /// </summary>
    public void Resume()
    {
        if (Budget() is > 0 and var budget)
            environment.KeepLog(budget);
    }

    /// <summary>Durably sets the minimum budget, whatever tasks request. 0 removes it.</summary>
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

    /// <summary>Applies the budget that is currently requested.</summary>
    public void Apply() => environment.KeepLog(Budget(), keepsEarlier: false);

    /// <summary>Returns the state of the log.</summary>
    public LogStatus Describe()
    {
        EnvironmentLogState state = environment.GetLogState();
        return new LogStatus(state.IsKept, state.BudgetBytes, state.WaitingBytes, state.FilesGivenUp);
    }

    /// <summary>Whether a log backup can continue from a commit.</summary>
    public bool HoldsAfter(long commit) => environment.HoldsLogAfter(commit);

    /// <summary>Records that a reader that is not a task has archived everything up to a commit.</summary>
    public void Reached(string reader, long commit)
    {
        lock (_lock)
            _places[reader] = commit;
        Release();
    }

    /// <summary>Forgets the position of a reader, which will continue from another backup.</summary>
    public void Forget(string reader)
    {
        lock (_lock)
            _places.Remove(reader);
    }

    /// <summary>
    /// Keeps everything committed from now on until the result is disposed, whatever readers have archived. Used while a
    /// backup runs from whose commit the log will continue.
    /// </summary>
    public IDisposable Hold()
    {
        long commit = environment.GetStatistics().LastTransactionId;
        lock (_lock)
            _held.Add(commit);
        return new Held(this, commit);
    }

    /// <summary>Releases the part of the log that all readers have archived.</summary>
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
