using System.Globalization;
using System.Text.Json;
using Treepie.Backups;
using Treepie.Storage;

namespace Treepie.CommandLine.Http;

/// <summary>
/// HTTP calls for the documents and queries of one database. They are the calls that any client makes.
/// </summary>
internal sealed class DatabaseClient(ServerClient server, string name)
{
    private readonly string _path = $"databases/{Uri.EscapeDataString(name)}/";

    /// <summary>The name.</summary>
    public string Name { get; } = name;

    /// <summary>Applies a batch atomically: <c>POST bulk_docs</c>. The batch is durable when this returns.</summary>
    public async Task WriteAsync(ReadOnlyMemory<byte> batch, CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Post, _path + "bulk_docs", ServerClient.JsonContent(batch), cancellationToken);

        // Read the response to its end, so that the connection can be reused.
        await response.Content.CopyToAsync(Stream.Null, cancellationToken);
    }

    /// <summary>Returns which of these documents exist, in the order of the ids: <c>POST docs?metadataOnly=true</c>.</summary>
    public async Task<bool[]> ExistAsync(IReadOnlyList<string> ids, CancellationToken cancellationToken)
    {
        byte[] body = ServerClient.Json(writer =>
        {
            writer.WriteStartArray("Ids");
            foreach (string id in ids)
                writer.WriteStringValue(id);

            writer.WriteEndArray();
        });
        try
        {
            using HttpResponseMessage response = await server.SendAsync(
                HttpMethod.Post, _path + "docs?metadataOnly=true", ServerClient.JsonContent(body), cancellationToken);
            using JsonDocument answer = await ServerClient.ReadJsonAsync(response, cancellationToken);
            bool[] exist = [
                .. answer.RootElement.GetProperty("Results")
                    .EnumerateArray()
                    .Select(result => result.ValueKind == JsonValueKind.Object)];
            return exist.Length == ids.Count
                ? exist
                : throw new InvalidDataException(
                    $"The server was asked for {ids.Count} documents and answered for {exist.Length}.");
        }
        catch (ServerException exception)
            when (exception is { Status: System.Net.HttpStatusCode.NotFound, IsMissingDatabase: false })
        {
            return new bool[ids.Count]; // a single id that does not exist
        }
    }

    /// <summary>
    /// Runs a query and returns the server's response unchanged: <c>POST queries</c>. The caller disposes it.
    /// </summary>
    public Task<HttpResponseMessage> QueryAsync(ReadOnlyMemory<byte> query, CancellationToken cancellationToken) =>
        server.SendAsync(HttpMethod.Post, _path + "queries", ServerClient.JsonContent(query), cancellationToken);

    /// <summary>
    /// Runs a query and returns its plan as json or svg: <c>POST queries/explain</c>. The caller disposes it.
    /// </summary>
    public Task<HttpResponseMessage> ExplainAsync(
        ReadOnlyMemory<byte> query, string format, CancellationToken cancellationToken) =>
        server.SendAsync(
            HttpMethod.Post, _path + "queries/explain?format=" + format, ServerClient.JsonContent(query), cancellationToken);

    /// <summary>Runs a query and streams its results as lines: <c>POST streams/queries</c>. The caller disposes it.</summary>
    public Task<HttpResponseMessage> StreamQueryAsync(ReadOnlyMemory<byte> query, CancellationToken cancellationToken) =>
        server.SendAsync(
            HttpMethod.Post, _path + "streams/queries?format=jsonl", ServerClient.JsonContent(query), cancellationToken);

    /// <summary>Changes the key of the database: <c>POST admin/encryption/key</c>.</summary>
    public async Task ChangeKeyAsync(EncryptionKey key, CancellationToken cancellationToken)
    {
        using var content = new KeyContent(key);
        using HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Post, _path + "admin/encryption/key", content, cancellationToken);
    }

    /// <summary>Starts to re-encrypt the database and returns the operation id: <c>POST admin/encryption/rotate</c>.</summary>
    public async Task<long> StartKeyRotationAsync(CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Post, _path + "admin/encryption/rotate", null, cancellationToken);
        using JsonDocument answer = await ServerClient.ReadJsonAsync(response, cancellationToken);
        return answer.RootElement.GetProperty("OperationId").GetInt64();
    }

    /// <summary>Reserves the id of an operation to start: <c>GET operations/next-operation-id</c>.</summary>
    public async Task<long> NextOperationIdAsync(CancellationToken cancellationToken)
    {
        using JsonDocument answer = await GetAsync("operations/next-operation-id", cancellationToken);
        return answer.RootElement.GetProperty("Id").GetInt64();
    }

    /// <summary>Returns the state of an operation: <c>GET operations/state</c>. The caller disposes it.</summary>
    public async Task<JsonDocument> OperationStateAsync(long id, CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Get, _path + string.Create(CultureInfo.InvariantCulture, $"operations/state?id={id}"), null,
            cancellationToken);
        return await ServerClient.ReadJsonAsync(response, cancellationToken);
    }

    /// <summary>Defines indexes and returns their names: <c>PUT admin/indexes</c>.</summary>
    public async Task<IReadOnlyList<string>> PutIndexesAsync(
        ReadOnlyMemory<byte> definitions, CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Put, _path + "admin/indexes", ServerClient.JsonContent(definitions), cancellationToken);
        using JsonDocument answer = await ServerClient.ReadJsonAsync(response, cancellationToken);
        return [
            .. answer.RootElement.GetProperty("Results")
                .EnumerateArray()
                .Select(static result => result.GetProperty("Index").GetString() ?? "")];
    }

    /// <summary>Returns the collections with their sizes: <c>GET collections/stats</c>. The caller disposes it.</summary>
    public Task<JsonDocument> CollectionsAsync(CancellationToken cancellationToken) =>
        GetAsync("collections/stats", cancellationToken);

    /// <summary>Returns the state of all indexes: <c>GET indexes/stats</c>. The caller disposes it.</summary>
    public Task<JsonDocument> IndexStatisticsAsync(CancellationToken cancellationToken) =>
        GetAsync("indexes/stats", cancellationToken);

    /// <summary>Returns the indexing errors of one index or all: <c>GET indexes/errors</c>. The caller disposes it.</summary>
    public Task<JsonDocument> IndexErrorsAsync(string? index, CancellationToken cancellationToken) =>
        GetAsync("indexes/errors" + (index is null ? "" : "?name=" + Uri.EscapeDataString(index)), cancellationToken);

    private async Task<JsonDocument> GetAsync(string path, CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await server.SendAsync(HttpMethod.Get, _path + path, null, cancellationToken);
        return await ServerClient.ReadJsonAsync(response, cancellationToken);
    }

    /// <summary>Deletes an index: <c>DELETE indexes</c>.</summary>
    public async Task DeleteIndexAsync(string index, CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Delete, _path + "indexes?name=" + Uri.EscapeDataString(index), null, cancellationToken);
    }

    /// <summary>Empties an index, which is then rebuilt: <c>RESET indexes</c>.</summary>
    public async Task ResetIndexAsync(string index, CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await server.SendAsync(
            new HttpMethod("RESET"), _path + "indexes?name=" + Uri.EscapeDataString(index), null, cancellationToken);
    }

    /// <summary>Streams all documents as lines: <c>GET streams/docs</c>. The caller disposes it.</summary>
    public Task<HttpResponseMessage> StreamDocumentsAsync(CancellationToken cancellationToken) =>
        server.SendAsync(HttpMethod.Get, _path + "streams/docs?format=jsonl", null, cancellationToken);

    /// <summary>
    /// Requests the next part of a chain: <c>POST admin/backup/part</c>. The response has no content if nothing has changed. The
    /// caller disposes it.
    /// </summary>
    public Task<HttpResponseMessage> BackupPartAsync(
        BackupOptions options, bool allowPlain, string reader, long operation, CancellationToken cancellationToken) =>
            server.SendAsync(
            HttpMethod.Post,
            _path + string.Create(CultureInfo.InvariantCulture, $"admin/backup/part?operationId={operation}"),
            ServerClient.JsonContent(ServerClient.Json(writer =>
            {
                writer.WriteString("Kind", options.Kind.ToString());
                writer.WriteString("Since", options.Since?.ToString());
                writer.WriteString("LogReader", reader);
                writer.WriteString("CompressionAlgorithm", options.Compression.ToString());
                writer.WriteBoolean("HashesContent", options.HashesContent);
                writer.WriteNumber("PercentWhileWriting", options.PercentWhileWriting);
                writer.WriteBoolean("AllowPlain", allowPlain);
            })),
            cancellationToken);

    /// <summary>Requests a dump of the whole database: <c>POST smuggler/export</c>. The caller disposes it.</summary>
    public Task<HttpResponseMessage> BackupAsync(BackupOptions options, bool allowPlain, CancellationToken cancellationToken) =>
        server.SendAsync(
            HttpMethod.Post,
            _path + "smuggler/export",
            ServerClient.JsonContent(ServerClient.Json(writer =>
            {
                writer.WriteString("CompressionAlgorithm", options.Compression.ToString());
                writer.WriteNumber("PercentWhileWriting", options.PercentWhileWriting);
                writer.WriteBoolean("AllowPlain", allowPlain);
            })),
            cancellationToken);
}
