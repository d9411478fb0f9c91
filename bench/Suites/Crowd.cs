using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Treepie.Bench.Measuring;

namespace Treepie.Bench.Suites;

/// <summary>
/// What silent connections and readers that stand still cost a server and those who use it: its memory, its disk, and the time of
/// a document. The server lets all these readers in; its other limits are as they are by default.
/// </summary>
internal static class Crowd
{
    public const string Verb = "crowd";

    private const int Documents = 20_000, Rounds = 20;

    public static async Task RunAsync(int connections, int readers)
    {
        using var scratch = new Scratch();
        await using ServerUnderTest server = await ServerUnderTest.StartAsync(
            scratch.Path, "--max-streams", $"{readers}", "--max-streams-per-client", $"{readers}",
            "--max-requests-per-client", $"{readers}");
        using HttpResponseMessage created = await server.Client.PutAsync(
            "/admin/databases?name=db", Json("{\"DatabaseName\":\"db\"}"));
        created.EnsureSuccessStatusCode();
        await OverwriteAsync(server, 0);
        await DescribeAsync("alone", server, scratch);

        List<Socket> silent = await ConnectAsync(server, connections);
        await DescribeAsync($"with {silent.Count:N0} silent connections", server, scratch);
        silent.ForEach(static socket => socket.Dispose());

        List<Socket> slow = await ConnectAsync(server, readers);
        byte[] request = Encoding.ASCII.GetBytes("GET /databases/db/streams/docs HTTP/1.1\r\nHost: localhost\r\n\r\n");
        foreach (Socket socket in slow)
            await socket.SendAsync(request);
        await Task.Delay(TimeSpan.FromSeconds(2));
        int admitted = 0;
        foreach (Socket socket in slow)
            admitted += await StatusAsync(socket) == HttpStatusCode.OK ? 1 : 0;
        await DescribeAsync(
            $"with {slow.Count:N0} readers that stand still, {admitted:N0} of them let in", server, scratch);
        long began = Stopwatch.GetTimestamp();
        double disk = 0;
        for (int round = 1; round <= Rounds; round++)
        {
            await OverwriteAsync(server, round);
            disk = Math.Max(disk, DiskMiB(scratch));
        }

        await DescribeAsync(
            $"after all was written {Rounds} times in {Stopwatch.GetElapsedTime(began).TotalSeconds:N0} s (most on the disk: "
                + $"{disk:N0} MiB)", server, scratch);
        await Task.Delay(TimeSpan.FromSeconds(35)); // the readers are cut off after 30
        await OverwriteAsync(server, Rounds + 1);
        await DescribeAsync("when the readers are cut off", server, scratch);
        slow.ForEach(static socket => socket.Dispose());
    }

    private static async Task<List<Socket>> ConnectAsync(ServerUnderTest server, int count)
    {
        var sockets = new List<Socket>(count);
        for (int i = 0; i < count; i++)
        {
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { ReceiveBufferSize = 4096 };
            await socket.ConnectAsync(IPAddress.Loopback, server.Client.BaseAddress!.Port); // it was started with one
            sockets.Add(socket);
        }

        return sockets;
    }

    /// <summary>The status of an answer, of which no more than the first bytes are read; null where there is none yet.</summary>
    private static async Task<HttpStatusCode?> StatusAsync(Socket socket)
    {
        byte[] line = new byte[12];
        using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(1));
        try
        {
            int read = await socket.ReceiveAsync(line, patience.Token);
            return read == line.Length
                ? (HttpStatusCode)int.Parse(Encoding.ASCII.GetString(line.AsSpan(9)), CultureInfo.InvariantCulture)
                : null;
        }
        catch (Exception exception) when (exception is OperationCanceledException or SocketException)
        {
            return null;
        }
    }

    private static async Task OverwriteAsync(ServerUnderTest server, int round)
    {
        var text = new StringBuilder();
        string noise = new('x', 900);
        for (int from = 0; from < Documents; from += 1000)
        {
            text.Clear().Append("{\"Commands\":[");
            for (int id = from; id < from + 1000; id++)
                text.Append(
                    CultureInfo.InvariantCulture,
                    $"{(id == from ? "" : ",")}{{\"Type\":\"PUT\",\"Id\":\"items/{id}\",\"ChangeVector\":null,\"Document\":")
                    .Append(
                        CultureInfo.InvariantCulture,
                        $"{{\"Round\":{round},\"Text\":\"{noise}\",\"@metadata\":{{\"@collection\":\"Items\"}}}}}}");
            using HttpResponseMessage response = await server.Client.PostAsync(
                "/databases/db/bulk_docs", Json(text.Append("]}").ToString()));
            response.EnsureSuccessStatusCode();
        }
    }

    private static async Task DescribeAsync(string when, ServerUnderTest server, Scratch scratch)
    {
        var times = new List<double>();
        for (int i = 0; i < 2000; i++)
        {
            long began = Stopwatch.GetTimestamp();
            using HttpResponseMessage response = await server.Client.GetAsync($"/databases/db/docs?id=items/{i}");
            await response.Content.ReadAsByteArrayAsync();
            times.Add(Stopwatch.GetElapsedTime(began).TotalMilliseconds);
            response.EnsureSuccessStatusCode();
        }

        times.Sort();
        Console.WriteLine(
            $"{when}: a document in {times[times.Count / 2]:N2} ms (p50), {times[times.Count * 99 / 100]:N2} ms (p99); "
                + $"{server.ResidentMiB:N0} MiB resident, {DiskMiB(scratch):N0} MiB on the disk");
    }

    private static double DiskMiB(Scratch scratch) => scratch.SizeBytes / (double)(1 << 20);

    private static StringContent Json(string text) => new(text, Encoding.UTF8, "application/json");
}
