using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using System.Security.Claims;
using Microsoft.AspNetCore.Http.Features.Authentication;

namespace Treepie.Server.Limits;

/// <summary>
/// The client whose limits apply to a request: an identity, or an address if the client is not authenticated. For IPv6, only
/// the first half of the address counts, because one machine usually has a network of 2^64 addresses.
/// </summary>
internal readonly record struct ClientKey(string Identity, UInt128 Address)
{
    /// <summary>Returns the client that sent a request.</summary>
    public static ClientKey Of(HttpContext http)
    {
        // HttpContext.User would create an anonymous user.
        ClaimsPrincipal? user = http.Features.Get<IHttpAuthenticationFeature>()?.User;
        return user?.Identity is { IsAuthenticated: true, Name: { Length: > 0 } name }
            ? new ClientKey(name, default)
            : new ClientKey("", NumberOf(http.Connection.RemoteIpAddress));
    }

    private static UInt128 NumberOf(IPAddress? address)
    {
        if (address is null)
            return default;

        Span<byte> bytes = stackalloc byte[16];
        bytes.Clear();
        bool isNetwork = address.AddressFamily == AddressFamily.InterNetworkV6
            && !address.IsIPv4MappedToIPv6
            && !IPAddress.IsLoopback(address);
        address.TryWriteBytes(bytes, out int _);
        UInt128 number = BinaryPrimitives.ReadUInt128BigEndian(bytes);
        return isNetwork ? number >> 64 << 64 : number;
    }
}
