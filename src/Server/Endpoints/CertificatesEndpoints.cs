using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Client certificates: listing, registering, generating, changing and deleting them. Operators manage those of users and
/// operators; those of administrators can only be changed by administrators.
/// </summary>
internal static class CertificatesEndpoints
{
    /// <summary>Enough for a certificate with its issuers, and rights in thousands of databases.</summary>
    private const int MaxBodyBytes = 1024 * 1024;

    public static void Map(Routes routes)
    {
        routes.Server("GET", "/admin/certificates", AccessLevel.Operator, List);
        routes.Server("PUT", "/admin/certificates", AccessLevel.Operator, Register);
        routes.Server("POST", "/admin/certificates", AccessLevel.Operator, Generate);
        routes.Server("POST", "/admin/certificates/generate", AccessLevel.Operator, Generate);
        routes.Server("POST", "/admin/certificates/edit", AccessLevel.Operator, Edit);
        routes.Server("DELETE", "/admin/certificates", AccessLevel.Operator, Delete);
        routes.Server("GET", "/certificates/whoami", AccessLevel.ValidUser, WhoAmI);
        routes.Rest("/admin/certificates/replace-cluster-cert", AccessLevel.ClusterAdmin, static _ =>
            throw WireException.NotBuilt(
            "Replacing the server's certificate over HTTP (replace its file: it is read again as soon as it changes)"));
    }

    private static Task List(HttpServerRequest request)
    {
        CertificateRegistry certificates = Registry(AccessChanges.Require(request));
        bool withCertificate = !request.Flag("metadataOnly");
        IEnumerable<CertificateEntry> listed;
        if (request.Parameter("thumbprint") is { Length: > 0 } thumbprint)
        {
            if (certificates.Find(thumbprint) is not { } found)
                return request.EmptyAsync(StatusCodes.Status404NotFound);

            listed = [found];
        }
        else
        {
            string? name = request.Parameter("name") is { Length: > 0 } given ? given : null;
            int start = (int)Math.Min(request.Number("start", 0), int.MaxValue);
            int pageSize = (int)Math.Min(request.Number("pageSize", int.MaxValue), int.MaxValue);
            listed = certificates.All.Where(entry => name is null
                || string.Equals(entry.Name, name, StringComparison.OrdinalIgnoreCase)).Skip(start).Take(pageSize);
        }

        return request.JsonAsync((listed, withCertificate), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteStartArray("Results");
            foreach (CertificateEntry entry in state.listed)
                CertificateJson.Write(json, entry, state.withCertificate);
            json.WriteEndArray();
            json.WriteEndObject();
        });
    }

    private static Task WhoAmI(HttpServerRequest request)
    {
        AccessChanges.Require(request);
        return request.JsonAsync(Caller.Of(request), static (json, caller) =>
        {
            if (caller.Identity is CertificateEntry entry)
                CertificateJson.Write(json, entry, withCertificate: false);
            else if (caller.Identity is TokenEntry token)
                TokenJson.Write(json, token);
            else
                json.WriteNullValue();
        });
    }

    private static async Task Register(HttpServerRequest request)
    {
        CertificateRegistry certificates = Registry(AccessChanges.Begin(request));
        using RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        using JsonDocument document = WireJson.ParseObject(body,
            "{\"Name\":…,\"Certificate\":…,\"SecurityClearance\":…,\"Permissions\":{…}}");
        RefuseSecondFactor(document.RootElement);
        (string name, Rights rights) = AccessChanges.ReadDefinition(request, document.RootElement);
        X509Certificate2Collection given = ReadCertificate(document.RootElement);
        try
        {
            X509Certificate2 own = given[0];
            if (own.NotAfter.ToUniversalTime() < request.Server.Clock.GetUtcNow().UtcDateTime)
                throw WireException.BadRequest(
                    $"The certificate '{name}' expired at {own.NotAfter.ToUniversalTime():u}. Nothing was changed.");

            CertificateEntry entry = CertificateEntry.For(own, given.Skip(1), name, rights);
            RequireAuthorityOver(request, certificates.WithKeyOf(entry));
            await certificates.PutAsync(entry).ConfigureAwait(false);
            request.Server.Control?.Audit.Changed(request, "registered", entry);
        }
        finally
        {
            foreach (X509Certificate2 one in given)
                one.Dispose();
        }

        request.EndEmpty(StatusCodes.Status201Created);
    }

    private static async Task Generate(HttpServerRequest request)
    {
        CertificateRegistry certificates = Registry(AccessChanges.Begin(request));
        using RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        using JsonDocument document = WireJson.ParseObject(body,
            "{\"Name\":…,\"SecurityClearance\":…,\"Permissions\":{…},\"Password\":…}");
        RefuseSecondFactor(document.RootElement);
        (string name, Rights rights) = AccessChanges.ReadDefinition(request, document.RootElement);
        string? password = WireJson.Text(document.RootElement, "Password", required: false) is { Length: > 0 } given
            ? given
            : null;

        // Generating a key takes tenths of a second, so it must not block the request thread.
        (byte[] zip, CertificateEntry entry) = await Task.Run(() =>
            ClientCertificateMaker.Make(name, rights, password, request.Server.Clock), request.Aborted).ConfigureAwait(false);
        await certificates.PutAsync(entry).ConfigureAwait(false);
        request.Server.Control?.Audit.Changed(request, "made", entry);
        request.StatusCode = StatusCodes.Status201Created;
        request.Http.Response.ContentType = "application/octet-stream";
        request.SetHeader("Content-Disposition", $"attachment; filename=\"{ClientCertificateMaker.FileNameOf(name)}.zip\"");
        request.SetHeader("Cache-Control", "no-store");
        request.Output.Write(zip);
        CryptographicOperations.ZeroMemory(zip);
    }

    private static async Task Edit(HttpServerRequest request)
    {
        CertificateRegistry certificates = Registry(AccessChanges.Begin(request));
        using RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        using JsonDocument document = WireJson.ParseObject(body,
            "{\"Thumbprint\":…,\"Name\":…,\"SecurityClearance\":…,\"Permissions\":{…}}");
        string thumbprint = CertificateJson.Text(document.RootElement, "Thumbprint");
        CertificateEntry old = certificates.Find(thumbprint) ?? throw CertificateRegistry.NotThere(thumbprint);
        (string name, Rights rights) = AccessChanges.ReadDefinition(request, document.RootElement);
        RequireAuthorityOver(request, certificates.WithKeyOf(old));
        await certificates.EditAsync(old.Fingerprint, name, rights).ConfigureAwait(false);
        request.Server.Control?.Audit.Changed(request, "changed", old with { Name = name, Rights = rights });
        await request.NoContentAsync().ConfigureAwait(false);
    }

    private static async Task Delete(HttpServerRequest request)
    {
        CertificateRegistry certificates = Registry(AccessChanges.Begin(request));
        string thumbprint = request.RequiredParameter("thumbprint");
        CertificateEntry entry = certificates.Find(thumbprint) ?? throw CertificateRegistry.NotThere(thumbprint);
        RequireAuthorityOver(request, certificates.WithKeyOf(entry));
        if (Caller.Of(request).Identity is CertificateEntry own && own.Pin == entry.Pin)
            throw WireException.BadRequest(
                $"The certificate '{entry.Name}' is the one this request came with. Somebody else must delete it. Nothing was "
                + "changed.");

        await certificates.RemoveAsync(entry).ConfigureAwait(false);
        request.Server.Control?.Audit.Changed(request, "deleted", entry);
        await request.NoContentAsync().ConfigureAwait(false);
    }

    /// <summary>Requires authority over all certificates with one key, since they are changed together.</summary>
    private static void RequireAuthorityOver(HttpServerRequest request, IReadOnlyList<CertificateEntry> entries)
    {
        foreach (CertificateEntry entry in entries)
            AccessChanges.RequireAuthorityOver(request, entry);
    }

    private static CertificateRegistry Registry(AccessControl control) =>
        control.Certificates
            ?? throw new InvalidOperationException("Access control without certificates is not required anywhere.");

    // Settings that are not enforced must not appear to protect.
    private static void RefuseSecondFactor(JsonElement body)
    {
        if (body.TryGetProperty("TwoFactorAuthenticationKey", out JsonElement key)
            && key.ValueKind is not (JsonValueKind.Null or JsonValueKind.Undefined))
            throw WireException.NotBuilt("A second factor of certificates (TwoFactorAuthenticationKey)");
    }

    /// <summary>Reads base64 of DER, of PEM, or of a PFX file without a password. A private key is not kept.</summary>
    private static X509Certificate2Collection ReadCertificate(JsonElement body)
    {
        byte[] content;
        try
        {
            content = Convert.FromBase64String(CertificateJson.Text(body, "Certificate"));
        }
        catch (FormatException exception)
        {
            throw WireException.BadRequest("'Certificate' is not base64. Nothing was changed.", exception);
        }

        try
        {
            return X509Certificate2.GetCertContentType(content) == X509ContentType.Pkcs12
                ? OwnFirst(X509CertificateLoader.LoadPkcs12Collection(content, null, X509KeyStorageFlags.EphemeralKeySet))
                : CertificateFiles.ReadPublic(content);
        }
        catch (CryptographicException exception)
        {
            throw WireException.BadRequest(
                "'Certificate' is none: expected is a certificate in DER or PEM, or a PFX file without a password, in base64. "
                + "Nothing was changed.", exception);
        }
    }

    private static X509Certificate2Collection OwnFirst(X509Certificate2Collection all) =>
        all.Count > 0
            ? [.. all.OrderByDescending(static one => one.HasPrivateKey)]
            : throw new CryptographicException("It holds no certificate.");
}
