using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Treepie.CommandLine.Certificates;

namespace Treepie.Clients.Tests.Node;

/// <summary>
/// Certificates of clients beside those that <c>treepie secure</c> makes: a user's and two that claim to renew it, a stranger's,
/// and one that is expired.
/// </summary>
internal static class NodeCertificates
{
    public static void Write(string folder)
    {
        using var authority = new LocalAuthority(
            X509Certificate2.CreateFromPemFile(Path.Combine(folder, "authority.crt"), Path.Combine(folder, "authority.key")),
            new OffsetClock(0));
        using var later = new LocalAuthority(
            X509Certificate2.CreateFromPemFile(Path.Combine(folder, "authority.crt"), Path.Combine(folder, "authority.key")),
            new OffsetClock(1));
        using LocalAuthority old = LocalAuthority.Create("Old", new OffsetClock(-3650)),
            forger = LocalAuthority.Create("Treepie authority of localhost", new OffsetClock(1));
        using RSA user = RSA.Create(2048), stranger = RSA.Create(2048);
        Write(folder, "user.pem", authority, user);
        Write(folder, "renewed.pem", later, user);
        Write(folder, "forged.pem", forger, user);
        Write(folder, "unknown.pem", authority, stranger);
        Write(folder, "expired.pem", old, stranger);
    }

    private static void Write(string folder, string file, LocalAuthority authority, RSA key)
    {
        using X509Certificate2 certificate = authority.IssueClient(Path.GetFileNameWithoutExtension(file), key);
        File.WriteAllText(Path.Combine(folder, file), certificate.ExportCertificatePem() + "\n" + key.ExportRSAPrivateKeyPem()
            + "\n");
    }

    /// <summary>Today, so many days ahead: a certificate from a day ahead is valid since now.</summary>
    private sealed class OffsetClock(int days) : TimeProvider
    {
        public override DateTimeOffset GetUtcNow() => DateTimeOffset.UtcNow.AddDays(days);
    }
}
