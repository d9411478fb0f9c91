namespace Treepie.Server.Security;

/// <summary>A registered token; only a hash of its text is stored.</summary>
internal sealed record TokenEntry : AccessIdentity
{
    /// <summary>The id in lists, in the audit log and for deletion; it grants no access.</summary>
    public required string Id { get; init; }

    /// <summary>
    /// The SHA-256 hash of the token's text in hexadecimal. The text has 256 random bits, so it cannot be guessed from the
    /// hash.
    /// </summary>
    public required string Hash { get; init; }

    public override string Mark => Id;

    public override string Kind => "token";

    protected override string PrincipalName => "token:" + Id;
}
