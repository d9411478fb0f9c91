using System.Net;
using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Text;
using System.Text.Json.Nodes;

namespace Treepie.Torture.Servers;

/// <summary>
/// Sends requests to one database of a real server. A request without response because the server is gone throws <see
/// cref="HttpRequestException"/>, <see cref="IOException"/> or, if the connection was just opened, <see
/// cref="SocketException"/>; <see cref="IsGone"/> distinguishes these from server errors.
/// </summary>
internal sealed class DatabaseClient(string url, string database) : IDisposable
{
    private readonly HttpClient _http = new() { BaseAddress = new Uri(url), Timeout = TimeSpan.FromMinutes(4) };

    /// <summary>Whether the exception means that the server was killed during the request.</summary>
    public static bool IsGone(Exception exception) => exception is HttpRequestException or IOException or SocketException;

    /// <summary>A client for another database of the same server.</summary>
    public DatabaseClient Of(string other) => new(url, other);

    /// <summary>Sends a request to the database and returns status and response, whatever they are.</summary>
    public Task<(HttpStatusCode Status, string Text)> TryAsync(HttpMethod method, string path, JsonNode? body = null) =>
        TryAsync(method, path, body is null ? null : JsonContent(body));

    /// <summary>As above, with any content.</summary>
    public async Task<(HttpStatusCode Status, string Text)> TryAsync(HttpMethod method, string path, HttpContent? content)
    {
        using var request = new HttpRequestMessage(method, Address(path)) { Content = content };
        using HttpResponseMessage response = await _http.SendAsync(request);
        return (response.StatusCode, await response.Content.ReadAsStringAsync());
    }

    /// <summary>Sends a request that must succeed.</summary>
    public async Task<JsonNode> SendAsync(HttpMethod method, string path, JsonNode? body = null)
    {
        (HttpStatusCode status, string text) = await TryAsync(method, path, body);
        if ((int)status >= 300)
            throw new ServerTortureException($"{method} {path} of '{database}' answers {(int)status}: {text}");
        return JsonNode.Parse(text.Length == 0 ? "{}" : text) ?? new JsonObject();
    }

    /// <summary>Gives the server a new key for a database to be created.</summary>
    public async Task GiveKeyAsync(string name)
    {
        byte[]? key = await BytesAsync("/admin/secrets/generate");
        (HttpStatusCode status, string text) = await TryAsync(
            HttpMethod.Post, $"/admin/secrets?name={name}&overwrite=true", new ByteArrayContent(key ?? []));
        ServerTortureException.ThrowUnless(status == HttpStatusCode.Created, $"The key is answered {(int)status}: {text}");
    }

    /// <summary>Returns the bytes at a path, or null if there are none.</summary>
    public async Task<byte[]?> BytesAsync(string path)
    {
        using HttpResponseMessage response = await _http.GetAsync(Address(path));
        if (response.StatusCode == HttpStatusCode.NotFound)
            return null;
        byte[] bytes = await response.Content.ReadAsByteArrayAsync();
        return response.IsSuccessStatusCode
            ? bytes
            : throw new ServerTortureException(
                $"GET {path} of '{database}' answers {(int)response.StatusCode}: {Encoding.UTF8.GetString(bytes)}");
    }

    /// <summary>Returns the lines of a stream, parsed.</summary>
    public async Task<List<JsonNode>> LinesAsync(string path)
    {
        byte[] bytes = await BytesAsync(path) ?? [];
        return [
            .. Encoding.UTF8.GetString(bytes).Split('\n', StringSplitOptions.RemoveEmptyEntries)
                .Select(line => JsonNode.Parse(line) ?? throw new ServerTortureException($"{path} has a line that is null"))];
    }

    /// <summary>
    /// Waits for an operation and returns its result, or null if it conflicted with another one (409). Throws if it failed.
    /// </summary>
    public async Task<JsonNode?> EndOfAsync(JsonNode started, bool isOfServer)
    {
        long id = (long)started["OperationId"]!; // every response that starts an operation has it
        while (true)
        {
            JsonNode state = await SendAsync(HttpMethod.Get, $"{(isOfServer ? "/" : "")}operations/state?id={id}");
            switch ((string?)state["Status"])
            {
                case "Completed":
                    return state["Result"] ?? new JsonObject();
                case "InProgress":
                    await Task.Delay(20);
                    break;
                case "Faulted" when state["Result"] is { } fault && (int?)fault["StatusCode"] == (int)HttpStatusCode.Conflict:
                    return null;
                default:
                    throw new ServerTortureException($"Operation {id} of '{database}' did not complete: {state}");
            }
        }
    }

    /// <summary>A JSON text as the body of a request.</summary>
    public static HttpContent JsonContent(JsonNode body)
    {
        var content = new StringContent(body.ToJsonString(), Encoding.UTF8);
        content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
        return content;
    }

    public void Dispose() => _http.Dispose();

    // A path that begins with a slash is relative to the server.
    private string Address(string path) => path.StartsWith('/') ? path : $"/databases/{database}/{path}";
}
