using System.Diagnostics.CodeAnalysis;
using System.Linq.Expressions;
using System.Text.Json;
using Treepie.IndexClasses;
using Treepie.Linq;
using Treepie.Sessions;
using Treepie.Writes;

namespace Treepie;

/// <summary>
/// The members of <see cref="IDocumentStore"/> that a <see cref="Database"/> has as extensions, or with types of its own.
/// </summary>
public sealed partial class Database
{
    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    void IDocumentStore.Deploy(params IEnumerable<IndexClass> indexes) => this.Deploy(indexes);

    void IDocumentStore.Deploy(SessionOptions session, params IEnumerable<IndexClass> indexes) => this.Deploy(session, indexes);

    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    IDocumentSession IDocumentStore.OpenSession() => OpenSession();

    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    IDocumentSession IDocumentStore.OpenSession(Func<SessionOptions, SessionOptions> change) => OpenSession(change);

    IDocumentSession IDocumentStore.OpenSession(SessionOptions options) => OpenSession(options);

    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> IDocumentStore.DeleteByQueryAsync<T>(Expression<Func<T, bool>> where, CancellationToken cancellationToken) =>
        this.DeleteByQueryAsync(where, cancellationToken);

    Task<long> IDocumentStore.DeleteByQueryAsync<T>(
        Expression<Func<T, bool>> where, SessionOptions options, CancellationToken cancellationToken) =>
        this.DeleteByQueryAsync(where, options, cancellationToken);

    Task<long> IDocumentStore.DeleteByQueryAsync(string rql, CancellationToken cancellationToken) =>
        this.DeleteByQueryAsync(rql, cancellationToken);

    Task<long> IDocumentStore.DeleteByQueryAsync(string rql, JsonElement parameters, CancellationToken cancellationToken) =>
        this.DeleteByQueryAsync(rql, parameters, cancellationToken);

    Task<long> IDocumentStore.DeleteByQueryAsync(
        string rql, IReadOnlyDictionary<string, object?>? parameters, CancellationToken cancellationToken) =>
        this.DeleteByQueryAsync(rql, parameters, cancellationToken);

    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> IDocumentStore.DeleteByQueryAsync(string rql, object? parameters, CancellationToken cancellationToken) =>
        this.DeleteByQueryAsync(rql, parameters, cancellationToken);

    Task<long> IDocumentStore.DeleteByQueryAsync(RqlInterpolatedStringHandler rql, CancellationToken cancellationToken) =>
        this.DeleteByQueryAsync(rql, cancellationToken);

    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> IDocumentStore.DeleteByQueryAsync(
        RqlInterpolatedStringHandler rql, object? parameters, CancellationToken cancellationToken) =>
        this.DeleteByQueryAsync(rql, parameters, cancellationToken);

    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> IDocumentStore.PatchByQueryAsync<T>(
        Expression<Func<T, bool>> where, Action<DocumentPatch<T>> change, CancellationToken cancellationToken) =>
        this.PatchByQueryAsync(where, change, cancellationToken);

    Task<long> IDocumentStore.PatchByQueryAsync<T>(
        Expression<Func<T, bool>> where, Action<DocumentPatch<T>> change, SessionOptions options,
        CancellationToken cancellationToken) => this.PatchByQueryAsync(where, change, options, cancellationToken);

    Task<long> IDocumentStore.PatchByQueryAsync(string rql, CancellationToken cancellationToken) =>
        this.PatchByQueryAsync(rql, cancellationToken);

    Task<long> IDocumentStore.PatchByQueryAsync(string rql, JsonElement parameters, CancellationToken cancellationToken) =>
        this.PatchByQueryAsync(rql, parameters, cancellationToken);

    Task<long> IDocumentStore.PatchByQueryAsync(
        string rql, IReadOnlyDictionary<string, object?>? parameters, CancellationToken cancellationToken) =>
        this.PatchByQueryAsync(rql, parameters, cancellationToken);

    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> IDocumentStore.PatchByQueryAsync(string rql, object? parameters, CancellationToken cancellationToken) =>
        this.PatchByQueryAsync(rql, parameters, cancellationToken);

    Task<long> IDocumentStore.PatchByQueryAsync(RqlInterpolatedStringHandler rql, CancellationToken cancellationToken) =>
        this.PatchByQueryAsync(rql, cancellationToken);

    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    Task<long> IDocumentStore.PatchByQueryAsync(
        RqlInterpolatedStringHandler rql, object? parameters, CancellationToken cancellationToken) =>
        this.PatchByQueryAsync(rql, parameters, cancellationToken);

    [RequiresUnreferencedCode(ReflectionUse.Message), RequiresDynamicCode(ReflectionUse.Message)]
    ObjectInsert IDocumentStore.BulkInsertObjects(BulkInsertOptions? options) => this.BulkInsertObjects(options);

    ObjectInsert IDocumentStore.BulkInsert(SessionOptions session, BulkInsertOptions? options) =>
        this.BulkInsert(session, options);

    Task<long> IDocumentStore.DeleteByQueryAsync(
        RqlStatement query, OperationOptions? options, CancellationToken cancellationToken) =>
        this.DeleteByQueryAsync(query, options, cancellationToken);

    Task<long> IDocumentStore.PatchByQueryAsync(
        RqlStatement query, OperationOptions? options, CancellationToken cancellationToken) =>
        this.PatchByQueryAsync(query, options, cancellationToken);

    Task<long> IDocumentStore.PatchByQueryAsync<T>(
        IDocumentQueryable<T> query, Action<DocumentPatch<T>> change, OperationOptions? options,
        CancellationToken cancellationToken) => this.PatchByQueryAsync(query, change, options, cancellationToken);
}
