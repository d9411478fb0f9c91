using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;

namespace Treepie.Bench.Measuring;

/// <summary>A database of a server, asked as clients ask.</summary>
internal sealed class HttpDatabase(HttpClient client, string name)
{
    private static readonly MediaTypeHeaderValue _json = new("application/json");

    /// <summary>Creates it.</summary>
    public async Task CreateAsync(CancellationToken cancellationToken)
    {
        using var body = new StringContent($$"""{"DatabaseName":"{{name}}"}""", _json);
        using HttpResponseMessage answer = await client.PutAsync(
            $"/admin/databases?name={name}&replicationFactor=1", body, cancellationToken);
        await ExpectSuccessAsync(answer);
    }

    /// <summary>Puts all films in one bulk insert request.</summary>
    public async Task BulkInsertAsync(Movie[] films, CancellationToken cancellationToken)
    {
        using HttpResponseMessage next = await client.GetAsync(
            $"/databases/{name}/operations/next-operation-id", cancellationToken);
        await ExpectSuccessAsync(next);
        using JsonDocument parsed = JsonDocument.Parse(await next.Content.ReadAsByteArrayAsync(cancellationToken));
        long operation = parsed.RootElement.GetProperty("Id").GetInt64();
        using var body = new PushContent(async (connection, token) =>
        {
            var stream = new BufferedStream(connection, 64 * 1024); // not disposed: the connection is not ours to close
            await stream.WriteAsync("["u8.ToArray(), token);
            for (int i = 0; i < films.Length; i++)
            {
                string start = $$"""{{(i == 0 ? "" : ",")}}{"Id":"{{films[i].Id}}","Type":"PUT","Document":""";
                await stream.WriteAsync(Encoding.UTF8.GetBytes(start), token);
                await stream.WriteAsync(films[i].Json, token);
                await stream.WriteAsync("}"u8.ToArray(), token);
            }

            await stream.WriteAsync("]"u8.ToArray(), token);
            await stream.FlushAsync(token);
        });
        string url = string.Create(CultureInfo.InvariantCulture, $"/databases/{name}/bulk_insert?id={operation}");
        using HttpResponseMessage answer = await client.PostAsync(url, body, cancellationToken);
        await ExpectSuccessAsync(answer);
    }

    /// <summary>Loads a document; the answer's length in bytes.</summary>
    public async Task<int> LoadAsync(string id, CancellationToken cancellationToken)
    {
        byte[] answer = await client.GetByteArrayAsync($"/databases/{name}/docs?id={id}", cancellationToken);
        return answer.Length;
    }

    /// <summary>Runs a query; the answer's length in bytes.</summary>
    public async Task<int> QueryAsync(string rql, bool wait, CancellationToken cancellationToken)
    {
        string waiting = wait ? ",\"WaitForNonStaleResults\":true,\"WaitForNonStaleResultsTimeout\":300000" : "";
        using var body = new StringContent($$"""{"Query":"{{JsonEncodedText.Encode(rql)}}"{{waiting}}}""", _json);
        using HttpResponseMessage answer = await client.PostAsync($"/databases/{name}/queries", body, cancellationToken);
        await ExpectSuccessAsync(answer);
        return (await answer.Content.ReadAsByteArrayAsync(cancellationToken)).Length;
    }

    /// <summary>Puts a document.</summary>
    public async Task PutAsync(string id, string json, CancellationToken cancellationToken)
    {
        using var body = new StringContent(json, _json);
        using HttpResponseMessage answer = await client.PutAsync($"/databases/{name}/docs?id={id}", body, cancellationToken);
        await ExpectSuccessAsync(answer);
    }

    /// <summary>Uploads an attachment.</summary>
    public async Task UploadAsync(string id, string attachment, byte[] content, CancellationToken cancellationToken)
    {
        using var body = new ByteArrayContent(content);
        using HttpResponseMessage answer = await client.PutAsync(
            $"/databases/{name}/attachments?id={id}&name={attachment}", body, cancellationToken);
        await ExpectSuccessAsync(answer);
    }

    /// <summary>Downloads an attachment without keeping it; its length in bytes.</summary>
    public async Task<long> DownloadAsync(string id, string attachment, byte[] buffer, CancellationToken cancellationToken)
    {
        using HttpResponseMessage answer = await client.GetAsync(
            $"/databases/{name}/attachments?id={id}&name={attachment}", HttpCompletionOption.ResponseHeadersRead,
            cancellationToken);
        await ExpectSuccessAsync(answer);
        await using Stream stream = await answer.Content.ReadAsStreamAsync(cancellationToken);
        long length = 0;
        for (int read; (read = await stream.ReadAsync(buffer, cancellationToken)) > 0;)
            length += read;
        return length;
    }

    private static async Task ExpectSuccessAsync(HttpResponseMessage answer)
    {
        if (!answer.IsSuccessStatusCode)
            throw new InvalidOperationException(
                $"{answer.RequestMessage?.RequestUri}: {(int)answer.StatusCode} {await answer.Content.ReadAsStringAsync()}");
    }

    /// <summary>A request body written as it is sent.</summary>
    private sealed class PushContent : HttpContent
    {
        private readonly Func<Stream, CancellationToken, Task> _write;

        public PushContent(Func<Stream, CancellationToken, Task> write)
        {
            _write = write;
            Headers.ContentType = _json;
        }

        protected override Task SerializeToStreamAsync(Stream stream, TransportContext? context) => _write(stream, default);

        protected override bool TryComputeLength(out long length)
        {
            length = 0;
            return false;
        }
    }
}
