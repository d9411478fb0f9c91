using System.Buffers.Text;
using System.Security.Cryptography;
using Treepie.Server.Databases;
using Treepie.Server.Http;
using Treepie.Server.Operations;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Keys of encrypted databases: generating a key, giving a key to the server before its database is created or after a
/// restart, changing it, and rotating data keys. The server never returns a key that it was given. Keys are sent in the body,
/// not in the URL, which proxies and logs store.
/// </summary>
internal static class SecretsEndpoints
{
    private const int KeyBytes = 32;

    /// <summary>Much longer than a key in any format.</summary>
    private const int MaxBodyBytes = 4 * 1024;

    public static void Map(Routes routes)
    {
        routes.Server("GET", "/admin/secrets/generate", AccessLevel.Operator, Generate);
        routes.Server("POST", "/admin/secrets", AccessLevel.Operator, Give);
        routes.Server("POST", "/admin/secrets/distribute", AccessLevel.Operator, Give);
        routes.Rest(
            "/admin/secrets", AccessLevel.Operator,
            static _ => throw WireException.BadRequest(
                "The server accepts keys (POST) but never returns them. Keep a copy of each key yourself."));
        routes.Database("POST", "/admin/encryption/key", AccessLevel.Operator, Change);
        routes.DatabaseLease("POST", "/admin/encryption/rotate", AccessLevel.Operator, Rotate);
    }

    /// <summary>Responds with a new random key as base64 text, which the server does not store.</summary>
    private static Task Generate(HttpServerRequest request)
    {
        SecretTransport.Require(request.Http);
        Span<byte> key = stackalloc byte[KeyBytes];
        RandomNumberGenerator.Fill(key);
        Span<byte> text = stackalloc byte[Base64.GetMaxEncodedToUtf8Length(KeyBytes)];
        Base64.EncodeToUtf8(key, text, out _, out int length);
        request.StatusCode = StatusCodes.Status200OK;
        request.Http.Response.ContentType = "text/plain; charset=us-ascii";
        request.SetHeader("Cache-Control", "no-store");
        request.Output.Write(text[..length]);
        CryptographicOperations.ZeroMemory(key);
        CryptographicOperations.ZeroMemory(text);
        return Task.CompletedTask;
    }

    private static async Task Give(HttpServerRequest request)
    {
        SecretTransport.Require(request.Http);
        string name = request.RequiredParameter("name");
        if (request.Parameters("node").Any(static node => !string.IsNullOrEmpty(node) && node != TopologyEndpoints.NodeTag))
            throw WireException.BadRequest(
                $"The key is meant for other nodes too (node=); this server is one node alone, '{TopologyEndpoints.NodeTag}'. "
                    + $"Nothing was kept.");

        bool keep = request.Flag("keep", otherwise: true);
        bool overwrite = request.Flag("overwrite");
        using RequestBody body = await ReadKeyAsync(request).ConfigureAwait(false);
        try
        {
            request.Server.Databases.Source.GiveKey(name, body.Span, keep, overwrite);
        }
        catch (ArgumentException exception)
        {
            throw WireException.BadRequest(exception.Message, exception);
        }
        finally
        {
            body.Wipe();
        }

        await request.EmptyAsync(StatusCodes.Status201Created).ConfigureAwait(false);
    }

    private static async Task Change(HttpServerRequest request, Database database)
    {
        SecretTransport.Require(request.Http);
        using RequestBody body = await ReadKeyAsync(request).ConfigureAwait(false);
        try
        {
            if (!database.IsEncrypted)
                throw NotEncrypted(database);
            request.Server.Databases.Source.ChangeKey(database.Name, body.Span);
        }
        finally
        {
            body.Wipe();
        }

        await request.NoContentAsync().ConfigureAwait(false);
    }

    private static async Task Rotate(HttpServerRequest request, DatabaseLease lease)
    {
        SecretTransport.Require(request.Http);
        if (!lease.Database.IsEncrypted)
            throw NotEncrypted(lease.Database);

        await OperationsEndpoints.WriteStartedAsync(
            request, KeyRotation.Start(request.Server, request.Server.Operations, lease.Database))
            .ConfigureAwait(false);
    }

    private static async Task<RequestBody> ReadKeyAsync(HttpServerRequest request)
    {
        RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        return body.Length > 0
            ? body
            : throw WireException.BadRequest(
                $"The request has no body; expected is the key: {KeyBytes} bytes in base64, as GET /admin/secrets/generate gives "
                    + $"one.");
    }

    private static WireException NotEncrypted(Database database) =>
        WireException.BadRequest(
            $"Database '{database.Name}' is not encrypted, so it has no key. Encryption is chosen when a database is made.");
}
