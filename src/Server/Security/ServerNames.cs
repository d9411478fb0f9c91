using System.Net;

namespace Treepie.Server.Security;

/// <summary>
/// The names by which clients reach the server: this machine's own, that of <c>--public-url</c>, and those its certificate is
/// for.
/// </summary>
/// <param name="publicUrl">The address that clients are told; null: the one they used.</param>
/// <param name="certificate">The server's certificate; null: it has none, and is reached from its own machine only.</param>
internal sealed class ServerNames(Uri? publicUrl = null, ServerCertificate? certificate = null)
{
    /// <summary>What to do instead.</summary>
    public string Hint => certificate is null
        ? "Use http://127.0.0.1 or http://localhost."
        : "Use a name that its certificate is for, or say with --public-url how clients reach it.";

    public bool Includes(string host) =>
        IsLoopback(host) || (publicUrl is not null && string.Equals(host, publicUrl.Host, StringComparison.OrdinalIgnoreCase))
            || certificate?.IsFor(host) == true;

    private static bool IsLoopback(string host) =>
        string.Equals(host, "localhost", StringComparison.OrdinalIgnoreCase)
        || (IPAddress.TryParse(host.Trim('[', ']'), out IPAddress? address) && IPAddress.IsLoopback(address));
}
