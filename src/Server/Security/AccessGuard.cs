namespace Treepie.Server.Security;

/// <summary>
/// The fallback of access: a request that routing led to an endpoint which names no level is refused, so that an endpoint somebody forgot to classify is closed, not open. Whoever passes
/// this and <see cref="LoopbackGuard"/> has every right as long as there are no identities.
/// </summary>
internal sealed class AccessGuard(RequestDelegate next)
{
    public Task InvokeAsync(HttpContext http)
    {
        Endpoint? endpoint = http.GetEndpoint();
        return endpoint is null || endpoint.Metadata.GetMetadata<RequiredAccess>() is not null
            ? next(http)
            : Refusal.WriteAsync(http, $"{http.Request.Method} {http.Request.Path.Value} is open to nobody: it does not say which rights it demands.");
    }
}
