using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Treepie.Server.Security;

/// <summary>
/// The certificate presented by a client; the handshake has verified that the client has its key. The values needed by
/// requests are computed once per connection.
/// </summary>
internal sealed class PresentedCertificate
{
    private CertificateEntry? _administrator;

    public PresentedCertificate(X509Certificate2 certificate)
    {
        Certificate = certificate;
        Fingerprint = FingerprintOf(certificate);
        Pin = PinOf(certificate);
        NotBefore = certificate.NotBefore.ToUniversalTime();
        NotAfter = certificate.NotAfter.ToUniversalTime();
    }

    public X509Certificate2 Certificate { get; }

    /// <summary>The SHA-256 hash of the certificate, which identifies it.</summary>
    public string Fingerprint { get; }

    /// <summary>The SHA-256 hash of its public key, which a renewed certificate may share.</summary>
    public string Pin { get; }

    public DateTime NotBefore { get; }

    public DateTime NotAfter { get; }

    /// <summary>The entry of an administrator whose thumbprint was given on the command line.</summary>
    public CertificateEntry AsAdministrator =>
        _administrator ??= CertificateEntry.For(Certificate, [], "Administrator of the command line", Rights.All)
            with
        { IsWellKnown = true };

    /// <summary>A description for messages.</summary>
    public string Description =>
        $"'{Certificate.GetNameInfo(X509NameType.SimpleName, forIssuer: false)}' ({Certificate.Thumbprint})";

    public static string FingerprintOf(X509Certificate2 certificate) =>
        Convert.ToHexString(SHA256.HashData(certificate.RawDataMemory.Span));

    public static string PinOf(X509Certificate2 certificate) =>
        Convert.ToBase64String(SHA256.HashData(certificate.PublicKey.ExportSubjectPublicKeyInfo()));
}
