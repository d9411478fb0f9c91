using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Treepie.Server.Security;

/// <summary>
/// The certificate of a client, whose key it has: the handshake proved that. What requests ask of it is worked out once, when the
/// connection is made.
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

    /// <summary>SHA-256 of all of it: who it is.</summary>
    public string Fingerprint { get; }

    /// <summary>SHA-256 of its public key: a renewed certificate may have the same one.</summary>
    public string Pin { get; }

    public DateTime NotBefore { get; }

    public DateTime NotAfter { get; }

    /// <summary>Its entry if the command line names it as an administrator's.</summary>
    public CertificateEntry AsAdministrator =>
        _administrator ??= CertificateEntry.For(Certificate, [], "Administrator of the command line", Rights.All)
            with
        { IsWellKnown = true };

    /// <summary>For messages.</summary>
    public string Description =>
        $"'{Certificate.GetNameInfo(X509NameType.SimpleName, forIssuer: false)}' ({Certificate.Thumbprint})";

    public static string FingerprintOf(X509Certificate2 certificate) =>
        Convert.ToHexString(SHA256.HashData(certificate.RawDataMemory.Span));

    public static string PinOf(X509Certificate2 certificate) =>
        Convert.ToBase64String(SHA256.HashData(certificate.PublicKey.ExportSubjectPublicKeyInfo()));
}
