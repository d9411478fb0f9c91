using System.Security.Cryptography.X509Certificates;
using Treepie.Server.Security;

namespace Treepie.Server.Hosting;

/// <summary>
/// The security of the stand-alone server: its certificate and those of its clients. Without TLS there is neither.
/// </summary>
internal sealed class ServerSecurity : IDisposable
{
    private readonly AccessStore? _store;

    private ServerSecurity(
        ServerCertificate? certificate, AccessStore? store, CertificateRegistry? clients, TokenRegistry? tokens, Uri? publicUrl,
        AuditLog audit)
    {
        _store = store;
        Certificate = certificate;
        Names = new ServerNames(publicUrl, certificate);
        Control = new AccessControl(clients, tokens, audit);
    }

    /// <summary>The server's certificate; null without TLS.</summary>
    public ServerCertificate? Certificate { get; }

    public ServerNames Names { get; }

    public AccessControl Control { get; }

    /// <summary>Checks that addresses and options are consistent, before anything is created.</summary>
    /// <exception cref="CommandLineException">They are not.</exception>
    public static void Check(ProgramOptions options, IReadOnlyList<BindAddress> addresses)
    {
        bool isTls = addresses.Any(static address => address.IsTls);
        if (isTls && options.Certificate is null)
            throw new CommandLineException(
                "An address with https:// needs --certificate FILE. 'treepie secure <directory>' makes one, and prints how to "
                + "start the server with it.");

        if (isTls && !addresses.All(static address => address.IsTls))
        {
            throw new CommandLineException(
                "Refused to listen on http:// beside https://: whoever has an account on this machine would pass by the "
                    + "certificates. Give addresses with https:// only.");
        }

        if (!isTls && (options.Certificate ?? options.CertificateKey ?? options.CertificatePassword as object) is not null)
            throw new CommandLineException(
                "A certificate is given, and no address to use it: add --urls https://localhost:8443.");

        if (!isTls && options.AdminCertificates.Count > 0)
            throw new CommandLineException(
                "--admin-certificate is given, and no address with https://: without TLS the server asks nobody for a "
                + "certificate and trusts every account of this machine.");
    }

    /// <exception cref="CertificateException">A certificate cannot be used, or there is no administrator.</exception>
    /// <exception cref="TreepieException">The client certificates cannot be read.</exception>
    public static ServerSecurity Open(ProgramOptions options, string directory, TimeProvider clock, ILoggerFactory loggers)
    {
        var audit = new AuditLog(loggers.CreateLogger(AuditLog.Category), clock);
        if (options.Certificate is null)
            return new ServerSecurity(null, null, null, null, options.PublicUrl, audit);

        ILogger logger = loggers.CreateLogger("Treepie.Server");
        var certificate = new ServerCertificate(
            new CertificateFiles(options.Certificate, options.CertificateKey, options.CertificatePassword),
            refused => logger.LogWarning("{Message} The certificate used so far stays in use.", refused.Message));
        CertificateEntry[] administrators = [.. options.AdminCertificates.Where(static one => !IsThumbprint(one)).Select(
            Administrator)];
        string[] thumbprints = [.. options.AdminCertificates.Where(IsThumbprint)];
        if (administrators.Length + thumbprints.Length == 0 && !AccessStore.Exists(directory))
            throw WithoutAdministrator();

        var store = new AccessStore(directory);
        try
        {
            var clients = new CertificateRegistry(store, administrators, thumbprints, () => certificate.Authorities, clock);
            return clients.HasAdministrator
                ? new ServerSecurity(certificate, store, clients, new TokenRegistry(store, clock), options.PublicUrl, audit)
                : throw WithoutAdministrator();
        }
        catch
        {
            store.Dispose();
            throw;
        }
    }

    public void Dispose()
    {
        Control.Certificates?.Dispose();
        Control.Tokens?.Dispose();
        _store?.Dispose();
    }

    // SHA-1 or SHA-256 in hexadecimal digits.
    private static bool IsThumbprint(string text) => text.Length is 40 or 64 && text.All(char.IsAsciiHexDigit);

    private static CertificateEntry Administrator(string path)
    {
        X509Certificate2Collection certificates = CertificateFiles.LoadPublic(path);
        X509Certificate2 own = certificates[0];
        return CertificateEntry.For(own, certificates.Skip(1), own.GetNameInfo(X509NameType.SimpleName, forIssuer: false),
            Rights.All) with
        { IsWellKnown = true };
    }

    private static CertificateException WithoutAdministrator() => new(
        "Nobody could be let in: no certificate of an administrator is registered. Name one with --admin-certificate FILE, or "
            + "by its thumbprint; 'treepie secure <directory>' makes one.");
}
