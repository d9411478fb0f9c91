using System.Text;
using System.Text.Json;
using Treepie.Linq;
using Treepie.Queries;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>A session as queries in LINQ see it.</summary>
internal sealed class SessionQueries(DocumentSession session, SessionOptions options, Func<Type, EntityType> typeOf) : IQuerySession
{
    public JsonSerializerOptions Json => options.Json;

    public string CollectionOf(Type type) => typeOf(type).Collection;

    public string? IdMemberOf(Type type) => typeOf(type).Id is { } id ? Encoding.UTF8.GetString(id.Member) : null;

    public string? IdOf(Type type, object? value) => value as string ?? typeOf(type).Id?.IdOf(value);

    public object? IdValue(Type type, string id) => typeOf(type).Id is { } own ? own.ValueOf(id) : id;

    public Task<QueryResults> QueryAsync(QueryRequest request, CancellationToken cancellationToken) => session.RunQueryAsync(request, cancellationToken);

    public T? Track<T>(Document document)
        where T : class => session.Track<T>(document);

    public void KeepIncludes(QueryResults results) => session.KeepIncludes(results);
}
