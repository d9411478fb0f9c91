using System.Buffers;
using System.Globalization;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Treepie.BackupTasks;
using Treepie.Storage;

namespace Treepie.CommandLine.Http;

/// <summary>
/// HTTP client of a server. All requests share one connection that is kept open, so each request waits for the previous one.
/// Errors from the server are thrown as <see cref="ServerException"/>; failure to reach it as <see cref="HttpRequestException"/>.
/// </summary>
internal sealed class ServerClient : IDisposable
{
    private readonly HttpClient _http;

    /// <summary>Creates the client. Nothing is sent before the first request.</summary>
    /// <param name="url">Address of the server.</param>
    /// <param name="identity">Credentials and trusted authorities, or null for none.</param>
    public ServerClient(Uri url, ClientIdentity? identity = null)
    {
        Url = url;
        var handler = new SocketsHttpHandler
        {
            MaxConnectionsPerServer = 1,
            ConnectTimeout = TimeSpan.FromSeconds(10),
            AllowAutoRedirect = false,
            UseCookies = false,
            UseProxy = !url.IsLoopback, // a proxy from the environment cannot reach this machine's loopback address
        };

        identity?.ApplyTo(handler.SslOptions);

        // A query may wait for its index, and the import of a large batch for the disk. The user decides with Ctrl-C, not a
        // timeout.
        _http = new HttpClient(handler)
        {
            BaseAddress = new Uri(url.AbsoluteUri.TrimEnd('/') + "/"),
            Timeout = Timeout.InfiniteTimeSpan
        };
        ClientIdentity.AddToken(url, _http.DefaultRequestHeaders);
        _http.DefaultRequestHeaders.UserAgent.Add(
            new ProductInfoHeaderValue("treepie", typeof(ServerClient).Assembly.GetName().Version?.ToString(3)));
    }

    /// <summary>Address of the server.</summary>
    public Uri Url { get; }

    /// <summary>Creates a client for one database, without checking that it exists.</summary>
    public DatabaseClient Database(string name) => new(this, name);

    /// <summary>Names of all databases.</summary>
    public async Task<IReadOnlyList<string>> DatabaseNamesAsync(CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await SendAsync(HttpMethod.Get, "databases?namesOnly=true", null, cancellationToken);
        using JsonDocument answer = await ReadJsonAsync(response, cancellationToken);
        return [.. answer.RootElement.GetProperty("Databases").EnumerateArray().Select(name => name.GetString() ?? "")];
    }

    /// <summary>Creates a database. Returns false if one with this name exists.</summary>
    public async Task<bool> CreateDatabaseAsync(string name, bool encrypted, CancellationToken cancellationToken)
    {
        byte[] body = Json(writer =>
        {
            writer.WriteString("DatabaseName", name);
            if (encrypted)
                writer.WriteBoolean("Encrypted", true);
        });
        try
        {
            string path = $"admin/databases?name={Uri.EscapeDataString(name)}&replicationFactor=1";
            using HttpResponseMessage response = await SendAsync(HttpMethod.Put, path, JsonContent(body), cancellationToken);
            return true;
        }
        catch (ServerException exception) when (exception.IsConflict)
        {
            return false;
        }
    }

    /// <summary>Gives the server the key of a database.</summary>
    public async Task GiveKeyAsync(string name, EncryptionKey key, bool keep, bool overwrite, CancellationToken cancellationToken)
    {
        string path =
            $"admin/secrets?name={Uri.EscapeDataString(name)}&keep={(keep ? "true" : "false")}&overwrite="
                + $"{(overwrite ? "true" : "false")}";
        using var content = new KeyContent(key);
        using HttpResponseMessage response = await SendAsync(HttpMethod.Post, path, content, cancellationToken);
    }

    /// <summary>Deletes a database and its files. Does nothing if it does not exist.</summary>
    public async Task DeleteDatabaseAsync(string name, CancellationToken cancellationToken)
    {
        byte[] body = Json(writer =>
        {
            writer.WriteStartArray("DatabaseNames");
            writer.WriteStringValue(name);
            writer.WriteEndArray();
            writer.WriteBoolean("HardDelete", true);
        });
        using HttpResponseMessage response = await SendAsync(
            HttpMethod.Delete, "admin/databases", JsonContent(body), cancellationToken);
    }

    /// <summary>
    /// Restores a backup to a new database: <c>POST admin/restore/upload</c>. Returns the server's report of what it contains.
    /// </summary>
    public async Task<JsonDocument> RestoreAsync(RestoreTarget target, Stream backup, CancellationToken cancellationToken)
    {
        using var form = new MultipartFormDataContent
        {
            { new StringContent(target.AllowsPlain ? "{\"AllowPlain\":true}" : "{}"), "importOptions" },
            { new StreamContent(backup, 128 * 1024), "file", "backup" },
        };
        try
        {
            string path =
                $"admin/restore/upload?name={Uri.EscapeDataString(target.Name)}&encrypted="
                    + $"{(target.IsEncrypted ? "true" : "false")}";
            using HttpResponseMessage response = await SendAsync(HttpMethod.Post, path, form, cancellationToken);
            return await ReadJsonAsync(response, cancellationToken);
        }
        catch (HttpRequestException exception) when (exception.InnerException is Storage.StorageException inner)
        {
            throw inner; // the source of the upload could not be read
        }
    }

    /// <summary>
    /// Starts a restore from a place, which the server reads itself, and returns the operation id: <c>POST
    /// admin/restore/database</c>. Credentials of a bucket are sent along if the environment has them.
    /// </summary>
    public async Task<long> StartRestoreAsync(
        RestoreTarget target, string address, RestorePoint last, RestoreWish moment, EncryptionKey? key,
        CancellationToken cancellationToken)
    {
        byte[] body = Json(writer =>
        {
            writer.WriteString("DatabaseName", target.Name);
            writer.WriteString("SourceDatabase", last.Database.Length > 0 ? last.Database : null);
            if (moment.Time is { } time)
                writer.WriteString("StopAtTime", time.ToString("O", CultureInfo.InvariantCulture));
            else if (moment.Commit is { } commit)
                writer.WriteNumber("StopAtCommit", commit);
            else
                writer.WriteString("LastFileNameToRestore", last.Object);
            writer.WriteBoolean("Encrypted", target.IsEncrypted);
            writer.WriteBoolean("AllowPlain", target.AllowsPlain);
            writer.WriteStartObject("Destination");
            writer.WriteString("Address", address);
            if (address.Contains("://", StringComparison.Ordinal)
                && Environment.GetEnvironmentVariable("AWS_ACCESS_KEY_ID") is { Length: > 0 } access)
            {
                writer.WriteString("AccessKey", access);
                writer.WriteString("SecretKey", Environment.GetEnvironmentVariable("AWS_SECRET_ACCESS_KEY"));
                writer.WriteString("SessionToken", Environment.GetEnvironmentVariable("AWS_SESSION_TOKEN"));
            }

            writer.WriteEndObject();
            if (key is null)
                return;
            Span<byte> bytes = stackalloc byte[EncryptionKey.SizeBytes];
            key.CopyTo(bytes);
            writer.WriteStartObject("BackupEncryptionSettings");
            writer.WriteBase64String("Key", bytes);
            writer.WriteEndObject();
            bytes.Clear();
        });
        try
        {
            using HttpResponseMessage response = await SendAsync(
                HttpMethod.Post, "admin/restore/database", JsonContent(body), cancellationToken);
            using JsonDocument answer = await ReadJsonAsync(response, cancellationToken);
            return answer.RootElement.GetProperty("OperationId").GetInt64();
        }
        finally
        {
            System.Security.Cryptography.CryptographicOperations.ZeroMemory(body);
        }
    }

    /// <summary>Returns the state of an operation of the server: <c>GET operations/state</c>. The caller disposes it.</summary>
    public async Task<JsonDocument> OperationStateAsync(long id, CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await SendAsync(
            HttpMethod.Get, string.Create(CultureInfo.InvariantCulture, $"operations/state?id={id}"), null, cancellationToken);
        return await ReadJsonAsync(response, cancellationToken);
    }

    /// <summary>Requests cancellation of an operation: <c>POST admin/operations/kill</c>.</summary>
    public async Task KillAsync(long id, CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await SendAsync(
            HttpMethod.Post, string.Create(CultureInfo.InvariantCulture, $"admin/operations/kill?id={id}"), null,
            cancellationToken);
    }

    /// <inheritdoc/>
    public void Dispose() => _http.Dispose();

    /// <summary>Sends a request and returns once the headers of a successful response have arrived.</summary>
    /// <exception cref="ServerException">The response is an error.</exception>
    internal async Task<HttpResponseMessage> SendAsync(
        HttpMethod method, string path, HttpContent? content, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(method, path) { Content = content };
        HttpResponseMessage response = await _http.SendAsync(
            request, HttpCompletionOption.ResponseHeadersRead, cancellationToken);
        if (response.IsSuccessStatusCode)
            return response;

        using (response)
            throw await ErrorOfAsync(response, cancellationToken);
    }

    internal static async Task<JsonDocument> ReadJsonAsync(HttpResponseMessage response, CancellationToken cancellationToken)
    {
        await using Stream stream = await response.Content.ReadAsStreamAsync(cancellationToken);
        return await JsonDocument.ParseAsync(stream, new JsonDocumentOptions { MaxDepth = 1024 }, cancellationToken);
    }

    /// <summary>Encodes one JSON object.</summary>
    internal static byte[] Json(Action<Utf8JsonWriter> properties)
    {
        var buffer = new ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(buffer))
        {
            writer.WriteStartObject();
            properties(writer);
            writer.WriteEndObject();
        }

        return buffer.WrittenSpan.ToArray();
    }

    internal static HttpContent JsonContent(ReadOnlyMemory<byte> body) =>
        new ReadOnlyMemoryContent(body) { Headers = { ContentType = new MediaTypeHeaderValue("application/json") } };

    private static async Task<ServerException> ErrorOfAsync(HttpResponseMessage response, CancellationToken cancellationToken)
    {
        byte[] body = await response.Content.ReadAsByteArrayAsync(cancellationToken);
        (string type, string message) = ("", "");
        try
        {
            using JsonDocument error = JsonDocument.Parse(body);
            type = Text(error.RootElement, "Type");
            message = Text(error.RootElement, "Message") is { Length: > 0 } said ? said : Text(error.RootElement, "Error");
        }
        catch (JsonException)
        {
            message = Encoding.UTF8.GetString(body.AsSpan(0, Math.Min(body.Length, 500)));
        }

        if (message.Length == 0)
            message =
                $"The server answers {(int)response.StatusCode} {response.ReasonPhrase} to "
                    + $"{response.RequestMessage?.RequestUri}.";

        bool missing = response.Headers.Contains("Database-Missing");
        return new ServerException(message, response.StatusCode, missing ? "DatabaseDoesNotExistException" : type);
    }

    private static string Text(JsonElement error, string name) =>
        error.ValueKind == JsonValueKind.Object
            && error.TryGetProperty(name, out JsonElement value)
            && value.ValueKind == JsonValueKind.String
            ? value.GetString() ?? ""
            : "";
}
