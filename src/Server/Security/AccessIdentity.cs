using System.Security.Claims;
using System.Security.Principal;

namespace Treepie.Server.Security;

/// <summary>A known identity with its rights: the holder of a certificate or a token. Immutable.</summary>
internal abstract record AccessIdentity
{
    private ClaimsPrincipal? _principal;

    /// <summary>The name given by administrators.</summary>
    public required string Name { get; init; }

    public required Rights Rights { get; init; }

    /// <summary>The start of its validity (UTC).</summary>
    public required DateTime NotBefore { get; init; }

    /// <summary>The end of its validity (UTC).</summary>
    public required DateTime NotAfter { get; init; }

    /// <summary>A public identifier: a thumbprint, or the id of a token.</summary>
    public abstract string Mark { get; }

    /// <summary>Certificate or token, for messages.</summary>
    public abstract string Kind { get; }

    /// <summary>The principal, under which requests are counted.</summary>
    public ClaimsPrincipal Principal => _principal ??= new ClaimsPrincipal(new GenericIdentity(PrincipalName, Kind));

    /// <summary>A name that is unique among both kinds.</summary>
    protected abstract string PrincipalName { get; }
}
