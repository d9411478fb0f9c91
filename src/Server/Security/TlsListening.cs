using System.Diagnostics.CodeAnalysis;
using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Https;

namespace Treepie.Server.Security;

/// <summary>
/// Configures TLS for an address: versions 1.2 and 1.3, HTTP/1.1 and HTTP/2, with client certificates. The handshake accepts
/// any certificate and verifies that the client has its key; identity and rights are checked for each request, so that a
/// rejection is a proper response instead of a broken connection.
/// </summary>
internal static class TlsListening
{
    /// <summary>A handshake consists of a few messages; slower clients would occupy connections.</summary>
    private static readonly TimeSpan _handshakeTimeout = TimeSpan.FromSeconds(10);

    public static void UseTls(this ListenOptions listen, ServerCertificate certificate)
    {
        listen.Protocols = HttpProtocols.Http1AndHttp2;
        listen.UseHttps(new TlsHandshakeCallbackOptions
        {
            HandshakeTimeout = _handshakeTimeout,
            OnConnection = _ => ValueTask.FromResult(Options(certificate)),
        });
        listen.Use(static next => connection =>
        {
            if (connection.Features.Get<ITlsConnectionFeature>()?.ClientCertificate is { } client)
                connection.Features.Set(new PresentedCertificate(client));

            return next(connection);
        });
    }

    [SuppressMessage("Security", "CA5359",
        Justification = "The certificates are those of clients: the guard decides about them, request by request.")]
    private static SslServerAuthenticationOptions Options(ServerCertificate certificate) => new()
    {
        ServerCertificateContext = certificate.Context,
        EnabledSslProtocols = SslProtocols.Tls12 | SslProtocols.Tls13,
        ApplicationProtocols = [SslApplicationProtocol.Http2, SslApplicationProtocol.Http11],
        ClientCertificateRequired = true,
        AllowRenegotiation = false,
        RemoteCertificateValidationCallback = static (_, _, _, _) => true,
        CertificateChainPolicy = new X509ChainPolicy
        {
            // A client's certificate may name any addresses; the server must not contact them.
            DisableCertificateDownloads = true,
            RevocationMode = X509RevocationMode.NoCheck,
            TrustMode = X509ChainTrustMode.CustomRootTrust,
        },
    };
}
