using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Linq;
using Treepie.Queries;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>The view of a session that queries use.</summary>
internal sealed class SessionQueries(DocumentSession session, SessionOptions options) : IQuerySession
{
    private readonly ArrayBufferWriter<byte> _buffer = new();

    public JsonSerializerOptions Json => options.Json;

    public ILazyOperations Lazy => session.LazyOperations;

    public string CollectionOf(Type type) => session.TypeOf(type).Collection;

    public string? IdMemberOf(Type type) => session.TypeOf(type).Id is { } id ? Encoding.UTF8.GetString(id.Member) : null;

    public string? IdOf(Type type, object? value) => value as string ?? session.TypeOf(type).Id?.IdOf(value);

    public object? IdValue(Type type, string id) => session.TypeOf(type).Id is { } own ? own.ValueOf(id) : id;

    public Task<QueryResults> QueryAsync(QueryRequest request, CancellationToken cancellationToken)
    {
        session.RequireOpen();
        return session.Requests.QueryAsync(options.AllowStale ? request with { NeverStale = false } : request, cancellationToken);
    }

    /// <summary>Returns the results of a query.</summary>
    public async Task<IReadOnlyList<T>> ListAsync<T>(QueryRequest request, CancellationToken cancellationToken)
        where T : class
    {
        // The total number of results is not returned, so it is not counted.
        request = request with
        {
            CountsResults = false,
            NeverStale = request.NeverStale || !(options.AllowStale || request.WaitForNonStaleResults)
        };
        using QueryResults results = await session.Requests.QueryAsync(request, cancellationToken).ConfigureAwait(false);
        var found = new List<T>();
        while (results.MoveNext())
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (ReadResult<T>(results) is { } result)
                found.Add(result);
        }

        KeepIncludes(results);
        return found;
    }

    public T? ReadResult<T>(QueryResults results)
        where T : class
    {
        if (!results.IsProjection && !results.IsComputed)
            return session.Track<T>(results.Current);

        _buffer.ResetWrittenCount();
        results.WriteCurrent(_buffer);
        return (T)session.Saver.Json.ReadProjection(session.TypeOf(typeof(T)), _buffer.WrittenSpan);
    }

    public object? Read(Type type, string id, DatabaseSnapshot snapshot)
    {
        snapshot = session.Reads?.Beside(snapshot) ?? snapshot;
        bool exists = snapshot.TryGet(id, out Document document);
        session.Reads?.Note(id, exists ? document.ChangeVector : "");
        if (!exists)
            return null;
        object read = session.Saver.Json.Read(session.TypeOf(type), document.IdText(), document.Body);
        return type.IsInstanceOfType(read)
            ? read
            : throw new TreepieException(
                $"Document '{id}' is of type {read.GetType().Name} and cannot be loaded as {type.Name}, as the query selects.");
    }

    public void KeepIncludes(QueryResults results) => session.KeepIncludes(results);
}
