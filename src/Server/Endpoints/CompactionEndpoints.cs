using System.Text.Json;
using Treepie.Server.Databases;
using Treepie.Server.Http;
using Treepie.Server.Operations;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>Compacts the files of a database while it is in use, as an operation of the server.</summary>
internal static class CompactionEndpoints
{
    private const double BytesPerMb = 1024 * 1024;

    public static void Map(Routes routes) => routes.Server("POST", "/admin/compact", AccessLevel.Operator, Compact);

    private static async Task Compact(HttpServerRequest request)
    {
        string name;
        CompactionOptions options;
        using (RequestBody body = await request.ReadBodyAsync(request.Server.Limits.MaxRequestBytes).ConfigureAwait(false))
        using (JsonDocument json = WireJson.ParseObject(body, "{\"DatabaseName\":\"db\",\"Documents\":true,\"Indexes\":[…]}"))
        {
            name = WireJson.Text(json.RootElement, "DatabaseName", required: true) ?? "";
            options = new CompactionOptions
            {
                Documents = WireJson.Flag(json.RootElement, "Documents"),
                Indexes = ReadNames(json.RootElement),
            };
        }

        if (!options.Documents && options.Indexes is { Count: 0 })
            throw WireException.BadRequest(
                "Neither documents nor indexes are to be compacted. Ask for 'Documents', or name 'Indexes'. Nothing was done.");
        DatabaseLease lease = request.Server.Databases.Enter(name);
        try
        {
            string[] known = [.. lease.Database.Indexes.List().Select(static index => index.Name)];
            if (options.Indexes?.FirstOrDefault(index => !known.Contains(index, StringComparer.OrdinalIgnoreCase)) is { } missing)
                throw new IndexNotFoundException(missing);
        }
        catch
        {
            lease.Dispose();
            throw;
        }

        Operation operation = request.Server.Backups.Start(
            request.Server.Operations.OfServer, "compaction", (operation, stop) =>
            {
                using DatabaseLease inside = lease;
                using var either = CancellationTokenSource.CreateLinkedTokenSource(stop, lease.Closing);
                CompactionReport report = lease.Database.Compact(options, new Watcher(operation), either.Token);
                return Task.FromResult<Action<Utf8JsonWriter>>(json => Write(json, report));
            },
            lease);
        await OperationsEndpoints.WriteStartedAsync(request, operation).ConfigureAwait(false);
    }

    private static List<string> ReadNames(JsonElement json)
    {
        if (!json.TryGetProperty("Indexes"u8, out JsonElement given) || given.ValueKind == JsonValueKind.Null)
            return [];
        if (given.ValueKind != JsonValueKind.Array)
            throw WireException.BadRequest(
                $"'Indexes' is a JSON {given.ValueKind}; expected is an array of names. Nothing was done.");
        return [.. given.EnumerateArray().Select(static name => WireJson.Text(name, "Indexes") ?? "")];
    }

    private static void Write(Utf8JsonWriter json, CompactionReport report)
    {
        json.WriteStartObject();
        json.WriteString("Message", "The database was compacted.");
        WriteSizes(json, report.BytesBefore, report.BytesAfter);
        if (report.Documents is { } documents)
        {
            json.WritePropertyName("Documents");
            Write(json, documents);
        }

        json.WriteStartObject("IndexesResults");
        foreach ((string name, CompactedStore index) in report.Indexes)
        {
            json.WritePropertyName(name);
            Write(json, index);
        }

        json.WriteEndObject();
        json.WriteEndObject();
    }

    private static void Write(Utf8JsonWriter json, CompactedStore report)
    {
        json.WriteStartObject();
        WriteSizes(json, report.BytesBefore, report.BytesAfter);
        json.WriteNumber("MovedPages", report.MovedPages);
        json.WriteNumber("FreeBytes", report.FreeBytes);
        json.WriteTexts("HeldBy", report.HeldBy);
        json.WriteEndObject();
    }

    private static void WriteSizes(Utf8JsonWriter json, long before, long after)
    {
        json.WriteNumber("SizeBeforeCompactionInMb", (long)Math.Round(before / BytesPerMb));
        json.WriteNumber("SizeAfterCompactionInMb", (long)Math.Round(after / BytesPerMb));
        json.WriteNumber("SizeBeforeCompactionInBytes", before);
        json.WriteNumber("SizeAfterCompactionInBytes", after);
    }

    private sealed class Watcher(Operation operation) : IProgress<CompactionProgress>
    {
        public void Report(CompactionProgress value) =>
            operation.Report(new OperationProgress(value.MovedPages, value.MovedPages, 0, value.Store));
    }
}
