using System.Buffers;
using System.Globalization;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Treepie.BackupTasks;
using Treepie.Storage;

namespace Treepie.CommandLine.Http;

/// <summary>
/// The server as this program sees it. All requests go over one connection, which is kept and used again: a request waits for the
/// one before it. Errors of the server come as <see cref="ServerException"/>, no server at all as
/// <see cref="HttpRequestException"/>.
/// </summary>
internal sealed class ServerClient : IDisposable
{
    private readonly HttpClient _http;

    /// <summary>Nothing is sent before the first request.</summary>
    /// <param name="url">Where the server is.</param>
    /// <param name="identity">Who asks; null: nobody in particular.</param>
    public ServerClient(Uri url, ClientIdentity? identity = null)
    {
        Url = url;
        var handler = new SocketsHttpHandler
        {
            MaxConnectionsPerServer = 1,
            ConnectTimeout = TimeSpan.FromSeconds(10),
            AllowAutoRedirect = false,
            UseCookies = false,
            UseProxy = !url.IsLoopback, // a proxy of the environment cannot reach the loopback of this machine
        };

        identity?.ApplyTo(handler.SslOptions);

        // A query may wait for its index and an import of a large batch for the disk: the person decides with Ctrl-C, not a
        // clock.
        _http = new HttpClient(handler)
        {
            BaseAddress = new Uri(url.AbsoluteUri.TrimEnd('/') + "/"),
            Timeout = Timeout.InfiniteTimeSpan
        };
        ClientIdentity.AddToken(url, _http.DefaultRequestHeaders);
        _http.DefaultRequestHeaders.UserAgent.Add(
            new ProductInfoHeaderValue("treepie", typeof(ServerClient).Assembly.GetName().Version?.ToString(3)));
    }

    /// <summary>Where it is, for messages.</summary>
    public Uri Url { get; }

    /// <summary>Requests about the documents of one database; does not ask whether it exists.</summary>
    public DatabaseClient Database(string name) => new(this, name);

    /// <summary>Names of all databases.</summary>
    public async Task<IReadOnlyList<string>> DatabaseNamesAsync(CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await SendAsync(HttpMethod.Get, "databases?namesOnly=true", null, cancellationToken);
        using JsonDocument answer = await ReadJsonAsync(response, cancellationToken);
        return [.. answer.RootElement.GetProperty("Databases").EnumerateArray().Select(name => name.GetString() ?? "")];
    }

    /// <summary>Creates a database; false if there is one of that name.</summary>
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

    /// <summary>Deletes a database with its files; deleting what is not there is no error.</summary>
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
    /// Restores a backup to a new database: <c>POST admin/restore/upload</c>. Gives what the server says is in it.
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
            throw inner; // what was to be sent could not be read
        }
    }

    /// <summary>
    /// Begins to restore what lies at a place, which the server reads itself, and gives the number of the operation: <c>POST
    /// admin/restore/database</c>. The keys of a bucket go along where the environment has them.
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

    /// <summary>How far an operation of the server is: <c>GET operations/state</c>. To be disposed.</summary>
    public async Task<JsonDocument> OperationStateAsync(long id, CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await SendAsync(
            HttpMethod.Get, string.Create(CultureInfo.InvariantCulture, $"operations/state?id={id}"), null, cancellationToken);
        return await ReadJsonAsync(response, cancellationToken);
    }

    /// <summary>Ends an operation as soon as it looks: <c>POST admin/operations/kill</c>.</summary>
    public async Task KillAsync(long id, CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await SendAsync(
            HttpMethod.Post, string.Create(CultureInfo.InvariantCulture, $"admin/operations/kill?id={id}"), null,
            cancellationToken);
    }

    /// <inheritdoc/>
    public void Dispose() => _http.Dispose();

    /// <summary>Sends one request and returns when the head of its answer is there, which is then a success.</summary>
    /// <exception cref="ServerException">The answer is an error.</exception>
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

    /// <summary>The bytes of one JSON object.</summary>
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
