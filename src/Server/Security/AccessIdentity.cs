using System.Security.Claims;
using System.Security.Principal;

namespace Treepie.Server.Security;

/// <summary>Somebody the server knows, and what he may do: the holder of a certificate or of a token. Immutable.</summary>
internal abstract record AccessIdentity
{
    private ClaimsPrincipal? _principal;

    /// <summary>What administrators call it.</summary>
    public required string Name { get; init; }

    public required Rights Rights { get; init; }

    /// <summary>When it begins to be valid (UTC).</summary>
    public required DateTime NotBefore { get; init; }

    /// <summary>When it ends (UTC).</summary>
    public required DateTime NotAfter { get; init; }

    /// <summary>What identifies it, and no secret: a thumbprint, or the id of a token.</summary>
    public abstract string Mark { get; }

    /// <summary>Certificate or token, for messages.</summary>
    public abstract string Kind { get; }

    /// <summary>Whom requests count for.</summary>
    public ClaimsPrincipal Principal => _principal ??= new ClaimsPrincipal(new GenericIdentity(PrincipalName, Kind));

    /// <summary>Tells it from all others, of both kinds.</summary>
    protected abstract string PrincipalName { get; }
}
