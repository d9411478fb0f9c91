namespace Treepie.Server.Security;

/// <summary>
/// Thrown when a certificate, its key or its password cannot be used. The message says which file, why, and what to do; it
/// never contains a secret.
/// </summary>
internal sealed class CertificateException(string message, Exception? innerException = null) : Exception(message, innerException);
