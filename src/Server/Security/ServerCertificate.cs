using System.Net.Security;
using System.Security.Cryptography.X509Certificates;

namespace Treepie.Server.Security;

/// <summary>
/// The certificate of the server, reloaded when its files change: each handshake checks their times, so that a renewed
/// certificate is used from the next connection on. If a new certificate cannot be used, or its key is not there yet, the old
/// one stays in use and the error is logged once. Thread-safe.
/// </summary>
internal sealed class ServerCertificate
{
    private readonly Lock _sync = new();
    private readonly CertificateFiles _files;
    private readonly Action<CertificateException> _refused;
    private volatile Loaded _loaded;
    private (DateTime, long, DateTime, long) _looked;

    /// <exception cref="CertificateException">The files cannot be used.</exception>
    public ServerCertificate(CertificateFiles files, Action<CertificateException> refused)
    {
        _files = files;
        _refused = refused;
        _looked = files.Stamp();
        _loaded = Load();
    }

    /// <summary>The context for handshakes.</summary>
    public SslStreamCertificateContext Context => Current().Context;

    /// <summary>The certificate without its issuers.</summary>
    public X509Certificate2 Own => Current().Own;

    /// <summary>The issuers in the server's files, which may have issued client certificates as well.</summary>
    public IReadOnlyList<X509Certificate2> Authorities => Current().Authorities;

    /// <summary>
    /// Returns whether the certificate is valid for a host name, so that a client that used this name was not misled.
    /// </summary>
    public bool IsFor(string host) => host.Length > 0
        && Current().Own.MatchesHostname(host.Trim('[', ']'), allowCommonName: false);

    private Loaded Current()
    {
        (DateTime, long, DateTime, long) stamp;
        try
        {
            stamp = _files.Stamp();
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            return _loaded; // the files are just being replaced
        }

        lock (_sync)
        {
            if (stamp == _looked)
                return _loaded;

            _looked = stamp;
            try
            {
                // The old one is left to the garbage collector, because running handshakes use it.
                _loaded = Load();
            }
            catch (CertificateException exception)
            {
                _refused(exception);
            }

            return _loaded;
        }
    }

    private Loaded Load()
    {
        (X509Certificate2 own, X509Certificate2Collection others) = _files.Load();
        X509Certificate2[] authorities = [.. others.Append(own).Where(IsAuthority)];
        // Offline: the server must not contact any address given in a certificate to complete the chain.
        return new Loaded(own, SslStreamCertificateContext.Create(own, others, offline: true), authorities);
    }

    private static bool IsAuthority(X509Certificate2 certificate) =>
        certificate.Extensions.OfType<X509BasicConstraintsExtension>().Any(static constraints =>
            constraints.CertificateAuthority);

    private sealed record Loaded(X509Certificate2 Own, SslStreamCertificateContext Context,
        IReadOnlyList<X509Certificate2> Authorities);
}
