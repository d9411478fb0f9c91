using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Treepie.Server.Security;

/// <summary>
/// The files of a certificate with its private key: PEM, the key in the same file or in one of its own, or PFX. Beside it they
/// may hold the certificates that issued it.
/// </summary>
/// <param name="Path">The certificate.</param>
/// <param name="KeyPath">The private key of a PEM certificate; null: it is in the same file.</param>
/// <param name="Password">Where the password of the PFX file, or of an encrypted key, is.</param>
internal sealed record CertificateFiles(string Path, string? KeyPath = null, SecretPlace? Password = null)
{
    private const string PemMark = "-----BEGIN ";

    /// <summary>
    /// What changes when one of the files is replaced: times and lengths of the files themselves, not of the links that lead to
    /// them.
    /// </summary>
    public (DateTime Time, long Length, DateTime KeyTime, long KeyLength) Stamp()
    {
        (DateTime time, long length) = StampOf(Path);
        (DateTime keyTime, long keyLength) = KeyPath is null ? default : StampOf(KeyPath);
        return (time, length, keyTime, keyLength);
    }

    /// <summary>The certificates of a file without any key, the one the file is about first.</summary>
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

    /// <summary>The certificates of PEM text or of one DER certificate, as they stand there.</summary>
    /// <exception cref="CryptographicException">There is none.</exception>
    public static X509Certificate2Collection ReadPublic(byte[] content)
    {
        var certificates = new X509Certificate2Collection();
        if (IsPem(content))
            certificates.ImportFromPem(System.Text.Encoding.ASCII.GetString(content));
        else
            certificates.Add(X509CertificateLoader.LoadCertificate(content));

        return certificates.Count > 0 ? certificates : throw new CryptographicException("It holds no certificate.");
    }

    /// <summary>The certificate with its key, and the others of the file.</summary>
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
        // Once through PKCS#12: on Windows a key that came from PEM cannot be used for TLS.
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
