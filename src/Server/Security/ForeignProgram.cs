using System.Net;
using Microsoft.AspNetCore.Authorization;

namespace Treepie.Server.Security;

/// <summary>
/// The API in somebody else's program has no authentication of its own. On an address that other machines reach it answers only
/// if that program has decided who may use it: by a policy, by having identified the caller, or by saying that everybody may.
/// </summary>
internal static class ForeignProgram
{
    /// <exception cref="WireException">The request came over an address that other machines reach, and nobody has
    /// decided.</exception>
    public static void RequireDecision(HttpContext http)
    {
        // Without an address it is a Unix socket, or a server inside the process.
        IPAddress? local = http.Connection.LocalIpAddress;
        if (local is null || IPAddress.IsLoopback(local.IsIPv4MappedToIPv6 ? local.MapToIPv4() : local)
            || http.User.Identity?.IsAuthenticated == true)
            return;

        EndpointMetadataCollection? metadata = http.GetEndpoint()?.Metadata;
        if (metadata?.GetMetadata<IAuthorizeData>() is not null || metadata?.GetMetadata<AuthorizationPolicy>() is not null
            || metadata?.GetMetadata<IAllowAnonymous>() is not null)
            return;

        throw new WireException(
            StatusCodes.Status403Forbidden, Http.WireTypes.Authorization,
            "This program serves databases on an address that other machines reach, and does not say who may use them. Its "
                + "author must choose: "
            + "app.MapTreepie().RequireAuthorization(), with a policy, or app.MapTreepie().AllowAnonymous() for everybody.");
    }
}
