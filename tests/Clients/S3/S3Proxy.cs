using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Treepie.Clients.Tests.S3;

/// <summary>
/// Stands before the server of a test: passes bytes on as they are, so that signatures stay valid, notes the first lines of
/// requests, and can refuse, break off, or call the test when so many bytes have gone through.
/// </summary>
internal sealed class S3Proxy : IAsyncDisposable
{
    private const int BufferBytes = 64 * 1024;

    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly CancellationTokenSource _stop = new();
    private readonly ConcurrentDictionary<Task, byte> _connections = new();
    private readonly int _port;
    private readonly Task _accepts;
    private long _passed;

    public S3Proxy(int port)
    {
        _port = port;
        _listener.Start();
        _accepts = AcceptAsync();
    }

    public string Url => $"http://127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}";

    /// <summary>Method and target of every request that went through or was refused, in the order they came.</summary>
    public ConcurrentQueue<string> Requests { get; } = new();

    /// <summary>Requests whose first line holds this are taken and never answered, as long as it is set.</summary>
    public string? Stalls { get; set; }

    /// <summary>Released once for each request that stalls.</summary>
    public SemaphoreSlim Stalled { get; } = new(0);

    /// <summary>Breaks the answer of each connection off after so many bytes, so many times.</summary>
    public (int Left, long Bytes) Cuts { get; set; }

    /// <summary>Refuses so many requests with this answer before it lets any through.</summary>
    public (int Left, string Answer) Refuses { get; set; }

    /// <summary>Called once, when so many bytes of clients have gone through, before more do.</summary>
    public (long Bytes, Func<Task> Call)? At { get; set; }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        _listener.Stop();
        await _accepts.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await Task.WhenAll(_connections.Keys).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _stop.Dispose();
    }

    private async Task AcceptAsync()
    {
        while (!_stop.IsCancellationRequested)
        {
            TcpClient client = await _listener.AcceptTcpClientAsync(_stop.Token);
            _connections.TryAdd(ServeAsync(client), 0);
        }
    }

    private async Task ServeAsync(TcpClient client)
    {
        using TcpClient inside = client;
        using var outside = new TcpClient();
        try
        {
            NetworkStream from = inside.GetStream();
            byte[] buffer = new byte[BufferBytes];
            int read = await from.ReadAsync(buffer, _stop.Token);
            string? line = Note(buffer.AsSpan(0, read));
            if (Refuses.Left > 0)
            {
                Refuses = (Refuses.Left - 1, Refuses.Answer);
                await from.WriteAsync(Encoding.ASCII.GetBytes(Refuses.Answer), _stop.Token);
                return;
            }

            await outside.ConnectAsync(IPAddress.Loopback, _port, _stop.Token);
            NetworkStream to = outside.GetStream();
            Task back = CopyBackAsync(to, from);
            while (read > 0)
            {
                if (Stalls is { } stalls && line?.Contains(stalls, StringComparison.Ordinal) == true)
                {
                    Stalled.Release();
                    while (await from.ReadAsync(buffer, _stop.Token) > 0)
                    {
                        // until the client goes away
                    }

                    return;
                }

                await CallAsync(read);
                await to.WriteAsync(buffer.AsMemory(0, read), _stop.Token);
                Task<int> more = from.ReadAsync(buffer, _stop.Token).AsTask();
                if (await Task.WhenAny(more, back) == back)
                    return;
                read = await more;
                line = Note(buffer.AsSpan(0, read));
            }
        }
        catch (Exception error) when (error is IOException or SocketException or OperationCanceledException)
        {
            // either end went away: so does the other
        }
    }

    private async Task CallAsync(int read)
    {
        long passed = Interlocked.Add(ref _passed, read);
        if (At is { } at && passed >= at.Bytes)
        {
            At = null;
            await at.Call();
        }
    }

    private async Task CopyBackAsync(NetworkStream to, NetworkStream from)
    {
        byte[] buffer = new byte[BufferBytes];
        long passed = 0;
        for (int read = await to.ReadAsync(buffer, _stop.Token); read > 0; read = await to.ReadAsync(buffer, _stop.Token))
        {
            passed += read;
            if (Cuts.Left > 0 && passed > Cuts.Bytes)
            {
                Cuts = (Cuts.Left - 1, Cuts.Bytes);
                return;
            }

            await from.WriteAsync(buffer.AsMemory(0, read), _stop.Token);
        }
    }

    private string? Note(ReadOnlySpan<byte> bytes)
    {
        int end = bytes.IndexOf(" HTTP/1.1\r\n"u8);
        if (end <= 0 || end >= 2000 || !char.IsAsciiLetterUpper((char)bytes[0]))
            return null;
        string line = Encoding.ASCII.GetString(bytes[..end]);
        Requests.Enqueue(line);
        return line;
    }
}
