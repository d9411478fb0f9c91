using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;

namespace Treepie.Server.Limits;

/// <summary>
/// Whom a request counts for: an identity, or an address where nobody has identified himself. Of an IPv6 address the first
/// half counts, because one machine usually has all addresses of a network of 2^64.
/// </summary>
internal readonly record struct ClientKey(string Identity, UInt128 Address)
{
    /// <summary>The client that sent a request.</summary>
    public static ClientKey Of(HttpContext http) => http.User.Identity is { IsAuthenticated: true, Name: { Length: > 0 } name }
        ? new ClientKey(name, default)
        : new ClientKey("", NumberOf(http.Connection.RemoteIpAddress));

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
