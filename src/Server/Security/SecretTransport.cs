using System.Net;
using Treepie.Server.Http;

namespace Treepie.Server.Security;

/// <summary>
/// Allows keys to be sent only over TLS or within the machine, because a key sent unencrypted over a network is no longer
/// secret.
/// </summary>
internal static class SecretTransport
{
    /// <exception cref="WireException">The request came over neither.</exception>
    public static void Require(HttpContext http)
    {
        // Without an address, it is a Unix socket or an in-process server.
        IPAddress? from = http.Connection.RemoteIpAddress;
        if (http.Request.IsHttps || from is null || IPAddress.IsLoopback(from.IsIPv4MappedToIPv6 ? from.MapToIPv4() : from))
            return;

        throw new WireException(
            StatusCodes.Status403Forbidden, WireTypes.Authorization,
            "Keys of databases are given and made only over TLS (https://) or from the server's own machine: this request came "
                + "over neither. Nothing was changed; if it carried a key, make another one.");
    }
}
