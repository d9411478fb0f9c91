using System.Buffers.Binary;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using TreeNames = Treepie.Store.TreeNames;

namespace Treepie.Backups;

/// <summary>Whether a database keeps its log is a setting of its own, which lies in it: so nothing is lost between its opening and the first backup.</summary>
internal static class LogKeeping
{
    /// <summary>As it was set before the database was closed. Before the first write.</summary>
    public static void Resume(StorageEnvironment environment)
    {
        using ReadTransaction read = environment.BeginRead();
        if (read.FindTree(TreeNames.Meta) is { } meta && meta.TryGet(TreeNames.MetaLogBudget, out ReadOnlySpan<byte> value) && value.Length == sizeof(long))
            environment.KeepLog(BinaryPrimitives.ReadInt64LittleEndian(value));
    }

    /// <summary>Sets it, durably.</summary>
    public static async Task SetAsync(StorageEnvironment environment, long budgetBytes, CancellationToken cancellationToken)
    {
        environment.KeepLog(budgetBytes, keepsEarlier: false);
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
    }

    public static LogStatus StatusOf(StorageEnvironment environment)
    {
        EnvironmentLogState state = environment.GetLogState();
        return new LogStatus(state.IsKept, state.BudgetBytes, state.WaitingBytes, state.FilesGivenUp);
    }
}
