using System.Net.Security;
using System.Security.Cryptography.X509Certificates;

namespace Treepie.Server.Security;

/// <summary>
/// The certificate that the server shows, read again as soon as its files change: each handshake looks at their times, so that a
/// renewal counts from the next connection on. A new certificate that cannot be used, or whose key is not there yet, leaves the
/// old one in place and is logged once. Thread-safe.
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

    /// <summary>What a handshake needs.</summary>
    public SslStreamCertificateContext Context => Current().Context;

    /// <summary>The certificate without what came with it.</summary>
    public X509Certificate2 Own => Current().Own;

    /// <summary>
    /// The authorities in the server's files: those that issued its certificate may have issued those of its clients.
    /// </summary>
    public IReadOnlyList<X509Certificate2> Authorities => Current().Authorities;

    /// <summary>
    /// Whether the certificate is for a host of that name, so that a client that asked for it was not led astray.
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
            return _loaded; // just being replaced
        }

        lock (_sync)
        {
            if (stamp == _looked)
                return _loaded;

            _looked = stamp;
            try
            {
                // The old one is left to the garbage collector: handshakes that have begun use it.
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
        // Offline: whatever addresses the certificate names, the server asks nobody for parts of the chain.
        return new Loaded(own, SslStreamCertificateContext.Create(own, others, offline: true), authorities);
    }

    private static bool IsAuthority(X509Certificate2 certificate) =>
        certificate.Extensions.OfType<X509BasicConstraintsExtension>().Any(static constraints =>
            constraints.CertificateAuthority);

    private sealed record Loaded(X509Certificate2 Own, SslStreamCertificateContext Context,
        IReadOnlyList<X509Certificate2> Authorities);
}
