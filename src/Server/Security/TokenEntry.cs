namespace Treepie.Server.Security;

/// <summary>A token that the server knows: of the text that its holder sends only a hash is kept.</summary>
internal sealed record TokenEntry : AccessIdentity
{
    /// <summary>Identifies it in lists, in the audit log and for its deletion; it opens nothing.</summary>
    public required string Id { get; init; }

    /// <summary>
    /// SHA-256 of the token's text in hexadecimal digits. The text has 256 random bits: nobody guesses what has a hash.
    /// </summary>
    public required string Hash { get; init; }

    public override string Mark => Id;

    public override string Kind => "token";

    protected override string PrincipalName => "token:" + Id;
}
