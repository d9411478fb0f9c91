using System.Net;

namespace Treepie.Server.Security;

/// <summary>
/// An address the server may listen on. As long as there is neither TLS nor authentication that is this machine alone: whoever reaches the
/// port can read and delete everything.
/// </summary>
/// <param name="Address">The loopback address; null: <c>localhost</c>, all there are.</param>
/// <param name="Port">The port; 0: a free one.</param>
internal sealed record BindAddress(IPAddress? Address, int Port)
{
    /// <exception cref="CommandLineException">It is not a loopback address over plain HTTP.</exception>
    public static BindAddress Parse(string url)
    {
        // The wildcards of ASP.NET and of http.sys are no valid host names; they get their answer below.
        string readable = url.Replace("://*", "://0.0.0.0", StringComparison.Ordinal).Replace("://+", "://0.0.0.0", StringComparison.Ordinal);
        if (!Uri.TryCreate(readable, UriKind.Absolute, out Uri? uri) || uri.HostNameType is UriHostNameType.Unknown or UriHostNameType.Basic)
            throw new CommandLineException($"'{url}' is not an address to listen on; write it as http://127.0.0.1:8080.");

        if (uri.Scheme == Uri.UriSchemeHttps)
            throw new CommandLineException($"Cannot listen on {url}: TLS is not built yet. Use http:// with a loopback address, for instance http://127.0.0.1:8080.");

        if (uri.Scheme != Uri.UriSchemeHttp)
            throw new CommandLineException($"Cannot listen on {url}: only http:// addresses are known, for instance http://127.0.0.1:8080.");

        if (uri.PathAndQuery != "/")
            throw new CommandLineException($"Cannot listen on {url}: an address ends with its port; '{uri.PathAndQuery}' is too much.");

        if (string.Equals(uri.Host, "localhost", StringComparison.OrdinalIgnoreCase))
            return new BindAddress(null, uri.Port);

        if (IPAddress.TryParse(uri.Host.Trim('[', ']'), out IPAddress? address) && IPAddress.IsLoopback(address))
            return new BindAddress(address, uri.Port);

        throw new CommandLineException(
            $"Refused to listen on {url}: it can be reached from other machines, and nobody would be asked for a password. " +
            "Treepie listens on other addresses only with TLS and authentication, which come in a later version. " +
            "Until then use http://127.0.0.1:8080, or put a proxy that authenticates before it. Nothing was started or created.");
    }
}
