using System.Net;

namespace Treepie.Server.Security;

/// <summary>
/// Keeps web pages away from a server that trusts everybody on its machine. A page of a foreign name that resolves to 127.0.0.1 (DNS
/// rebinding) betrays itself by the Host header, a page of another site by Origin or Sec-Fetch-Site; programs send neither of the latter.
/// </summary>
internal sealed class LoopbackGuard(RequestDelegate next)
{
    public Task InvokeAsync(HttpContext http)
    {
        string? complaint = ComplaintAbout(http.Request);
        return complaint is null ? next(http) : Refusal.WriteAsync(http, complaint);
    }

    private static string? ComplaintAbout(HttpRequest request)
    {
        if (!IsLoopbackName(request.Host.Host))
            return $"The request names the host '{request.Host.Value}', which is not this machine. Use http://127.0.0.1 or http://localhost.";

        string origin = request.Headers.Origin.ToString();
        if (origin.Length > 0 && !string.Equals(origin, $"{request.Scheme}://{request.Host.Value}", StringComparison.OrdinalIgnoreCase))
            return $"The request comes from a web page of '{origin}'. Only pages of this server may use it.";

        return request.Headers["Sec-Fetch-Site"].ToString() is "cross-site" or "same-site"
            ? "The request comes from a web page of another site. Only pages of this server may use it."
            : null;
    }

    private static bool IsLoopbackName(string host) =>
        string.Equals(host, "localhost", StringComparison.OrdinalIgnoreCase)
        || (IPAddress.TryParse(host.Trim('[', ']'), out IPAddress? address) && IPAddress.IsLoopback(address));
}
