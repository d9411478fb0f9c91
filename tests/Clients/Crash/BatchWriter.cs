using System.Buffers;
using System.Net.Http.Headers;
using System.Text.Json;

namespace Treepie.Clients.Tests.Crash;

/// <summary>A client that sends one batch after the other and remembers which were acknowledged.</summary>
internal sealed class BatchWriter(int number)
{
    /// <summary>Which writer it is.</summary>
    public int Number { get; } = number;

    /// <summary>Number of the last batch that was acknowledged; 0: none.</summary>
    public int Acknowledged { get; private set; }

    /// <summary>Writes until the server is gone. Calls <paramref name="acknowledged"/> after every batch.</summary>
    public async Task RunAsync(string url, string database, Action acknowledged)
    {
        using var http = new HttpClient { BaseAddress = new Uri(url) };
        try
        {
            while (true)
            {
                using var content = new ReadOnlyMemoryContent(Body(Acknowledged + 1));
                content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
                using HttpResponseMessage response = await http.PostAsync(
                    $"/databases/{database}/bulk_docs", content, TestContext.Current.CancellationToken);
                Assert.True(
                    response.IsSuccessStatusCode,
                    await response.Content.ReadAsStringAsync(TestContext.Current.CancellationToken));
                Acknowledged++;
                acknowledged();
            }
        }
        catch (HttpRequestException)
        {
            // The server was killed.
        }
    }

    /// <summary>After a restart: a batch that was in flight is there too, although its acknowledgement was lost.</summary>
    public void GoOnAfter(int batch) => Acknowledged = batch;

    private ReadOnlyMemory<byte> Body(int batch)
    {
        var buffer = new ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(buffer))
        {
            writer.WriteStartObject();
            writer.WriteStartArray("Commands");
            for (int i = 0; i < CrashDocuments.PerBatch; i++)
                WritePut(writer, CrashDocuments.BatchId(Number, batch, i), "Batches");

            WritePut(writer, CrashDocuments.BatonId(Number, batch), "Batons");
            WriteDelete(writer, CrashDocuments.BatonId(Number, batch - 1));
            WriteLast(writer, batch);
            writer.WriteEndArray();
            writer.WriteEndObject();
        }

        return buffer.WrittenMemory;
    }

    private static void WritePut(Utf8JsonWriter writer, string id, string collection)
    {
        writer.WriteStartObject();
        writer.WriteString("Type", "PUT");
        writer.WriteString("Id", id);
        writer.WritePropertyName("Document");
        CrashDocuments.WriteDocument(writer, id, collection);
        writer.WriteEndObject();
    }

    private static void WriteDelete(Utf8JsonWriter writer, string id)
    {
        writer.WriteStartObject();
        writer.WriteString("Type", "DELETE");
        writer.WriteString("Id", id);
        writer.WriteEndObject();
    }

    private void WriteLast(Utf8JsonWriter writer, int batch)
    {
        writer.WriteStartObject();
        writer.WriteString("Type", "PUT");
        writer.WriteString("Id", CrashDocuments.LastId(Number));
        writer.WriteStartObject("Document");
        writer.WriteNumber("Batch", batch);
        CrashDocuments.WriteCollection(writer, "Last");
        writer.WriteEndObject();
        writer.WriteEndObject();
    }
}
