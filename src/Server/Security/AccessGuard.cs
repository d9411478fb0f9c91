namespace Treepie.Server.Security;

/// <summary>
/// Admits a request if the rights of its caller are sufficient for the level of its endpoint. An endpoint without a level is
/// closed to everybody, in case it was forgotten. A server without certificates, which listens only on loopback, trusts every
/// caller.
/// </summary>
internal sealed class AccessGuard(RequestDelegate next, AccessControl control)
{
    public Task InvokeAsync(HttpContext http)
    {
        Endpoint? endpoint = http.GetEndpoint();
        if (endpoint is null)
            return next(http);

        RequiredAccess? access = endpoint.Metadata.GetMetadata<RequiredAccess>();
        if (access is null)
            return Refusal.WriteAsync(http,
                $"{http.Request.Method} {http.Request.Path.Value} is not accessible: it declares no required permissions.");

        return access.Level == AccessLevel.Anyone || control.Certificates is null
            ? next(http)
            : CheckAsync(http, access, control.Certificates);
    }

    private async Task CheckAsync(HttpContext http, RequiredAccess access, CertificateRegistry certificates)
    {
        (Caller? caller, string? complaint) = await FindCallerAsync(http, certificates, control.Tokens).ConfigureAwait(false);
        if (caller is not null)
        {
            string? database = access.DatabaseOf(http);
            complaint = caller.Rights.Suffice(access.Level, database)
                ? null
                : Refusal.Complaint(http, access.Level, caller, database);
        }

        if (caller is null || complaint is not null)
        {
            control.Audit.Refused(http, caller?.Identity, complaint ?? "");
            await Refusal.WriteAsync(http, complaint ?? "").ConfigureAwait(false);
            return;
        }

        http.Features.Set(caller);
        http.User = caller.Identity?.Principal ?? http.User;
        control.Audit.Passed(http, caller, access);
        await next(http).ConfigureAwait(false);
    }

    private static async ValueTask<(Caller? Caller, string? Complaint)> FindCallerAsync(
        HttpContext http, CertificateRegistry certificates, TokenRegistry? tokens)
    {
        // A token takes precedence over the certificate of the connection.
        if (TokenOf(http) is { } token)
        {
            (TokenEntry? known, string? unknown) = tokens?.Identify(token) ?? (null, "This server takes no tokens.");
            return (known is null ? null : Caller.With(known), unknown);
        }

        if (http.Features.Get<PresentedCertificate>() is not { } presented)
            return (
                null, "This server requires a client certificate or a token for authentication, and the client provided none.");

        (CertificateEntry? entry, string? complaint) = await certificates.IdentifyAsync(presented).ConfigureAwait(false);
        return (entry is null ? null : Caller.With(entry), complaint);
    }

    private static string? TokenOf(HttpContext http)
    {
        const string Scheme = "Bearer ";
        string? header = http.Request.Headers.Authorization;
        return header?.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase) == true ? header[Scheme.Length..].Trim() : null;
    }
}
