using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Treepie.Server.Tests.Support;

/// <summary>An authority of a test's own, which issues whatever certificates a test wants.</summary>
internal sealed class TestAuthority : IDisposable
{
    private const string ServerName = "localhost";

    private readonly ECDsa _key = ECDsa.Create(ECCurve.NamedCurves.nistP256);

    public TestAuthority(string name = "Test authority")
    {
        var request = new CertificateRequest($"CN={name}", _key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign, true));
        Certificate = request.CreateSelfSigned(Now.AddYears(-3), Now.AddYears(10));
    }

    public X509Certificate2 Certificate { get; }

    private static DateTimeOffset Now => DateTimeOffset.UtcNow;

    /// <summary>A client's certificate with its key, valid for these days from now on; 0 is now.</summary>
    public X509Certificate2 Client(string name, ECDsa clientKey, int fromDays = -1, int untilDays = 365)
    {
        using X509Certificate2 issued = Request(name, clientKey).Create(
            Certificate.SubjectName, X509SignatureGenerator.CreateForECDsa(_key), Now.AddDays(fromDays), Now.AddDays(untilDays),
                RandomNumberGenerator.GetBytes(8));
        return WithKey(issued, clientKey);
    }

    /// <summary>As <see cref="Client(string, ECDsa, int, int)"/>, with a key nobody else has.</summary>
    public X509Certificate2 Client(string name, int fromDays = -1, int untilDays = 365)
    {
        using ECDsa own = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        return Client(name, own, fromDays, untilDays);
    }

    /// <summary>A certificate that its own key signed.</summary>
    public static X509Certificate2 SelfSigned(string name, ECDsa clientKey, int untilDays = 365)
    {
        using X509Certificate2 issued = Request(name, clientKey).CreateSelfSigned(Now.AddDays(-1), Now.AddDays(untilDays));
        return WithKey(issued, clientKey);
    }

    /// <summary>The certificate of a server on this machine, with its authority and its key, as PEM.</summary>
    public string ServerPem(out string thumbprint)
    {
        using ECDsa own = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        CertificateRequest request = Request(ServerName, own);
        var names = new SubjectAlternativeNameBuilder();
        names.AddDnsName(ServerName);
        names.AddIpAddress(IPAddress.Loopback);
        request.CertificateExtensions.Add(names.Build());
        using X509Certificate2 issued = request.Create(
            Certificate.SubjectName, X509SignatureGenerator.CreateForECDsa(_key), Now.AddDays(-1), Now.AddDays(365),
                RandomNumberGenerator.GetBytes(8));
        thumbprint = issued.Thumbprint;
        return $"{issued.ExportCertificatePem()}\n{Certificate.ExportCertificatePem()}\n{own.ExportPkcs8PrivateKeyPem()}\n";
    }

    public void Dispose()
    {
        Certificate.Dispose();
        _key.Dispose();
    }

    private static CertificateRequest Request(string name, ECDsa key)
    {
        var request = new CertificateRequest($"CN={name}", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(false, false, 0, true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.DigitalSignature, true));
        return request;
    }

    private static X509Certificate2 WithKey(X509Certificate2 issued, ECDsa key) => issued.HasPrivateKey
        ? X509CertificateLoader.LoadPkcs12(issued.Export(X509ContentType.Pkcs12), null)
        : issued.CopyWithPrivateKey(key);
}
