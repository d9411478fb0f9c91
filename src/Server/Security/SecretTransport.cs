using System.Net;
using Treepie.Server.Http;

namespace Treepie.Server.Security;

/// <summary>
/// Keys travel over TLS or inside one machine, and nowhere else: what goes plain through a network is no secret any more.
/// </summary>
internal static class SecretTransport
{
    /// <exception cref="WireException">The request came over neither.</exception>
    public static void Require(HttpContext http)
    {
        // Without an address it is a Unix socket, or a server inside the process.
        IPAddress? from = http.Connection.RemoteIpAddress;
        if (http.Request.IsHttps || from is null || IPAddress.IsLoopback(from.IsIPv4MappedToIPv6 ? from.MapToIPv4() : from))
            return;

        throw new WireException(
            StatusCodes.Status403Forbidden, WireTypes.Authorization,
            "Keys of databases are given and made only over TLS (https://) or from the server's own machine: this request came "
                + "over neither. Nothing was changed; if it carried a key, make another one.");
    }
}
