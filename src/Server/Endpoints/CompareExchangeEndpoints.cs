using Microsoft.Extensions.Primitives;
using Treepie.Kinds;
using Treepie.Server.Http;
using Treepie.Server.Security;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Server.Endpoints;

/// <summary>Compare-exchange values: read by key or by prefix, and changed if their index is the expected one.</summary>
internal static class CompareExchangeEndpoints
{
    public static void Map(Routes routes)
    {
        routes.Database("GET", "/cmpxchg", AccessLevel.DatabaseRead, Get);
        routes.Database("PUT", "/cmpxchg", AccessLevel.DatabaseReadWrite, Put);
        routes.Database("DELETE", "/cmpxchg", AccessLevel.DatabaseReadWrite, Delete);
    }

    /// <summary>Reads the values with the given keys, or those whose keys start with a prefix.</summary>
    public static async Task Get(ServerRequest request, Database database)
    {
        StringValues keys = request.Parameters("key");
        using DatabaseSnapshot snapshot = database.BeginRead();
        if (keys.Count == 1 && !request.IsEmbedded && snapshot.CompareExchange(keys[0] ?? "") is null)
        {
            request.EndEmpty(StatusCodes.Status404NotFound);
            return;
        }

        IEnumerable<(string Key, CompareExchangeValue? Value)> values =
            keys.Count > 0 ? ByKey(snapshot, keys) : ByPrefix(request, snapshot);
        ResponseBody output = request.BeginJsonBody();
        output.Write("{\"Results\":["u8);
        bool first = true;
        foreach ((string key, CompareExchangeValue? value) in values)
        {
            if (!first)
                output.Write(","u8);
            first = false;
            KindWire.WriteCompareExchange(output, key, value);
            await request.PauseAsync().ConfigureAwait(false);
        }

        output.Write("]}"u8);
    }

    private static IEnumerable<(string Key, CompareExchangeValue? Value)> ByKey(DatabaseSnapshot snapshot, StringValues keys) =>
        keys.Select(key => (key ?? "", snapshot.CompareExchange(key ?? "")));

    private static IEnumerable<(string Key, CompareExchangeValue? Value)> ByPrefix(
        ServerRequest request, DatabaseSnapshot snapshot)
    {
        (long start, long size) = (request.Number("start", 0), request.Number("pageSize", int.MaxValue));
        string prefix = request.Parameter("startsWith") ?? "";
        return snapshot.CompareExchangeStartingWith(prefix)
            .Skip((int)Math.Min(start, int.MaxValue))
            .Take((int)Math.Min(size, int.MaxValue))
            .Select(static value => (value.Key, (CompareExchangeValue?)value));
    }

    private static async Task Put(HttpServerRequest request, Database database)
    {
        string key = request.RequiredParameter("key");
        long index = request.Number("index", 0);
        using RequestBody body = await request.ReadBodyAsync(database.Options.MaxDocumentBytes).ConfigureAwait(false);
        using var batch = new WriteBatch(database.Options);
        batch.PutCompareExchange(key, body.Span, index);
        await WriteAsync(request, database, batch).ConfigureAwait(false);
    }

    private static async Task Delete(HttpServerRequest request, Database database)
    {
        using var batch = new WriteBatch(database.Options);
        batch.DeleteCompareExchange(request.RequiredParameter("key"), request.Number("index", 0));
        await WriteAsync(request, database, batch).ConfigureAwait(false);
    }

    private static async Task WriteAsync(HttpServerRequest request, Database database, WriteBatch batch)
    {
        // the result of the only command
        var result = (CompareExchangeResult)(await database.WriteAsync(batch, request.Aborted).ConfigureAwait(false))[0].Beside!;
        ResponseBody output = request.BeginJsonBody();
        output.Write("{\"Index\":"u8);
        // clients interpret 0 as a missing response; a rejected value that does not exist has no index
        output.WriteNumber(result.Index == 0 ? 1 : result.Index);
        output.Write(",\"Value\":"u8);
        if (result.Value is null)
            output.Write("null"u8);
        else
            result.Value.WriteTo(output);
        output.Write(",\"Successful\":"u8);
        output.WriteBoolean(result.IsSuccessful);
        output.Write("}"u8);
    }
}
