namespace Treepie.Server.Security;

/// <summary>
/// Rejects requests of foreign web pages, which a browser would send from the user's machine or with the user's certificate.
/// A page whose host name resolves to this server (DNS rebinding) is detected by the Host header; a page of another site by
/// Origin or Sec-Fetch-Site, which programs do not send.
/// </summary>
internal sealed class OriginGuard(RequestDelegate next, ServerNames names)
{
    public Task InvokeAsync(HttpContext http)
    {
        string? complaint = ComplaintAbout(http.Request);
        return complaint is null ? next(http) : Refusal.WriteAsync(http, complaint);
    }

    private string? ComplaintAbout(HttpRequest request)
    {
        if (!names.Includes(request.Host.Host))
            return $"The request names the host '{request.Host.Value}', which is not this server. {names.Hint}";

        string origin = request.Headers.Origin.ToString();
        if (origin.Length > 0
            && !string.Equals(origin, $"{request.Scheme}://{request.Host.Value}", StringComparison.OrdinalIgnoreCase))
            return $"The request comes from a web page of '{origin}'. Only pages of this server may use it.";

        return request.Headers["Sec-Fetch-Site"].ToString() is "cross-site" or "same-site"
            ? "The request comes from a web page of another site. Only pages of this server may use it."
            : null;
    }
}
