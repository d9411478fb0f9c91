using System.Diagnostics.CodeAnalysis;
using System.Linq.Expressions;
using System.Runtime.CompilerServices;
using System.Text.Json;
using Treepie.Linq;
using Treepie.Queries;
using Treepie.Sessions;
using Treepie.Writes;

namespace Treepie;

/// <summary>Bulk operations on entities, without a session that tracks them.</summary>
public static class DatabaseObjects
{
    /// <summary>Starts a bulk insert of entities, which stores them in durable batches. Must be disposed.</summary>
    /// <param name="database">The database.</param>
    /// <param name="session">Determines collections, ids and JSON, as in sessions with these options.</param>
    /// <param name="options">The options of the bulk insert.</param>
    public static ObjectInsert BulkInsert(this Database database, SessionOptions session, BulkInsertOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(database);
        ArgumentNullException.ThrowIfNull(session);
        return new ObjectInsert(database, session, options ?? new BulkInsertOptions());
    }

    /// <summary>
    /// Same as <see cref="BulkInsert(Database, SessionOptions, BulkInsertOptions?)"/>, with the database's default serialization,
    /// or by reflection if it has none.
    /// </summary>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    public static ObjectInsert BulkInsertObjects(this Database database, BulkInsertOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(database);
        return database.BulkInsert(database.DefaultSession, options);
    }

    /// <summary>
    /// Deletes the documents of a type that match a condition at the time of the call, and returns their number. Works in durable
    /// batches: what was deleted before an error stays deleted. A document that changes in the meantime is not deleted.
    /// </summary>
    /// <exception cref="NotSupportedException">The condition has no equivalent in RQL; nothing was deleted.</exception>
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
    /// Same as <see cref="DeleteByQueryAsync{T}(Database, Expression{Func{T, bool}}, CancellationToken)"/>, with the session
    /// options of the type's documents.
    /// </summary>
    /// <exception cref="NotSupportedException">The condition has no equivalent in RQL; nothing was deleted.</exception>
    public static async Task<long> DeleteByQueryAsync<T>(
        this Database database, Expression<Func<T, bool>> where, SessionOptions options,
        CancellationToken cancellationToken = default)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(database);
        ArgumentNullException.ThrowIfNull(where);
        return await QueryChange.DeleteAsync(database, Query(database, where, options), cancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// Deletes the documents that match a query; otherwise the same as
    /// <see cref="DeleteByQueryAsync{T}(Database, Expression{Func{T, bool}}, CancellationToken)"/>.
    /// </summary>
    /// <param name="database">The database.</param>
    /// <param name="rql">An RQL query that returns whole documents: <c>from Orders where Freight > 10</c>.</param>
    /// <param name="cancellationToken">Cancels the operation between two batches.</param>
    /// <exception cref="InvalidQueryException">The query is not valid; nothing was deleted.</exception>
    public static Task<long> DeleteByQueryAsync(
        this Database database, string rql, CancellationToken cancellationToken = default) =>
        database.DeleteByQueryAsync(rql, default(JsonElement), cancellationToken);

    /// <summary>Deletes the documents that match a query with parameters.</summary>
    /// <param name="database">The database.</param>
    /// <param name="rql">An RQL query that returns whole documents: <c>from Orders where Freight > $least</c>.</param>
    /// <param name="parameters">A JSON object of values by name, without <c>$</c>; undefined: none. It must stay valid
    /// until the operation completes.</param>
    /// <param name="cancellationToken">Cancels the operation between two batches.</param>
    /// <exception cref="InvalidQueryException">The query is not valid; nothing was deleted.</exception>
    public static Task<long> DeleteByQueryAsync(
        this Database database, string rql, JsonElement parameters, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(database);
        return QueryChange.DeleteAsync(database, Query(rql, parameters), cancellationToken);
    }

    /// <summary>Deletes the documents that match a query with parameters.</summary>
    /// <param name="database">The database.</param>
    /// <param name="rql">An RQL query that returns whole documents: <c>from Orders where Freight > $least</c>.</param>
    /// <param name="parameters">Values by name: strings, numbers, Booleans, dates, GUIDs, JSON, sequences of them, and types that
    /// <see cref="DatabaseOptions.Json"/> has metadata for.</param>
    /// <param name="cancellationToken">Cancels the operation between two batches.</param>
    /// <exception cref="InvalidQueryException">The query is not valid; nothing was deleted.</exception>
    /// <exception cref="NotSupportedException">A parameter has another type; nothing was deleted.</exception>
    public static Task<long> DeleteByQueryAsync(
        this Database database, string rql, IReadOnlyDictionary<string, object?>? parameters,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(database);
        return database.DeleteByQueryAsync(
            rql, QueryParameterJson.WithoutReflection(parameters, database.Options.Json), cancellationToken);
    }

    /// <summary>Deletes the documents that match a query with parameters.</summary>
    /// <param name="database">The database.</param>
    /// <param name="rql">An RQL query that returns whole documents: <c>from Orders where Freight > $least</c>.</param>
    /// <param name="parameters">As of
    /// <see cref="DocumentSession.QueryAsync{T}(string, object, bool, CancellationToken)"/>.</param>
    /// <param name="cancellationToken">Cancels the operation between two batches.</param>
    /// <exception cref="InvalidQueryException">The query is not valid; nothing was deleted.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    public static Task<long> DeleteByQueryAsync(
        this Database database, string rql, object? parameters, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(database);
        return database.DeleteByQueryAsync(rql, Reflected(database, parameters), cancellationToken);
    }

    /// <summary>
    /// Deletes the documents that match a query, given as an interpolated string whose holes are parameters and never part of the
    /// text: <c>$"from Orders where City = {city}"</c>.
    /// </summary>
    /// <exception cref="ArgumentException">A hole is inside quotes; nothing was deleted.</exception>
    /// <exception cref="InvalidQueryException">The query is not valid; nothing was deleted.</exception>
    /// <exception cref="NotSupportedException">A hole has a type that <see cref="DatabaseOptions.Json"/> has no metadata for;
    /// nothing was deleted.</exception>
    [OverloadResolutionPriority(2)]
    public static Task<long> DeleteByQueryAsync(
        this Database database, RqlInterpolatedStringHandler rql, CancellationToken cancellationToken = default) =>
        database.DeleteByQueryAsync(rql.Rql.Text, rql.Rql.NamedValues(), cancellationToken);

    /// <summary>Same, with further parameters, as of the overload for text.</summary>
    /// <exception cref="ArgumentException">A hole is inside quotes, or a parameter has the name of one; nothing was
    /// deleted.</exception>
    /// <exception cref="InvalidQueryException">The query is not valid; nothing was deleted.</exception>
    [OverloadResolutionPriority(1)]
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    public static Task<long> DeleteByQueryAsync(
        this Database database, RqlInterpolatedStringHandler rql, object? parameters,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(database);
        return database.DeleteByQueryAsync(
            rql.Rql.Text, QueryParameterJson.With(rql.Rql, parameters, database.DefaultSession.Json), cancellationToken);
    }

    /// <summary>
    /// Patches the documents of a type that match a condition at the time of the call, and returns the number of changed
    /// documents. Works in durable batches: what was changed before an error stays changed. Each document is patched in its then
    /// current state, so that no concurrent write is lost.
    /// </summary>
    /// <exception cref="NotSupportedException">The condition has no equivalent in RQL, or an expression does not select a member;
    /// nothing was changed.</exception>
    /// <exception cref="ScriptException">A member of a document cannot be changed in this way; nothing of its batch was
    /// changed.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    public static Task<long> PatchByQueryAsync<T>(
        this Database database, Expression<Func<T, bool>> where, Action<DocumentPatch<T>> change,
        CancellationToken cancellationToken = default)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(database);
        return database.PatchByQueryAsync(where, change, database.DefaultSession, cancellationToken);
    }

    /// <summary>
    /// Same as
    /// <see cref="PatchByQueryAsync{T}(Database, Expression{Func{T, bool}}, Action{DocumentPatch{T}}, CancellationToken)"/>, with
    /// the session options of the type's documents.
    /// </summary>
    /// <exception cref="NotSupportedException">The condition has no equivalent in RQL, or an expression does not select a member;
    /// nothing was changed.</exception>
    /// <exception cref="ScriptException">A member of a document cannot be changed in this way; nothing of its batch was
    /// changed.</exception>
    public static async Task<long> PatchByQueryAsync<T>(
        this Database database, Expression<Func<T, bool>> where, Action<DocumentPatch<T>> change, SessionOptions options,
        CancellationToken cancellationToken = default)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(database);
        ArgumentNullException.ThrowIfNull(where);
        ArgumentNullException.ThrowIfNull(change);
        using DocumentSession session = database.OpenSession(options);
        var patch = new DocumentPatch<T>(session.Queries);
        change(patch);
        return patch.Edits.Count == 0
            ? 0
            : await QueryChange.PatchAsync(
                database, Query(database, where, options), Patch.Of(patch.Edits), new PatchOptions(), cancellationToken)
                .ConfigureAwait(false);
    }

    /// <summary>
    /// Patches the documents that match a query with a script, and returns the number of changed documents. Otherwise the same as
    /// <see cref="PatchByQueryAsync{T}(Database, Expression{Func{T, bool}}, Action{DocumentPatch{T}}, CancellationToken)"/>.
    /// </summary>
    /// <param name="database">The database, with an engine that compiles scripts:
    /// <see cref="DatabaseOptions.Computing"/>.</param>
    /// <param name="rql">An RQL query that ends in <c>update { … }</c>.</param>
    /// <param name="cancellationToken">Cancels the operation between two batches.</param>
    /// <exception cref="InvalidQueryException">The query is not valid or has no <c>update</c> clause; nothing was
    /// changed.</exception>
    /// <exception cref="ScriptException">The script is not valid or failed; nothing of its batch was changed.</exception>
    public static Task<long> PatchByQueryAsync(
        this Database database, string rql, CancellationToken cancellationToken = default) =>
        database.PatchByQueryAsync(rql, default(JsonElement), cancellationToken);

    /// <summary>
    /// Patches the documents that match a query with parameters with a script, and returns the number of changed documents.
    /// </summary>
    /// <param name="database">The database, with an engine that compiles scripts:
    /// <see cref="DatabaseOptions.Computing"/>.</param>
    /// <param name="rql">An RQL query that ends in <c>update { … }</c>.</param>
    /// <param name="parameters">A JSON object of values by name, without <c>$</c>; undefined: none. The script accesses them
    /// as <c>args</c>. It must stay valid until the operation completes.</param>
    /// <param name="cancellationToken">Cancels the operation between two batches.</param>
    /// <exception cref="InvalidQueryException">The query is not valid or has no <c>update</c> clause; nothing was
    /// changed.</exception>
    /// <exception cref="ScriptException">The script is not valid or failed; nothing of its batch was changed.</exception>
    public static Task<long> PatchByQueryAsync(
        this Database database, string rql, JsonElement parameters, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(database);
        PatchQuery compiled = PatchQuery.Compile(Query(rql, parameters), database.Options);
        return QueryChange.PatchAsync(
            database, compiled.Query, compiled.Patch, new PatchOptions { Arguments = compiled.Query.Parameters },
            cancellationToken);
    }

    /// <summary>
    /// Patches the documents that match a query with parameters with a script, and returns the number of changed documents.
    /// </summary>
    /// <param name="database">The database, with an engine that compiles scripts:
    /// <see cref="DatabaseOptions.Computing"/>.</param>
    /// <param name="rql">An RQL query that ends in <c>update { … }</c>.</param>
    /// <param name="parameters">Values by name: strings, numbers, Booleans, dates, GUIDs, JSON, sequences of them, and types that
    /// <see cref="DatabaseOptions.Json"/> has metadata for. The script accesses them as <c>args</c>.</param>
    /// <param name="cancellationToken">Cancels the operation between two batches.</param>
    /// <exception cref="InvalidQueryException">The query is not valid or has no <c>update</c> clause; nothing was
    /// changed.</exception>
    /// <exception cref="NotSupportedException">A parameter has another type; nothing was changed.</exception>
    /// <exception cref="ScriptException">The script is not valid or failed; nothing of its batch was changed.</exception>
    public static Task<long> PatchByQueryAsync(
        this Database database, string rql, IReadOnlyDictionary<string, object?>? parameters,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(database);
        return database.PatchByQueryAsync(
            rql, QueryParameterJson.WithoutReflection(parameters, database.Options.Json), cancellationToken);
    }

    /// <summary>
    /// Patches the documents that match a query with parameters with a script, and returns the number of changed documents.
    /// </summary>
    /// <param name="database">The database, with an engine that compiles scripts:
    /// <see cref="DatabaseOptions.Computing"/>.</param>
    /// <param name="rql">An RQL query that ends in <c>update { … }</c>.</param>
    /// <param name="parameters">As of <see cref="DocumentSession.QueryAsync{T}(string, object, bool, CancellationToken)"/>; the
    /// script has them as <c>args</c>.</param>
    /// <param name="cancellationToken">Cancels the operation between two batches.</param>
    /// <exception cref="InvalidQueryException">The query is not valid or has no <c>update</c> clause; nothing was
    /// changed.</exception>
    /// <exception cref="ScriptException">The script is not valid or failed; nothing of its batch was changed.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    public static Task<long> PatchByQueryAsync(
        this Database database, string rql, object? parameters, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(database);
        return database.PatchByQueryAsync(rql, Reflected(database, parameters), cancellationToken);
    }

    /// <summary>
    /// Patches the documents that match a query with a script, given as an interpolated string whose holes are parameters and
    /// never part of the text: <c>$"from Orders where City = {city} update {{ … }}"</c>.
    /// </summary>
    /// <exception cref="ArgumentException">A hole is inside quotes; nothing was changed.</exception>
    /// <exception cref="InvalidQueryException">The query is not valid; nothing was changed.</exception>
    /// <exception cref="NotSupportedException">A hole has a type that <see cref="DatabaseOptions.Json"/> has no metadata for;
    /// nothing was changed.</exception>
    [OverloadResolutionPriority(2)]
    public static Task<long> PatchByQueryAsync(
        this Database database, RqlInterpolatedStringHandler rql, CancellationToken cancellationToken = default) =>
        database.PatchByQueryAsync(rql.Rql.Text, rql.Rql.NamedValues(), cancellationToken);

    /// <summary>Same, with further parameters, as of the overload for text.</summary>
    /// <exception cref="ArgumentException">A hole is inside quotes, or a parameter has the name of one; nothing was
    /// changed.</exception>
    /// <exception cref="InvalidQueryException">The query is not valid; nothing was changed.</exception>
    [OverloadResolutionPriority(1)]
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    public static Task<long> PatchByQueryAsync(
        this Database database, RqlInterpolatedStringHandler rql, object? parameters,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(database);
        return database.PatchByQueryAsync(
            rql.Rql.Text, QueryParameterJson.With(rql.Rql, parameters, database.DefaultSession.Json), cancellationToken);
    }

    /// <summary>
    /// Deletes the documents that match a query, such as <c>session.Query&lt;Order&gt;().Where(…).ToRql()</c>, and reports
    /// progress. What was deleted before a cancellation or an error stays deleted.
    /// </summary>
    /// <exception cref="InvalidQueryException">The query is not valid; nothing was deleted.</exception>
    public static Task<long> DeleteByQueryAsync(
        this Database database, RqlStatement query, OperationOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(database);
        ArgumentNullException.ThrowIfNull(query);
        return QueryChange.DeleteAsync(database, Query(query.Text, query.Parameters), cancellationToken, options);
    }

    /// <summary>
    /// Runs a script over the documents that match a query with an <c>update</c> clause, and reports progress. What was changed
    /// before a cancellation or an error stays changed.
    /// </summary>
    /// <exception cref="InvalidQueryException">The query is not valid or has no <c>update</c> clause; nothing was
    /// changed.</exception>
    public static Task<long> PatchByQueryAsync(
        this Database database, RqlStatement query, OperationOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(database);
        ArgumentNullException.ThrowIfNull(query);
        PatchQuery compiled = PatchQuery.Compile(Query(query.Text, query.Parameters), database.Options);
        return QueryChange.PatchAsync(
            database, compiled.Query, compiled.Patch, new PatchOptions { Arguments = compiled.Query.Parameters },
            cancellationToken, options);
    }

    /// <summary>
    /// Patches the documents that a query finds, such as that of a session, and reports progress. What was changed before a
    /// cancellation or an error stays changed.
    /// </summary>
    /// <exception cref="NotSupportedException">The query has no equivalent in RQL; nothing was changed.</exception>
    public static async Task<long> PatchByQueryAsync<T>(
        this Database database, IDocumentQueryable<T> query, Action<DocumentPatch<T>> change, OperationOptions? options = null,
        CancellationToken cancellationToken = default)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(database);
        ArgumentNullException.ThrowIfNull(query);
        ArgumentNullException.ThrowIfNull(change);
        var patch = new DocumentPatch<T>(((IModelQueryable)query).Model.Session);
        change(patch);
        RqlStatement rql = query.ToRql();
        return patch.Edits.Count == 0
            ? 0
            : await QueryChange.PatchAsync(
                database, Query(rql.Text, rql.Parameters), Patch.Of(patch.Edits), new PatchOptions(), cancellationToken, options)
                .ConfigureAwait(false);
    }

    private static QueryRequest Query<T>(Database database, Expression<Func<T, bool>> where, SessionOptions options)
        where T : class
    {
        using DocumentSession session = database.OpenSession(options);
        RqlStatement rql = session.Query<T>().Where(where).ToRql();
        return new QueryRequest { Text = rql.Text, Parameters = rql.Parameters };
    }

    private static QueryRequest Query(string rql, JsonElement parameters)
    {
        ArgumentNullException.ThrowIfNull(rql);
        return new QueryRequest { Text = rql, Parameters = parameters };
    }

    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    private static JsonElement Reflected(Database database, object? parameters) =>
        parameters is null ? default : QueryParameterJson.From(parameters, database.DefaultSession.Json);
}
