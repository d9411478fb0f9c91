using System.Diagnostics.CodeAnalysis;
using System.Linq.Expressions;
using Treepie.Linq;
using Treepie.Queries;
using Treepie.Sessions;
using Treepie.Writes;

namespace Treepie;

/// <summary>What is done with many objects at once, without a session that follows them.</summary>
public static class DatabaseObjects
{
    /// <summary>Most documents in one durable batch of a deletion.</summary>
    private const int DeletionBatch = 1024;

    /// <summary>Begins to store many objects in durable batches; to be disposed.</summary>
    /// <param name="database">Where.</param>
    /// <param name="session">How objects become documents: collections, ids and JSON are those of sessions with these
    /// options.</param>
    /// <param name="options">How documents are grouped.</param>
    public static ObjectInsert BulkInsert(this Database database, SessionOptions session, BulkInsertOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(database);
        ArgumentNullException.ThrowIfNull(session);
        return new ObjectInsert(database, session, options ?? new BulkInsertOptions());
    }

    /// <summary>
    /// As <see cref="BulkInsert(Database, SessionOptions, BulkInsertOptions?)"/>, objects written by reflection, or as the
    /// database's options say.
    /// </summary>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    public static ObjectInsert BulkInsertObjects(this Database database, BulkInsertOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(database);
        return database.BulkInsert(database.DefaultSession, options);
    }

    /// <summary>
    /// Deletes the documents of a type for which a condition holds, as it holds when this is called; gives how many. In durable
    /// batches, so that what was deleted before an error stays deleted. A document that is changed meanwhile stays.
    /// </summary>
    /// <exception cref="NotSupportedException">The condition has no RQL of the same meaning; nothing was deleted.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    public static Task<long> DeleteByQueryAsync<T>(
        this Database database, Expression<Func<T, bool>> where, CancellationToken cancellationToken = default)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(database);
        return database.DeleteByQueryAsync(where, database.DefaultSession, cancellationToken);
    }

    /// <summary>
    /// As <see cref="DeleteByQueryAsync{T}(Database, Expression{Func{T, bool}}, CancellationToken)"/>, with the options that the
    /// type's documents are read with.
    /// </summary>
    /// <exception cref="NotSupportedException">The condition has no RQL of the same meaning; nothing was deleted.</exception>
    public static async Task<long> DeleteByQueryAsync<T>(
        this Database database, Expression<Func<T, bool>> where, SessionOptions options,
        CancellationToken cancellationToken = default)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(database);
        ArgumentNullException.ThrowIfNull(where);
        using DocumentSession session = database.OpenSession(options);
        RqlStatement rql = session.Query<T>().Where(where).ToRql();
        var request = new QueryRequest { Text = rql.Text, Parameters = rql.Parameters, CountsResults = false, NeverStale = true };
        using QueryResults results = await database.QueryAsync(request, cancellationToken).ConfigureAwait(false);
        long deleted = 0;
        var found = new List<(string Id, string ChangeVector)>();
        while (results.MoveNext())
        {
            cancellationToken.ThrowIfCancellationRequested();
            found.Add((results.Current.IdText(), results.Current.ChangeVector));
            if (found.Count == DeletionBatch)
                deleted += await DeleteAsync(database, found, cancellationToken).ConfigureAwait(false);
        }

        return deleted + await DeleteAsync(database, found, cancellationToken).ConfigureAwait(false);
    }

    private static async Task<long> DeleteAsync(
        Database database, List<(string Id, string ChangeVector)> found, CancellationToken cancellationToken)
    {
        long deleted = 0;
        try
        {
            using var batch = new WriteBatch(database.Options);
            foreach ((string id, string changeVector) in found)
                batch.Delete(id, changeVector);
            deleted = (await database.WriteAsync(batch, cancellationToken).ConfigureAwait(false)).Count(result => result.Deleted);
        }
        catch (ConcurrencyException) when (found.Count > 1)
        {
            // One of them was changed: each for itself, so that only that one stays.
            foreach ((string Id, string ChangeVector) one in found.ToArray())
                deleted += await DeleteAsync(database, [one], cancellationToken).ConfigureAwait(false);
        }
        catch (ConcurrencyException)
        {
            // Changed or deleted meanwhile.
        }

        found.Clear();
        return deleted;
    }
}
