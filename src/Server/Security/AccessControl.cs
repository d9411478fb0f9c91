namespace Treepie.Server.Security;

/// <summary>By what the guard decides.</summary>
/// <param name="Certificates">The certificates that the server knows; null: it asks for none and trusts whoever reaches
/// it.</param>
/// <param name="Tokens">The tokens that it knows; null where there are no certificates.</param>
/// <param name="Audit">What is written down of it.</param>
internal sealed record AccessControl(CertificateRegistry? Certificates, TokenRegistry? Tokens, AuditLog Audit);
