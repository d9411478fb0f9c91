using System.Net;

namespace Treepie.Server.Security;

/// <summary>
/// The host names by which clients reach the server: loopback names, that of <c>--public-url</c>, and those in its
/// certificate.
/// </summary>
/// <param name="publicUrl">The address that clients are told to use; null: the one they used.</param>
/// <param name="certificate">The server's certificate; null: it has none, and is reached only from its own machine.</param>
internal sealed class ServerNames(Uri? publicUrl = null, ServerCertificate? certificate = null)
{
    /// <summary>A suggestion for error messages.</summary>
    public string Hint => certificate is null
        ? "Use http://127.0.0.1 or http://localhost."
        : "Use a name that its certificate is for, or say with --public-url how clients reach it.";

    public bool Includes(string host) =>
        IsLoopback(host) || (publicUrl is not null && string.Equals(host, publicUrl.Host, StringComparison.OrdinalIgnoreCase))
            || certificate?.IsFor(host) == true;

    private static bool IsLoopback(string host) =>
        host == "127.0.0.1"
        || string.Equals(host, "localhost", StringComparison.OrdinalIgnoreCase)
        || (IPAddress.TryParse(host.Trim('[', ']'), out IPAddress? address) && IPAddress.IsLoopback(address));
}
