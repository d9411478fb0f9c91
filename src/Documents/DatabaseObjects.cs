using System.Diagnostics.CodeAnalysis;
using System.Linq.Expressions;
using System.Text.Json;
using Treepie.Linq;
using Treepie.Queries;
using Treepie.Sessions;
using Treepie.Writes;

namespace Treepie;

/// <summary>What is done with many objects at once, without a session that follows them.</summary>
public static class DatabaseObjects
{
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
        return await QueryChange.DeleteAsync(database, Query(database, where, options), cancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// Deletes the documents that a query finds; as
    /// <see cref="DeleteByQueryAsync{T}(Database, Expression{Func{T, bool}}, CancellationToken)"/>.
    /// </summary>
    /// <param name="database">Where.</param>
    /// <param name="rql">RQL of whole documents: <c>from Orders where Freight > 10</c>.</param>
    /// <param name="cancellationToken">Ends it between two batches.</param>
    /// <exception cref="InvalidQueryException">The text is not valid; nothing was deleted.</exception>
    public static Task<long> DeleteByQueryAsync(
        this Database database, string rql, CancellationToken cancellationToken = default) =>
        database.DeleteByQueryAsync(rql, default(JsonElement), cancellationToken);

    /// <summary>As <see cref="DeleteByQueryAsync(Database, string, CancellationToken)"/>, with parameters.</summary>
    /// <param name="database">Where.</param>
    /// <param name="rql">RQL of whole documents: <c>from Orders where Freight > $least</c>.</param>
    /// <param name="parameters">A JSON object of values by name, without <c>$</c>; undefined: none. It is read until this
    /// completes.</param>
    /// <param name="cancellationToken">Ends it between two batches.</param>
    /// <exception cref="InvalidQueryException">The text is not valid; nothing was deleted.</exception>
    public static Task<long> DeleteByQueryAsync(
        this Database database, string rql, JsonElement parameters, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(database);
        return QueryChange.DeleteAsync(database, Query(rql, parameters), cancellationToken);
    }

    /// <summary>As <see cref="DeleteByQueryAsync(Database, string, CancellationToken)"/>, with parameters.</summary>
    /// <param name="database">Where.</param>
    /// <param name="rql">RQL of whole documents: <c>from Orders where Freight > $least</c>.</param>
    /// <param name="parameters">Values by name: texts, numbers, truth values, times, GUIDs, JSON, sequences of them, and what
    /// <see cref="DatabaseOptions.Json"/> knows.</param>
    /// <param name="cancellationToken">Ends it between two batches.</param>
    /// <exception cref="InvalidQueryException">The text is not valid; nothing was deleted.</exception>
    /// <exception cref="NotSupportedException">A parameter is of another type; nothing was deleted.</exception>
    public static Task<long> DeleteByQueryAsync(
        this Database database, string rql, IReadOnlyDictionary<string, object?>? parameters,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(database);
        return database.DeleteByQueryAsync(
            rql, QueryParameterJson.WithoutReflection(parameters, database.Options.Json), cancellationToken);
    }

    /// <summary>As <see cref="DeleteByQueryAsync(Database, string, CancellationToken)"/>, with parameters.</summary>
    /// <param name="database">Where.</param>
    /// <param name="rql">RQL of whole documents: <c>from Orders where Freight > $least</c>.</param>
    /// <param name="parameters">As of
    /// <see cref="DocumentSession.QueryAsync{T}(string, object, bool, CancellationToken)"/>.</param>
    /// <param name="cancellationToken">Ends it between two batches.</param>
    /// <exception cref="InvalidQueryException">The text is not valid; nothing was deleted.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    public static Task<long> DeleteByQueryAsync(
        this Database database, string rql, object? parameters, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(database);
        return database.DeleteByQueryAsync(rql, Reflected(database, parameters), cancellationToken);
    }

    /// <summary>
    /// Changes members of the documents of a type for which a condition holds when this is called; gives how many changed. In
    /// durable batches, so that what was changed before an error stays changed. Each document is changed where it is stored, as
    /// it is then: nothing that is written meanwhile is lost.
    /// </summary>
    /// <exception cref="NotSupportedException">The condition has no RQL of the same meaning, or an expression names no member;
    /// nothing was changed.</exception>
    /// <exception cref="ScriptException">A member of a document cannot be changed so; nothing of its batch was
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
    /// As
    /// <see cref="PatchByQueryAsync{T}(Database, Expression{Func{T, bool}}, Action{DocumentPatch{T}}, CancellationToken)"/>, with
    /// the options that the type's documents are written with.
    /// </summary>
    /// <exception cref="NotSupportedException">The condition has no RQL of the same meaning, or an expression names no member;
    /// nothing was changed.</exception>
    /// <exception cref="ScriptException">A member of a document cannot be changed so; nothing of its batch was
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
    /// Runs a script over the documents that a query finds; gives how many changed. As
    /// <see cref="PatchByQueryAsync{T}(Database, Expression{Func{T, bool}}, Action{DocumentPatch{T}}, CancellationToken)"/>.
    /// </summary>
    /// <param name="database">Where. Its options say who compiles scripts: <see cref="DatabaseOptions.Computing"/>.</param>
    /// <param name="rql">RQL that ends in <c>update { … }</c>.</param>
    /// <param name="cancellationToken">Ends it between two batches.</param>
    /// <exception cref="InvalidQueryException">The text is not valid, or has no <c>update</c>; nothing was changed.</exception>
    /// <exception cref="ScriptException">The script is none, or failed; nothing of its batch was changed.</exception>
    public static Task<long> PatchByQueryAsync(
        this Database database, string rql, CancellationToken cancellationToken = default) =>
        database.PatchByQueryAsync(rql, default(JsonElement), cancellationToken);

    /// <summary>As <see cref="PatchByQueryAsync(Database, string, CancellationToken)"/>, with parameters.</summary>
    /// <param name="database">Where. Its options say who compiles scripts: <see cref="DatabaseOptions.Computing"/>.</param>
    /// <param name="rql">RQL that ends in <c>update { … }</c>.</param>
    /// <param name="parameters">A JSON object of values by name, without <c>$</c>; undefined: none. The script has them as
    /// <c>args</c>. It is read until this completes.</param>
    /// <param name="cancellationToken">Ends it between two batches.</param>
    /// <exception cref="InvalidQueryException">The text is not valid, or has no <c>update</c>; nothing was changed.</exception>
    /// <exception cref="ScriptException">The script is none, or failed; nothing of its batch was changed.</exception>
    public static Task<long> PatchByQueryAsync(
        this Database database, string rql, JsonElement parameters, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(database);
        PatchQuery compiled = PatchQuery.Compile(Query(rql, parameters), database.Options);
        return QueryChange.PatchAsync(
            database, compiled.Query, compiled.Patch, new PatchOptions { Arguments = compiled.Query.Parameters },
            cancellationToken);
    }

    /// <summary>As <see cref="PatchByQueryAsync(Database, string, CancellationToken)"/>, with parameters.</summary>
    /// <param name="database">Where. Its options say who compiles scripts: <see cref="DatabaseOptions.Computing"/>.</param>
    /// <param name="rql">RQL that ends in <c>update { … }</c>.</param>
    /// <param name="parameters">Values by name: texts, numbers, truth values, times, GUIDs, JSON, sequences of them, and what
    /// <see cref="DatabaseOptions.Json"/> knows. The script has them as <c>args</c>.</param>
    /// <param name="cancellationToken">Ends it between two batches.</param>
    /// <exception cref="InvalidQueryException">The text is not valid, or has no <c>update</c>; nothing was changed.</exception>
    /// <exception cref="NotSupportedException">A parameter is of another type; nothing was changed.</exception>
    /// <exception cref="ScriptException">The script is none, or failed; nothing of its batch was changed.</exception>
    public static Task<long> PatchByQueryAsync(
        this Database database, string rql, IReadOnlyDictionary<string, object?>? parameters,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(database);
        return database.PatchByQueryAsync(
            rql, QueryParameterJson.WithoutReflection(parameters, database.Options.Json), cancellationToken);
    }

    /// <summary>As <see cref="PatchByQueryAsync(Database, string, CancellationToken)"/>, with parameters.</summary>
    /// <param name="database">Where. Its options say who compiles scripts: <see cref="DatabaseOptions.Computing"/>.</param>
    /// <param name="rql">RQL that ends in <c>update { … }</c>.</param>
    /// <param name="parameters">As of <see cref="DocumentSession.QueryAsync{T}(string, object, bool, CancellationToken)"/>; the
    /// script has them as <c>args</c>.</param>
    /// <param name="cancellationToken">Ends it between two batches.</param>
    /// <exception cref="InvalidQueryException">The text is not valid, or has no <c>update</c>; nothing was changed.</exception>
    /// <exception cref="ScriptException">The script is none, or failed; nothing of its batch was changed.</exception>
    [RequiresUnreferencedCode(ReflectionUse.Message)]
    [RequiresDynamicCode(ReflectionUse.Message)]
    public static Task<long> PatchByQueryAsync(
        this Database database, string rql, object? parameters, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(database);
        return database.PatchByQueryAsync(rql, Reflected(database, parameters), cancellationToken);
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
