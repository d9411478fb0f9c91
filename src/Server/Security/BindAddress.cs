using System.Net;

namespace Treepie.Server.Security;

/// <summary>
/// An address for the server to listen on. Plain HTTP is only allowed for loopback addresses, because everybody who can reach
/// such a port can read and delete everything. With TLS, which requires client certificates, any address is allowed.
/// </summary>
/// <param name="Address">The IP address; null for <c>localhost</c>, which stands for all loopback addresses.</param>
/// <param name="Port">The port; 0 for a free one.</param>
/// <param name="IsTls">Whether it starts with <c>https://</c>.</param>
internal sealed record BindAddress(IPAddress? Address, int Port, bool IsTls = false)
{
    /// <exception cref="CommandLineException">It is not an address, or plain HTTP on one that other machines can
    /// reach.</exception>
    public static BindAddress Parse(string url)
    {
        // The wildcards of ASP.NET and http.sys are not valid host names: they stand for all addresses of the machine,
        // including IPv6.
        string readable = url.Replace("://*", "://[::]", StringComparison.Ordinal).Replace("://+", "://[::]",
            StringComparison.Ordinal);
        if (!Uri.TryCreate(readable, UriKind.Absolute, out Uri? uri)
            || uri.HostNameType is UriHostNameType.Unknown or UriHostNameType.Basic)
            throw new CommandLineException($"'{url}' is not an address to listen on; write it as http://127.0.0.1:8080.");

        bool isTls = uri.Scheme == Uri.UriSchemeHttps;
        if (!isTls && uri.Scheme != Uri.UriSchemeHttp)
            throw new CommandLineException(
                $"Cannot listen on {url}: only http:// and https:// addresses are known, for instance http://127.0.0.1:8080.");

        if (uri.PathAndQuery != "/")
            throw new CommandLineException(
                $"Cannot listen on {url}: an address ends with its port; '{uri.PathAndQuery}' is too much.");

        if (string.Equals(uri.Host, "localhost", StringComparison.OrdinalIgnoreCase))
            return new BindAddress(null, uri.Port, isTls);

        bool isNumber = IPAddress.TryParse(uri.Host.Trim('[', ']'), out IPAddress? address);
        if (isNumber && (isTls || IPAddress.IsLoopback(address!))) // a number was parsed to an address
            return new BindAddress(address, uri.Port, isTls);

        if (isTls)
        {
            throw new CommandLineException(
                $"Cannot listen on {url}: give an address of this machine in numbers, https://0.0.0.0:{uri.Port} for all of "
                    + $"them, and the name by which clients reach it with --public-url https://{uri.Host}:{uri.Port}.");
        }

        throw new CommandLineException(
            $"Refused to listen on {url}: it can be reached from other machines, and nobody would be asked for a password or "
                + "a certificate. "
            + "Use https:// with --certificate and --admin-certificate; 'treepie secure <directory>' makes both and prints "
            + "the command. "
            + "Or use http://127.0.0.1:8080, and put a proxy that authenticates before it. Nothing was started or created.");
    }
}
