using System.Net;
using Microsoft.AspNetCore.Authorization;

namespace Treepie.Server.Security;

/// <summary>
/// The API has no authentication of its own in another application. On an address that other machines can reach, it only
/// answers if the application has decided who may use it: by a policy, by authenticating the caller, or by explicitly
/// allowing anonymous access.
/// </summary>
internal static class ForeignProgram
{
    /// <exception cref="WireException">The address can be reached by other machines, and the application has made no
    /// decision.</exception>
    public static void RequireDecision(HttpContext http)
    {
        // Without an address, it is a Unix socket or an in-process server.
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
