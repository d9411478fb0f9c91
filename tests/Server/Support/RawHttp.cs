using System.Net.Sockets;
using System.Text;

namespace Treepie.Server.Tests.Support;

/// <summary>Bytes as no HTTP library sends them, on a connection of their own.</summary>
internal static class RawHttp
{
    private static readonly TimeSpan _patience = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Sends a request and reads the answer until the server ends the connection, or its head says that it is whole.
    /// </summary>
    public static async Task<string> SendAsync(string url, ReadOnlyMemory<byte> request, CancellationToken cancellationToken)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(_patience);
        var uri = new Uri(url);
        using var client = new TcpClient();
        await client.ConnectAsync(uri.Host, uri.Port, limit.Token);
        NetworkStream stream = client.GetStream();
        var answer = new StringBuilder();
        try
        {
            await stream.WriteAsync(request, limit.Token);
            byte[] buffer = new byte[64 * 1024];
            while (!IsWhole(answer.ToString()))
            {
                int count = await stream.ReadAsync(buffer, limit.Token);
                if (count == 0)
                    break;
                answer.Append(Encoding.Latin1.GetString(buffer, 0, count));
            }
        }
        catch (IOException)
        {
            // The server ended the connection; what it said before is the answer.
        }

        return answer.ToString();
    }

    /// <summary>The same of text; line ends are those of HTTP.</summary>
    public static Task<string> SendAsync(string url, string head, byte[] body, CancellationToken cancellationToken) =>
        SendAsync(url, (byte[])[.. Encoding.Latin1.GetBytes(head.ReplaceLineEndings("\r\n")), .. body], cancellationToken);

    /// <summary>The status of an answer; 0 where there is none.</summary>
    public static int StatusOf(string answer) =>
        answer.StartsWith("HTTP/1.1 ", StringComparison.Ordinal) && int.TryParse(answer.AsSpan(9, 3), out int status)
            ? status
            : 0;

    private static bool IsWhole(string answer)
    {
        int end = answer.IndexOf("\r\n\r\n", StringComparison.Ordinal);
        if (end < 0)
            return false;

        string head = answer[..end], body = answer[(end + 4)..];
        if (StatusOf(head) is 204 or 304)
            return true;
        if (head.Contains("Transfer-Encoding: chunked", StringComparison.OrdinalIgnoreCase))
            return body.EndsWith("0\r\n\r\n", StringComparison.Ordinal);

        const string name = "Content-Length: ";
        int length = head.IndexOf(name, StringComparison.OrdinalIgnoreCase);
        return length >= 0
            && int.TryParse(head.AsSpan(length + name.Length).ToString().Split('\r')[0], out int bytes)
            && body.Length >= bytes;
    }
}
