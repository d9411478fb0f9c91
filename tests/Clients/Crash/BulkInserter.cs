using System.Net;
using System.Text.Json;

namespace Treepie.Clients.Tests.Crash;

/// <summary>
/// A client that makes one bulk insert after the other, and remembers which ended with the server's word for it.
/// </summary>
internal sealed class BulkInserter
{
    /// <summary>Documents of one bulk insert: several batches of the server.</summary>
    public const int PerRun = 700;

    private readonly HashSet<int> _acknowledged = [];

    /// <summary>Runs that were acknowledged as a whole.</summary>
    public IReadOnlySet<int> Acknowledged => _acknowledged;

    /// <summary>Runs begun.</summary>
    public int Begun { get; private set; }

    /// <summary>Inserts until the server is gone.</summary>
    public async Task RunAsync(string url, string database, Action acknowledged)
    {
        using var http = new HttpClient { BaseAddress = new Uri(url) };
        try
        {
            while (true)
            {
                using JsonDocument operation = JsonDocument.Parse(
                    await http.GetStringAsync(
                        $"/databases/{database}/operations/next-operation-id", TestContext.Current.CancellationToken));
                int run = ++Begun;
                using var items = new Items(run);
                using HttpResponseMessage response = await http.PostAsync(
                    $"/databases/{database}/bulk_insert?id={operation.RootElement.GetProperty("Id").GetInt64()}", items,
                    TestContext.Current.CancellationToken);
                Assert.True(
                    response.IsSuccessStatusCode,
                    await response.Content.ReadAsStringAsync(TestContext.Current.CancellationToken));
                _acknowledged.Add(run);
                acknowledged();
            }
        }
        catch (Exception exception) when (exception is HttpRequestException or IOException)
        {
            // The server was killed.
        }
    }

    /// <summary>The body, sent while it is made.</summary>
    private sealed class Items(int run) : HttpContent
    {
        protected override async Task SerializeToStreamAsync(Stream stream, TransportContext? context)
        {
            stream.WriteByte((byte)'[');
            for (int i = 0; i < PerRun; i++)
            {
                if (i > 0)
                    stream.WriteByte((byte)',');

                await stream.WriteAsync(Item(CrashDocuments.BulkId(run, i)));
                if (i % 100 == 0)
                    await stream.FlushAsync();
            }

            stream.WriteByte((byte)']');
        }

        protected override bool TryComputeLength(out long length)
        {
            length = 0;
            return false;
        }

        private static byte[] Item(string id)
        {
            using var buffer = new MemoryStream();
            using (var writer = new Utf8JsonWriter(buffer))
            {
                writer.WriteStartObject();
                writer.WriteString("Id", id);
                writer.WriteString("Type", "PUT");
                writer.WritePropertyName("Document");
                CrashDocuments.WriteDocument(writer, id, "Bulk");
                writer.WriteEndObject();
            }

            return buffer.ToArray();
        }
    }
}
