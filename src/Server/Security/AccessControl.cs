namespace Treepie.Server.Security;

/// <summary>The data on which <see cref="AccessGuard"/> bases its decisions.</summary>
/// <param name="Certificates">The registered certificates; null: the server requires none and trusts every caller.</param>
/// <param name="Tokens">The registered tokens; null if there are no certificates.</param>
/// <param name="Audit">The audit log.</param>
internal sealed record AccessControl(CertificateRegistry? Certificates, TokenRegistry? Tokens, AuditLog Audit);
