using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Treepie.CommandLine.Certificates;

/// <summary>
/// A private certificate authority that issues the certificates of a server and its clients. The keys of the authority and the
/// server use the curve P-256, whose handshakes cost a server least. Clients have RSA keys, because RavenDB's client for Node.js
/// reads no other keys from PEM files.
/// </summary>
internal sealed class LocalAuthority(X509Certificate2 certificate, TimeProvider clock) : IDisposable
{
    /// <summary>Size of a client's RSA key in bits.</summary>
    public const int ClientKeyBits = 3072;

    private const int AuthorityYears = 10, ClientYears = 5;

    /// <summary>Some systems refuse a server's certificate that is valid for more than 825 days.</summary>
    private const int ServerDays = 820;

    private const int SerialBytes = 16;
    private const string ServerAuthentication = "1.3.6.1.5.5.7.3.1", ClientAuthentication = "1.3.6.1.5.5.7.3.2";

    /// <summary>Certificate of the authority; it has no private key where the authority is only trusted.</summary>
    public X509Certificate2 Certificate => certificate;

    /// <summary>Creates an authority with a new key.</summary>
    public static LocalAuthority Create(string name, TimeProvider clock)
    {
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest(Subject(name), key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(
            new X509BasicConstraintsExtension(certificateAuthority: true, hasPathLengthConstraint: true, 0, critical: true));
        request.CertificateExtensions.Add(
            new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign | X509KeyUsageFlags.CrlSign, critical: true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        DateTimeOffset now = clock.GetUtcNow();
        return new LocalAuthority(request.CreateSelfSigned(now.AddDays(-1), now.AddYears(AuthorityYears)), clock);
    }

    /// <summary>Issues the certificate of a server that clients reach by these names and addresses.</summary>
    public X509Certificate2 IssueServer(IReadOnlyList<string> names, ECDsa key)
    {
        var request = new CertificateRequest(Subject(names[0]), key, HashAlgorithmName.SHA256);
        var alternatives = new SubjectAlternativeNameBuilder();
        foreach (string name in names)
        {
            if (IPAddress.TryParse(name, out IPAddress? address))
                alternatives.AddIpAddress(address);
            else
                alternatives.AddDnsName(name);
        }

        request.CertificateExtensions.Add(alternatives.Build());
        DateTimeOffset until = clock.GetUtcNow().AddDays(ServerDays);
        return Issue(request, X509KeyUsageFlags.DigitalSignature, ServerAuthentication, until).CopyWithPrivateKey(key);
    }

    /// <summary>Issues the certificate of a client.</summary>
    /// <param name="name">Common name of the client.</param>
    /// <param name="key">Key of the client.</param>
    /// <param name="renews">
    /// End of validity of the certificate to renew. The new one ends later, which is how servers recognize a renewal.
    /// </param>
    public X509Certificate2 IssueClient(string name, RSA key, DateTimeOffset? renews = null)
    {
        var request = new CertificateRequest(Subject(name), key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        DateTimeOffset until = clock.GetUtcNow().AddYears(ClientYears);
        if (renews is { } end && until < end.AddSeconds(1)) // certificates store times in whole seconds
            until = end.AddSeconds(1);
        return Issue(request, X509KeyUsageFlags.DigitalSignature, ClientAuthentication, until).CopyWithPrivateKey(key);
    }

    /// <inheritdoc/>
    public void Dispose() => certificate.Dispose();

    private static X500DistinguishedName Subject(string name)
    {
        const int MostCharacters = 64; // maximum length of a common name (X.520)
        var subject = new X500DistinguishedNameBuilder();
        subject.AddCommonName(name.Length <= MostCharacters ? name : name[..MostCharacters]);
        return subject.Build();
    }

    private X509Certificate2 Issue(CertificateRequest request, X509KeyUsageFlags usage, string purpose, DateTimeOffset until)
    {
        request.CertificateExtensions.Add(
            new X509BasicConstraintsExtension(certificateAuthority: false, hasPathLengthConstraint: false, 0, critical: true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(usage, critical: true));
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension([new Oid(purpose)], critical: false));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        request.CertificateExtensions.Add(
            X509AuthorityKeyIdentifierExtension.CreateFromCertificate(certificate, includeKeyIdentifier: true,
            includeIssuerAndSerial: false));
        DateTimeOffset from = clock.GetUtcNow().AddDays(-1), last = certificate.NotAfter;
        // An issued certificate must be valid only while the authority's certificate is.
        from = from > certificate.NotBefore ? from : certificate.NotBefore;
        using ECDsa key = certificate.GetECDsaPrivateKey()
            ?? throw new CryptographicException("The authority's key is not on an elliptic curve.");
        return request.Create(
            certificate.SubjectName,
            X509SignatureGenerator.CreateForECDsa(key),
            from,
            until < last ? until : last,
            RandomNumberGenerator.GetBytes(SerialBytes));
    }
}
