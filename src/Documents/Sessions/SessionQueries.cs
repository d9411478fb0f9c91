using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Linq;
using Treepie.Queries;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>A session as queries see it.</summary>
internal sealed class SessionQueries(DocumentSession session, ISessionHost database, SessionOptions options) : IQuerySession
{
    private readonly ArrayBufferWriter<byte> _buffer = new();

    public JsonSerializerOptions Json => options.Json;

    public string CollectionOf(Type type) => session.TypeOf(type).Collection;

    public string? IdMemberOf(Type type) => session.TypeOf(type).Id is { } id ? Encoding.UTF8.GetString(id.Member) : null;

    public string? IdOf(Type type, object? value) => value as string ?? session.TypeOf(type).Id?.IdOf(value);

    public object? IdValue(Type type, string id) => session.TypeOf(type).Id is { } own ? own.ValueOf(id) : id;

    public Task<QueryResults> QueryAsync(QueryRequest request, CancellationToken cancellationToken)
    {
        session.RequireOpen();
        return database.QueryAsync(options.AllowStale ? request with { NeverStale = false } : request, cancellationToken);
    }

    public T? Track<T>(Document document)
        where T : class => session.Track<T>(document);

    public T? ReadResult<T>(QueryResults results)
        where T : class
    {
        if (!results.IsProjection && !results.IsComputed)
            return session.Track<T>(results.Current);

        _buffer.ResetWrittenCount();
        results.WriteCurrent(_buffer);
        return (T)session.Saver.Json.ReadProjection(session.TypeOf(typeof(T)), _buffer.WrittenSpan);
    }

    public void KeepIncludes(QueryResults results) => session.KeepIncludes(results);
}
