using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Treepie.Server.Security;

/// <summary>
/// The files of a certificate with its private key: PEM, with the key in the same file or a separate one, or PFX. They may
/// also contain the issuer certificates.
/// </summary>
/// <param name="Path">The file of the certificate.</param>
/// <param name="KeyPath">The file of the private key of a PEM certificate; null: in the same file.</param>
/// <param name="Password">The source of the password of the PFX file or the encrypted key.</param>
internal sealed record CertificateFiles(string Path, string? KeyPath = null, SecretPlace? Password = null)
{
    private const string PemMark = "-----BEGIN ";

    /// <summary>
    /// Returns values that change when one of the files is replaced: times and sizes of the files themselves, not of symbolic
    /// links to them.
    /// </summary>
    public (DateTime Time, long Length, DateTime KeyTime, long KeyLength) Stamp()
    {
        (DateTime time, long length) = StampOf(Path);
        (DateTime keyTime, long keyLength) = KeyPath is null ? default : StampOf(KeyPath);
        return (time, length, keyTime, keyLength);
    }

    /// <summary>Loads the certificates in a file without any private key, the main one first.</summary>
    /// <exception cref="CertificateException">They cannot be read.</exception>
    public static X509Certificate2Collection LoadPublic(string path)
    {
        try
        {
            return ReadPublic(File.ReadAllBytes(path));
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException or CryptographicException)
        {
            throw new CertificateException($"The certificate '{path}' cannot be read: {exception.Message}", exception);
        }
    }

    /// <summary>Parses the certificates in PEM text, in order, or a single DER certificate.</summary>
    /// <exception cref="CryptographicException">There is no certificate.</exception>
    public static X509Certificate2Collection ReadPublic(byte[] content)
    {
        var certificates = new X509Certificate2Collection();
        if (IsPem(content))
            certificates.ImportFromPem(System.Text.Encoding.ASCII.GetString(content));
        else
            certificates.Add(X509CertificateLoader.LoadCertificate(content));

        return certificates.Count > 0 ? certificates : throw new CryptographicException("It holds no certificate.");
    }

    /// <summary>Loads the certificate with its key, and the other certificates in the file.</summary>
    /// <exception cref="CertificateException">They cannot be read, or do not belong together.</exception>
    public (X509Certificate2 Own, X509Certificate2Collection Others) Load()
    {
        try
        {
            SecretPlace.RefuseIfOpenToAll(KeyPath ?? Path);
            return IsPem(File.ReadAllBytes(Path)) ? LoadPem() : LoadPfx();
        }
        catch (Exception exception) when (
            exception is IOException or UnauthorizedAccessException or CryptographicException or ArgumentException)
        {
            string key = KeyPath is null ? "" : $" with the key '{KeyPath}'";
            string hint = Password is null
                ? "Is it encrypted? Say with --certificate-password where its password is."
                : "Is the password right?";
            throw new CertificateException($"The certificate '{Path}'{key} cannot be used: {exception.Message} {hint}",
                exception);
        }
    }

    private static bool IsPem(byte[] content) => content.AsSpan().IndexOf(System.Text.Encoding.ASCII.GetBytes(PemMark)) >= 0;

    private static (DateTime Time, long Length) StampOf(string path)
    {
        if (!File.Exists(path))
            return (default, -1);

        FileSystemInfo? target = File.ResolveLinkTarget(path, returnFinalTarget: true);
        var file = new FileInfo(target?.FullName ?? path);
        return (file.LastWriteTimeUtc, file.Length);
    }

    private (X509Certificate2 Own, X509Certificate2Collection Others) LoadPem()
    {
        string keyPath = KeyPath ?? Path;
        using X509Certificate2 loaded = Password is null
            ? X509Certificate2.CreateFromPemFile(Path, keyPath)
            : X509Certificate2.CreateFromEncryptedPemFile(Path, Password.Read(), keyPath);
        // Convert through PKCS#12: on Windows, a key loaded from PEM cannot be used for TLS.
        X509Certificate2 own = X509CertificateLoader.LoadPkcs12(loaded.Export(X509ContentType.Pkcs12), null);
        X509Certificate2Collection others = ReadPublic(File.ReadAllBytes(Path));
        Remove(others, own);
        return (own, others);
    }

    private (X509Certificate2 Own, X509Certificate2Collection Others) LoadPfx()
    {
        X509Certificate2Collection all = X509CertificateLoader.LoadPkcs12CollectionFromFile(Path, Password?.Read());
        X509Certificate2 own = all.FirstOrDefault(static one => one.HasPrivateKey)
            ?? throw new CryptographicException("It holds no private key.");
        all.Remove(own);
        return (own, all);
    }

    private static void Remove(X509Certificate2Collection certificates, X509Certificate2 one)
    {
        foreach (X509Certificate2 same in certificates.Where(other =>
            other.RawDataMemory.Span.SequenceEqual(one.RawDataMemory.Span)).ToArray())
            certificates.Remove(same);
    }
}
