using System.Globalization;
using System.Text.Json;
using Treepie.Backups;
using Treepie.Storage;

namespace Treepie.CommandLine.Http;

/// <summary>
/// Documents and queries of one database. The calls are those any client makes; `wire` names say what they are in HTTP.
/// </summary>
internal sealed class DatabaseClient(ServerClient server, string name)
{
    private readonly string _path = $"databases/{Uri.EscapeDataString(name)}/";

    /// <summary>The name.</summary>
    public string Name { get; } = name;

    /// <summary>Applies a batch, all or nothing: <c>POST bulk_docs</c>. It is durable when this returns.</summary>
    public async Task WriteAsync(ReadOnlyMemory<byte> batch, CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Post, _path + "bulk_docs", ServerClient.JsonContent(batch), cancellationToken);

        // The answer is read to its end, unlooked at, so that the connection can be used again.
        await response.Content.CopyToAsync(Stream.Null, cancellationToken);
    }

    /// <summary>Which of these documents exist, in their order: <c>POST docs?metadataOnly=true</c>.</summary>
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
            return new bool[ids.Count]; // one id, and it is not there
        }
    }

    /// <summary>Runs a query and gives its answer as the server wrote it: <c>POST queries</c>. To be disposed.</summary>
    public Task<HttpResponseMessage> QueryAsync(ReadOnlyMemory<byte> query, CancellationToken cancellationToken) =>
        server.SendAsync(HttpMethod.Post, _path + "queries", ServerClient.JsonContent(query), cancellationToken);

    /// <summary>Runs a query and gives its plan: <c>POST queries/explain</c>; format json or svg. To be disposed.</summary>
    public Task<HttpResponseMessage> ExplainAsync(
        ReadOnlyMemory<byte> query, string format, CancellationToken cancellationToken) =>
        server.SendAsync(
            HttpMethod.Post, _path + "queries/explain?format=" + format, ServerClient.JsonContent(query), cancellationToken);

    /// <summary>Runs a query and gives its results as lines: <c>POST streams/queries</c>. To be disposed.</summary>
    public Task<HttpResponseMessage> StreamQueryAsync(ReadOnlyMemory<byte> query, CancellationToken cancellationToken) =>
        server.SendAsync(
            HttpMethod.Post, _path + "streams/queries?format=jsonl", ServerClient.JsonContent(query), cancellationToken);

    /// <summary>Gives the database another key: <c>POST admin/encryption/key</c>.</summary>
    public async Task ChangeKeyAsync(EncryptionKey key, CancellationToken cancellationToken)
    {
        using var content = new KeyContent(key);
        using HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Post, _path + "admin/encryption/key", content, cancellationToken);
    }

    /// <summary>Begins to encrypt it anew and gives the number of the operation: <c>POST admin/encryption/rotate</c>.</summary>
    public async Task<long> StartKeyRotationAsync(CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Post, _path + "admin/encryption/rotate", null, cancellationToken);
        using JsonDocument answer = await ServerClient.ReadJsonAsync(response, cancellationToken);
        return answer.RootElement.GetProperty("OperationId").GetInt64();
    }

    /// <summary>A number for an operation that is about to begin: <c>GET operations/next-operation-id</c>.</summary>
    public async Task<long> NextOperationIdAsync(CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Get, _path + "operations/next-operation-id", null, cancellationToken);
        using JsonDocument answer = await ServerClient.ReadJsonAsync(response, cancellationToken);
        return answer.RootElement.GetProperty("Id").GetInt64();
    }

    /// <summary>How far an operation is: <c>GET operations/state</c>. To be disposed.</summary>
    public async Task<JsonDocument> OperationStateAsync(long id, CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Get, _path + string.Create(CultureInfo.InvariantCulture, $"operations/state?id={id}"), null,
            cancellationToken);
        return await ServerClient.ReadJsonAsync(response, cancellationToken);
    }

    /// <summary>Defines indexes: <c>PUT admin/indexes</c>. Gives their names.</summary>
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

    /// <summary>The state of all indexes: <c>GET indexes/stats</c>. To be disposed.</summary>
    public async Task<JsonDocument> IndexStatisticsAsync(CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Get, _path + "indexes/stats", null, cancellationToken);
        return await ServerClient.ReadJsonAsync(response, cancellationToken);
    }

    /// <summary>What could not be indexed: <c>GET indexes/errors</c>, of one index or of all. To be disposed.</summary>
    public async Task<JsonDocument> IndexErrorsAsync(string? index, CancellationToken cancellationToken)
    {
        string query = index is null ? "" : "?name=" + Uri.EscapeDataString(index);
        using HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Get, _path + "indexes/errors" + query, null, cancellationToken);
        return await ServerClient.ReadJsonAsync(response, cancellationToken);
    }

    /// <summary>Deletes an index: <c>DELETE indexes</c>.</summary>
    public async Task DeleteIndexAsync(string index, CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await server.SendAsync(
            HttpMethod.Delete, _path + "indexes?name=" + Uri.EscapeDataString(index), null, cancellationToken);
    }

    /// <summary>Empties an index, which is then built again: <c>RESET indexes</c>.</summary>
    public async Task ResetIndexAsync(string index, CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await server.SendAsync(
            new HttpMethod("RESET"), _path + "indexes?name=" + Uri.EscapeDataString(index), null, cancellationToken);
    }

    /// <summary>All documents as lines: <c>GET streams/docs</c>. To be disposed.</summary>
    public Task<HttpResponseMessage> StreamDocumentsAsync(CancellationToken cancellationToken) =>
        server.SendAsync(HttpMethod.Get, _path + "streams/docs?format=jsonl", null, cancellationToken);

    /// <summary>
    /// A part of a chain, as the server writes it: <c>POST admin/backup/part</c>; no content where nothing has changed. To be
    /// disposed.
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

    /// <summary>All of it as a dump, as the server writes it: <c>POST smuggler/export</c>. To be disposed.</summary>
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
