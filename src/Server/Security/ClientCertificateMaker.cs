using System.IO.Compression;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;

namespace Treepie.Server.Security;

/// <summary>
/// Creates client certificates with their keys: RSA, because RavenDB's client for Node.js reads private keys in PEM files
/// only as PKCS#1. They are self-signed; the server identifies them by fingerprint, so that it needs no issuer key.
/// </summary>
internal static class ClientCertificateMaker
{
    private const int KeyBits = 3072;
    private const int Years = 5;
    private const string ClientAuthentication = "1.3.6.1.5.5.7.3.2";

    private static readonly PbeParameters _encryption = new(PbeEncryptionAlgorithm.Aes256Cbc, HashAlgorithmName.SHA256,
        iterationCount: 100_000);

    /// <summary>
    /// Creates a zip file with the certificate and its key as PFX and PEM. With a password, both keys are encrypted; without
    /// one, a file with certificate and key together is added, which most clients accept.
    /// </summary>
    public static (byte[] Zip, CertificateEntry Entry) Make(string name, Rights rights, string? password, TimeProvider clock)
    {
        using RSA key = RSA.Create(KeyBits);
        var subject = new X500DistinguishedNameBuilder();
        subject.AddCommonName(name.Length <= 64 ? name : name[..64]); // the maximum length of a common name
        var request = new CertificateRequest(subject.Build(), key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        request.CertificateExtensions.Add(
            new X509BasicConstraintsExtension(certificateAuthority: false, hasPathLengthConstraint: false, 0, critical: true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.DigitalSignature, critical: true));
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension([new Oid(ClientAuthentication)], critical: false));
        DateTimeOffset now = clock.GetUtcNow();
        using X509Certificate2 certificate = request.CreateSelfSigned(now.AddDays(-1), now.AddYears(Years));
        return (Pack(FileNameOf(name), certificate, key, password), CertificateEntry.For(certificate, [], name, rights));
    }

    /// <summary>Returns the name as a file name that is valid on all systems.</summary>
    public static string FileNameOf(string name)
    {
        const int Most = 60;
        string safe = string.Concat(
            name.Take(Most).Select(static one => char.IsAsciiLetterOrDigit(one) || one is '-' or '_' ? one : '_'));
        return safe.Length > 0 ? safe : "client";
    }

    private static byte[] Pack(string file, X509Certificate2 certificate, RSA key, string? password)
    {
        using var output = new MemoryStream();
        using (var zip = new ZipArchive(output, ZipArchiveMode.Create, leaveOpen: true))
        {
            string text = certificate.ExportCertificatePem() + "\n";
            string keyText = (password is null
                ? key.ExportRSAPrivateKeyPem()
                : key.ExportEncryptedPkcs8PrivateKeyPem(password, _encryption)) + "\n";
            Add(zip, file + ".pfx", certificate.ExportPkcs12(_encryption, password));
            Add(zip, file + ".crt", Encoding.ASCII.GetBytes(text));
            Add(zip, file + ".key", Encoding.ASCII.GetBytes(keyText));
            if (password is null)
                Add(zip, file + ".pem", Encoding.ASCII.GetBytes(text + keyText));
        }

        return output.ToArray();
    }

    private static void Add(ZipArchive zip, string name, byte[] content)
    {
        using Stream entry = zip.CreateEntry(name, CompressionLevel.NoCompression).Open();
        entry.Write(content);
        CryptographicOperations.ZeroMemory(content);
    }
}
