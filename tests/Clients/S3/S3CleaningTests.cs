using System.Collections.Concurrent;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Treepie.Destinations;
using Treepie.S3;

namespace Treepie.Clients.Tests.S3;

/// <summary>
/// Uploads to a bucket that a killed process left are ended by the next run, and those that somebody is at work on are not.
/// Over a server that answers two lists of uploads.
/// </summary>
public sealed class S3CleaningTests
{
    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Uploads_of_which_nothing_has_arrived_for_an_hour_are_ended_on_whichever_page_of_the_list_they_are()
    {
        await using var server = new ListingServer(DateTime.UtcNow);
        using BackupDestination place = new S3DestinationProvider().Open(
            new DestinationSettings
            {
                Address = $"s3://backups/line?endpoint={server.Url}",
                AccessKey = "name",
                SecretKey = "secret"
            });
        await place.CleanAsync("shop/", Cancel);
        string[] ended = [
            .. server.Requests.Where(static request => request.StartsWith("DELETE ", StringComparison.Ordinal))
                .Select(static request => request.Split("uploadId=")[1].Split('&', ' ')[0])];
        Assert.Equal(["dead-1", "dead-2", "dead-3"], ended.Order(StringComparer.Ordinal));
    }

    private sealed class ListingServer : IAsyncDisposable
    {
        private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
        private readonly CancellationTokenSource _stop = new();
        private readonly DateTime _now;
        private readonly Task _accepts;

        public ListingServer(DateTime now)
        {
            _now = now;
            _listener.Start();
            _accepts = AcceptAsync();
        }

        public string Url => $"http://127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}";

        public ConcurrentQueue<string> Requests { get; } = new();

        public async ValueTask DisposeAsync()
        {
            await _stop.CancelAsync();
            _listener.Stop();
            await _accepts.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            _stop.Dispose();
        }

        private async Task AcceptAsync()
        {
            while (!_stop.IsCancellationRequested)
            {
                using TcpClient client = await _listener.AcceptTcpClientAsync(_stop.Token);
                NetworkStream stream = client.GetStream();
                byte[] buffer = new byte[16 * 1024];
                int length = 0;
                while (!Encoding.ASCII.GetString(buffer, 0, length).Contains("\r\n\r\n", StringComparison.Ordinal))
                {
                    int read = await stream.ReadAsync(buffer.AsMemory(length), _stop.Token);
                    if (read == 0)
                        break;
                    length += read;
                }

                string line = Encoding.ASCII.GetString(buffer, 0, length).Split("\r\n")[0];
                Requests.Enqueue(line);
                string body = Answer(line),
                    head =
                        $"HTTP/1.1 {(body.Length == 0 ? "204 No Content" : "200 OK")}\r\nContent-Type: "
                            + $"application/xml\r\nContent-Length: {Encoding.UTF8.GetByteCount(body)}\r\nConnection: "
                            + $"close\r\n\r\n";
                await stream.WriteAsync(Encoding.UTF8.GetBytes(head + body), _stop.Token);
            }
        }

        private string Answer(string line)
        {
            if (line.StartsWith("DELETE ", StringComparison.Ordinal))
                return "";
            if (line.Contains("uploadId=dead-2", StringComparison.Ordinal))
                return Parts(TimeSpan.FromHours(2));
            if (line.Contains("uploadId=slow", StringComparison.Ordinal))
                return Parts(TimeSpan.FromMinutes(5));
            if (line.Contains("uploadId=", StringComparison.Ordinal))
                return "<ListPartsResult><IsTruncated>false</IsTruncated></ListPartsResult>";
            return line.Contains("key-marker=shop%2Fb", StringComparison.Ordinal)
                || line.Contains("key-marker=shop/b", StringComparison.Ordinal)
                ? Uploads("false", "", ("shop/c", "dead-3", TimeSpan.FromDays(30)), ("shop/d", "slow", TimeSpan.FromHours(9)))
                : Uploads("true", "<NextKeyMarker>shop/b</NextKeyMarker><NextUploadIdMarker>dead-2</NextUploadIdMarker>",
                    ("shop/a", "dead-1", TimeSpan.FromMinutes(61)), ("shop/a", "young", TimeSpan.FromMinutes(59)),
                    ("shop/b", "dead-2", TimeSpan.FromHours(3)));
        }

        private string Uploads(string isTruncated, string next, params (string Key, string Id, TimeSpan Age)[] uploads) =>
            $"<ListMultipartUploadsResult><Bucket>backups</Bucket><IsTruncated>{isTruncated}</IsTruncated>{next}"
            + string.Concat(
                uploads.Select(
                    upload =>
                        $"<Upload><Key>line/{upload.Key}</Key><UploadId>{upload.Id}</UploadId><Initiated>"
                            + $"{Time(upload.Age)}</Initiated></Upload>"))
            + "</ListMultipartUploadsResult>";

        private string Parts(TimeSpan age) =>
            $"<ListPartsResult><IsTruncated>false</IsTruncated><Part><PartNumber>1</PartNumber><LastModified>"
                + $"{Time(age)}</LastModified><ETag>\"x\"</ETag><Size>5</Size></Part></ListPartsResult>";

        private string Time(TimeSpan age) => (_now - age).ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture);
    }
}
