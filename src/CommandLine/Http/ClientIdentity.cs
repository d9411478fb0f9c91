using System.Net.Http.Headers;
using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Treepie.CommandLine.Http;

/// <summary>
/// The credentials of a client, a certificate or a token, and the authority that it trusts. All are optional. The token comes
/// from the environment (<see cref="TokenVariable"/>), because every account of the machine can read a command line.
/// </summary>
internal sealed class ClientIdentity
{
    /// <summary>Name of the environment variable that holds a token.</summary>
    public const string TokenVariable = "TREEPIE_TOKEN";

    private readonly X509Certificate2? _certificate;
    private readonly X509Certificate2Collection? _authorities;

    private ClientIdentity(X509Certificate2? certificate, X509Certificate2Collection? authorities) =>
        (_certificate, _authorities) = (certificate, authorities);

    /// <summary>Adds the token to requests, which is allowed only over TLS or to this machine.</summary>
    /// <exception cref="UsageException">The server is on another machine and has no TLS.</exception>
    public static void AddToken(Uri url, HttpRequestHeaders headers)
    {
        if (Environment.GetEnvironmentVariable(TokenVariable) is not { Length: > 0 } token)
            return;
        if (url.Scheme != Uri.UriSchemeHttps && !url.IsLoopback)
            throw new UsageException(
                $"{TokenVariable} is set, and {url} has no TLS: the token would be readable on the way. Use https://.");
        headers.Authorization = new AuthenticationHeaderValue("Bearer", token);
    }

    /// <exception cref="UsageException">A file cannot be used.</exception>
    public static ClientIdentity Load(string? certificate, string? authority) => new(
        certificate is null ? null : Read("--certificate", certificate, LoadOwn),
        authority is null ? null : Read("--authority", authority, LoadAuthorities));

    /// <summary>Applies the certificate and the trusted authorities to TLS options.</summary>
    public void ApplyTo(SslClientAuthenticationOptions options)
    {
        if (_certificate is not null)
            options.ClientCertificateContext = SslStreamCertificateContext.Create(_certificate, additionalCertificates: null,
                offline: true);
        if (_authorities is null)
            return;

        options.CertificateChainPolicy = new X509ChainPolicy
        {
            TrustMode = X509ChainTrustMode.CustomRootTrust,
            RevocationMode = X509RevocationMode.NoCheck,
            DisableCertificateDownloads = true,
        };
        options.CertificateChainPolicy.CustomTrustStore.AddRange(_authorities);
    }

    private static X509Certificate2 LoadOwn(string path)
    {
        if (X509Certificate2.GetCertContentType(path) == X509ContentType.Pkcs12)
            return X509CertificateLoader.LoadPkcs12FromFile(path, null);

        using X509Certificate2 pem = X509Certificate2.CreateFromPemFile(path, path);
        return X509CertificateLoader.LoadPkcs12(pem.Export(X509ContentType.Pkcs12),
            null); // on Windows a key that came from PEM cannot be used for TLS
    }

    private static X509Certificate2Collection LoadAuthorities(string path)
    {
        var authorities = new X509Certificate2Collection();
        authorities.ImportFromPemFile(path);
        return authorities.Count > 0 ? authorities : throw new CryptographicException("It holds no certificate in PEM form.");
    }

    private static T Read<T>(string option, string path, Func<string, T> load)
    {
        try
        {
            return load(path);
        }
        catch (Exception exception) when (
            exception is CryptographicException or IOException or UnauthorizedAccessException or ArgumentException)
        {
            throw new UsageException($"{option} '{path}' cannot be used: {exception.Message}");
        }
    }
}
