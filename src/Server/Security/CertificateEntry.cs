using System.Security.Cryptography.X509Certificates;

namespace Treepie.Server.Security;

/// <summary>A certificate that the server knows, and what its holder may do. Immutable.</summary>
internal sealed record CertificateEntry : AccessIdentity
{
    /// <summary>SHA-256 of the certificate in hexadecimal digits: its identity.</summary>
    public required string Fingerprint { get; init; }

    /// <summary>
    /// SHA-1 of it, which clients name certificates by. No certificate is let in for it but one that the command line names so.
    /// </summary>
    public required string Thumbprint { get; init; }

    /// <summary>SHA-256 of its public key, as base64.</summary>
    public required string Pin { get; init; }

    /// <summary>The certificate, in DER.</summary>
    public required byte[] Certificate { get; init; }

    /// <summary>Authorities that came with it, in DER: one of them must have signed a renewed certificate.</summary>
    public IReadOnlyList<byte[]> Issuers { get; init; } = [];

    /// <summary>Whether the command line names it; requests cannot change it then.</summary>
    public bool IsWellKnown { get; init; }

    public override string Mark => Thumbprint;

    public override string Kind => "certificate";

    protected override string PrincipalName => Fingerprint;

    /// <summary>The entry of a certificate, with the authorities among those that came with it.</summary>
    public static CertificateEntry For(X509Certificate2 certificate, IEnumerable<X509Certificate2> others, string name,
        Rights rights) => new()
        {
            Name = name,
            Rights = rights,
            Fingerprint = PresentedCertificate.FingerprintOf(certificate),
            Thumbprint = certificate.Thumbprint,
            Pin = PresentedCertificate.PinOf(certificate),
            NotBefore = certificate.NotBefore.ToUniversalTime(),
            NotAfter = certificate.NotAfter.ToUniversalTime(),
            Certificate = certificate.RawData,
            Issuers = [.. others.Where(other => !other.Equals(certificate)).Select(static other => other.RawData)],
        };

    /// <summary>Whether a thumbprint, SHA-1 or SHA-256, names it.</summary>
    public bool IsNamedBy(string thumbprint) =>
        string.Equals(thumbprint, Thumbprint, StringComparison.OrdinalIgnoreCase)
            || string.Equals(thumbprint, Fingerprint, StringComparison.OrdinalIgnoreCase);
}
