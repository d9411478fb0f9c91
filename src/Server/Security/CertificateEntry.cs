using System.Security.Cryptography.X509Certificates;

namespace Treepie.Server.Security;

/// <summary>A registered certificate with the rights of its holder. Immutable.</summary>
internal sealed record CertificateEntry : AccessIdentity
{
    /// <summary>The SHA-256 hash of the certificate in hexadecimal: its identity.</summary>
    public required string Fingerprint { get; init; }

    /// <summary>
    /// Its SHA-1 hash, by which clients name certificates. Not used for authentication, except for thumbprints given on the
    /// command line.
    /// </summary>
    public required string Thumbprint { get; init; }

    /// <summary>The SHA-256 hash of its public key, in base64.</summary>
    public required string Pin { get; init; }

    /// <summary>The certificate, in DER.</summary>
    public required byte[] Certificate { get; init; }

    /// <summary>
    /// The issuer certificates registered with it, in DER: a renewed certificate must be signed by one of them.
    /// </summary>
    public IReadOnlyList<byte[]> Issuers { get; init; } = [];

    /// <summary>Whether it was given on the command line; it cannot be changed by requests then.</summary>
    public bool IsWellKnown { get; init; }

    public override string Mark => Thumbprint;

    public override string Kind => "certificate";

    protected override string PrincipalName => Fingerprint;

    /// <summary>Creates the entry of a certificate, with the other certificates that came with it as issuers.</summary>
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

    /// <summary>Returns whether a thumbprint, SHA-1 or SHA-256, is that of this certificate.</summary>
    public bool IsNamedBy(string thumbprint) =>
        string.Equals(thumbprint, Thumbprint, StringComparison.OrdinalIgnoreCase)
            || string.Equals(thumbprint, Fingerprint, StringComparison.OrdinalIgnoreCase);
}
