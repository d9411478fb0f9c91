using Treepie.Indexing.Catalogue;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Writing;

/// <summary>
/// Stores why entries are missing from the index. An error remains until its key is indexed, removed or fails again.
/// </summary>
internal static class BatchErrors
{
    /// <summary>Removes the errors of all keys of a batch and stores the batch's own errors.</summary>
    public static void Apply(WriteTransaction transaction, IndexBatch batch)
    {
        if (batch.Errors.Count == 0 && transaction.FindTree(TreeNames.Errors) is null or { Count: 0 })
            return;

        Tree errors = transaction.GetOrCreateTree(TreeNames.Errors);
        foreach (int ordinal in batch.Keys.SortedOrdinals())
            if (!batch.Errors.ContainsKey(ordinal))
                errors.Delete(batch.Keys[ordinal]);
        Add(transaction, batch);
    }

    /// <summary>Stores the errors of a batch.</summary>
    public static void Add(WriteTransaction transaction, IndexBatch batch)
    {
        if (batch.Errors.Count == 0)
            return;

        Tree errors = transaction.GetOrCreateTree(TreeNames.Errors);
        foreach (int ordinal in batch.Keys.SortedOrdinals())
            if (batch.Errors.TryGetValue(ordinal, out EntryError? error))
                errors.Put(batch.Keys[ordinal], ErrorRecord.Write(error));
        ErrorRecord.Trim(errors);
    }
}
