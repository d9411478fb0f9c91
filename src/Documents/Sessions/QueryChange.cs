using Treepie.Queries;
using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>
/// Changes the documents that match a query, in durable batches, based on the query's snapshot: documents added meanwhile are not
/// affected, and what was changed before an error stays changed.
/// </summary>
internal static class QueryChange
{
    /// <summary>The maximum number of documents in a batch.</summary>
    private const int MostBatchDocuments = 65_536;

    private static readonly OperationOptions _plain = new();

    /// <summary>
    /// Deletes the matching documents, except those changed in the meantime, and returns the number of deleted documents.
    /// </summary>
    public static Task<long> DeleteAsync(
        ISessionHost database, QueryRequest query, CancellationToken cancellationToken, OperationOptions? operation = null) =>
        RunAsync(database, query, (found, stop) => DeleteAsync(database, found, stop), operation ?? _plain, cancellationToken);

    /// <summary>
    /// Patches the matching documents in their then current state, except those deleted in the meantime, and returns the number
    /// of changed documents.
    /// </summary>
    public static Task<long> PatchAsync(
        ISessionHost database, QueryRequest query, Patch patch, PatchOptions options, CancellationToken cancellationToken,
        OperationOptions? operation = null) => RunAsync(
        database, query, async (found, stop) =>
        {
            using var batch = new WriteBatch(database.Options);
            foreach ((string id, _) in found)
                batch.Patch(id, patch, options with { CancellationToken = stop });
            return (await database.WriteAsync(batch, stop).ConfigureAwait(false))
                .Count(static result => result.Patch?.Status == PatchStatus.Patched);
        },
        operation ?? _plain, cancellationToken);

    private static async Task<long> RunAsync(
        ISessionHost database, QueryRequest query,
        Func<IReadOnlyList<(string Id, string ChangeVector)>, CancellationToken, Task<long>> change,
        OperationOptions operation, CancellationToken cancellationToken)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(operation.BatchDocuments, 1, nameof(operation));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(operation.BatchDocuments, MostBatchDocuments, nameof(operation));
        query = query with { CountsResults = operation.Progress is not null, NeverStale = true, ExaminesDocuments = false };
        using QueryResults results = await database.QueryAsync(query, cancellationToken).ConfigureAwait(false);
        if (results.IsProjection || results.IsComputed)
            throw new InvalidQueryException(
                "The query selects fields; what is to be changed are whole documents. Nothing was changed. Leave 'select' out.");
        long changed = 0, processed = 0;
        var found = new List<(string Id, string ChangeVector)>();
        while (results.MoveNext())
        {
            cancellationToken.ThrowIfCancellationRequested();
            found.Add((results.Current.IdText(), results.Current.ChangeVector));
            if (found.Count == operation.BatchDocuments)
                await ChangeAsync().ConfigureAwait(false);
        }

        if (found.Count > 0)
            await ChangeAsync().ConfigureAwait(false);
        return changed;

        async Task ChangeAsync()
        {
            changed += await change(found, cancellationToken).ConfigureAwait(false);
            processed += found.Count;
            found.Clear();
            operation.Progress?.Report(
                new QueryChangeProgress(processed, changed, results.IsTotalExact ? results.TotalResults : null));
        }
    }

    private static async Task<long> DeleteAsync(
        ISessionHost database, IReadOnlyList<(string Id, string ChangeVector)> found, CancellationToken cancellationToken)
    {
        try
        {
            using var batch = new WriteBatch(database.Options);
            foreach ((string id, string changeVector) in found)
                batch.Delete(id, changeVector);
            return (await database.WriteAsync(batch, cancellationToken).ConfigureAwait(false)).Count(result => result.Deleted);
        }
        catch (ConcurrencyException) when (found.Count > 1)
        {
            // One of them was changed: delete them individually, so that only that one remains.
            long deleted = 0;
            foreach ((string Id, string ChangeVector) one in found)
                deleted += await DeleteAsync(database, [one], cancellationToken).ConfigureAwait(false);
            return deleted;
        }
        catch (ConcurrencyException)
        {
            return 0; // changed or deleted meanwhile
        }
    }
}
