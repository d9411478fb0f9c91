using Treepie.Indexing.Catalogue;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Writing;

/// <summary>Keeps why entries are not in the index. An error stands as long as its key has had no other fate.</summary>
internal static class BatchErrors
{
    /// <summary>Takes away the errors of the keys of a batch, and adds its own.</summary>
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

    /// <summary>Adds the errors of a batch.</summary>
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
