using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Treepie.Storage;
using Treepie.Storage.Files;

namespace Treepie.CommandLine.Certificates;

/// <summary>
/// The folder <c>security</c> of a data directory: the certificates and keys of an authority, the server and its administrator.
/// All files are accessible to their owner only.
/// </summary>
internal sealed class SecurityFolder(string dataDirectory, TimeProvider clock)
{
    private const string AdministratorName = "administrator";

    private readonly string _folder = Path.Combine(dataDirectory, "security");

    /// <summary>Certificate of the authority, which clients must trust.</summary>
    public string Authority => Path.Combine(_folder, "authority.crt");

    /// <summary>Key of the authority, which only <c>--renew</c> needs.</summary>
    public string AuthorityKey => Path.Combine(_folder, "authority.key");

    /// <summary>The server's certificate with its authority and its key.</summary>
    public string Server => Path.Combine(_folder, "server.pem");

    /// <summary>The administrator's certificate with its authority, without its key.</summary>
    public string AdminCertificate => Path.Combine(_folder, "admin.crt");

    /// <summary>The administrator's certificate with its key.</summary>
    public string AdminPem => Path.Combine(_folder, "admin.pem");

    /// <summary>The same as PFX, for programs that do not read PEM.</summary>
    public string AdminPfx => Path.Combine(_folder, "admin.pfx");

    /// <summary>Creates all files. Existing files are not changed.</summary>
    /// <exception cref="UsageException">One of the files exists.</exception>
    public void Create(IReadOnlyList<string> names)
    {
        foreach (string path in (string[])[Authority, AuthorityKey, Server, AdminCertificate, AdminPem, AdminPfx])
        {
            if (File.Exists(path))
                throw new UsageException(
                    $"There is '{path}' already; it was left alone. --renew makes new certificates with the same keys; to "
                    + "begin anew, move the folder away.");
        }

        PrivateFiles.CreateDirectory(_folder);

        using LocalAuthority authority = LocalAuthority.Create($"Treepie authority of {names[0]}", clock);
        using ECDsa authorityKey = authority.Certificate.GetECDsaPrivateKey()!; // just made
        using ECDsa serverKey = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using RSA adminKey = RSA.Create(LocalAuthority.ClientKeyBits);
        Write(AuthorityKey, authorityKey.ExportPkcs8PrivateKeyPem() + "\n");
        Write(Authority, Pem(authority.Certificate));
        Issue(authority, names, serverKey, adminKey);
    }

    /// <summary>
    /// Issues new certificates of the server and the administrator for the same keys. A running server accepts both without
    /// restart.
    /// </summary>
    /// <exception cref="UsageException">The folder does not exist or is incomplete.</exception>
    public void Renew(IReadOnlyList<string>? names)
    {
        try
        {
            using var authority = new LocalAuthority(X509Certificate2.CreateFromPemFile(Authority, AuthorityKey), clock);
            using X509Certificate2 server = X509Certificate2.CreateFromPemFile(Server, Server);
            using X509Certificate2 admin = X509Certificate2.CreateFromPemFile(AdminPem, AdminPem);
            using ECDsa? serverKey = server.GetECDsaPrivateKey();
            using RSA? adminKey = admin.GetRSAPrivateKey();
            if (serverKey is null || adminKey is null)
                throw new CryptographicException("The keys are not of the kind that 'treepie secure' makes.");

            // Servers recognize a renewal by its later end, and no certificate outlasts its authority.
            if (authority.Certificate.NotAfter <= admin.NotAfter)
                throw new UsageException(
                    $"Nothing was renewed: the certificate in '{AdminPem}' is valid until {admin.NotAfter:u}, when the authority "
                    + $"in '{Authority}' ends, so a new one could not end later, and a running server would not know it. To "
                    + "begin anew, move the folder away.");

            Issue(authority, names ?? NamesOf(server), serverKey, adminKey, admin.NotAfter);
        }
        catch (Exception exception) when (exception is CryptographicException or IOException or ArgumentException)
        {
            throw new UsageException($"The certificates in '{_folder}' cannot be renewed: {exception.Message}");
        }
    }

    private static string[] NamesOf(X509Certificate2 server)
    {
        X509SubjectAlternativeNameExtension names = server.Extensions.OfType<X509SubjectAlternativeNameExtension>().First();
        return [.. names.EnumerateDnsNames(), .. names.EnumerateIPAddresses().Select(static address => address.ToString())];
    }

    private static string Pem(X509Certificate2 certificate) => certificate.ExportCertificatePem() + "\n";

    private static void Write(string path, string text) => Write(path, Encoding.ASCII.GetBytes(text));

    // Replaces the file atomically, so that a server watching it never reads a partial file.
    private static void Write(string path, byte[] content)
    {
        DurableFile.RemoveAbandoned(path);
        DurableFile.Write(path, content);
        CryptographicOperations.ZeroMemory(content);
    }

    private void Issue(
        LocalAuthority authority, IReadOnlyList<string> names, ECDsa serverKey, RSA adminKey, DateTimeOffset? renews = null)
    {
        using X509Certificate2 server = authority.IssueServer(names, serverKey);
        using X509Certificate2 admin = authority.IssueClient(AdministratorName, adminKey, renews);
        Write(Server, Pem(server) + Pem(authority.Certificate) + serverKey.ExportPkcs8PrivateKeyPem() + "\n");
        Write(AdminPem, Pem(admin) + adminKey.ExportRSAPrivateKeyPem() + "\n");
        Write(AdminPfx, admin.ExportPkcs12(Pkcs12ExportPbeParameters.Pbes2Aes256Sha256, null));
        Write(AdminCertificate, Pem(admin) + Pem(authority.Certificate));
    }
}
