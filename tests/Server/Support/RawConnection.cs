using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Treepie.Server.Tests.Support;

/// <summary>A connection that sends what a test says and reads when a test says, which no well-behaved client does.</summary>
internal sealed class RawConnection : IAsyncDisposable
{
    private readonly Socket _socket;

    private RawConnection(Socket socket) => _socket = socket;

    /// <summary>Connects to the server at an address such as <c>http://127.0.0.1:40123</c>.</summary>
    /// <param name="url">Where the server listens.</param>
    /// <param name="receiveBufferBytes">What the system may receive before somebody reads; null: its default.</param>
    public static async Task<RawConnection> OpenAsync(string url, int? receiveBufferBytes = null)
    {
        var address = new Uri(url);
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            if (receiveBufferBytes is { } bytes)
                socket.ReceiveBufferSize = bytes;
            await socket.ConnectAsync(IPAddress.Parse(address.Host), address.Port, TestServer.Cancelled);
            return new RawConnection(socket);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    /// <summary>Sends a text as it stands.</summary>
    public async Task SendAsync(string text)
    {
        for (ReadOnlyMemory<byte> rest = Encoding.UTF8.GetBytes(text); !rest.IsEmpty;)
            rest = rest[await _socket.SendAsync(rest, TestServer.Cancelled)..];
    }

    /// <summary>Reads what has come, at least a byte; empty at the end, and when the server has reset the connection.</summary>
    public async Task<string> ReceiveAsync()
    {
        byte[] buffer = new byte[16 * 1024];
        try
        {
            int received = await _socket.ReceiveAsync(buffer, TestServer.Cancelled);
            return Encoding.UTF8.GetString(buffer, 0, received);
        }
        catch (SocketException)
        {
            return "";
        }
    }

    /// <summary>Reads to the end; gives the number of bytes.</summary>
    public async Task<long> DrainAsync()
    {
        byte[] buffer = new byte[64 * 1024];
        long total = 0;
        try
        {
            while (await _socket.ReceiveAsync(buffer, TestServer.Cancelled) is > 0 and var received)
                total += received;
        }
        catch (SocketException)
        {
            // Reset: that is an end too.
        }

        return total;
    }

    public ValueTask DisposeAsync()
    {
        _socket.Dispose();
        return ValueTask.CompletedTask;
    }
}
