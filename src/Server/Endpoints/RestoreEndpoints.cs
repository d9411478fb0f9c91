using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Destinations;
using Treepie.Encryption;
using Treepie.Server.Backups;
using Treepie.Server.Http;
using Treepie.Server.Operations;
using Treepie.Server.Security;
using Treepie.Server.Smuggler;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Restores backups at a destination to a new database, and lists what can be restored. Backups sent by a client are restored
/// by <see cref="SmugglerEndpoints"/>.
/// </summary>
internal static class RestoreEndpoints
{
    private const int MaxBodyBytes = 256 * 1024;

    public static void Map(Routes routes)
    {
        routes.Server("POST", "/admin/restore/database", AccessLevel.Operator, Restore);
        routes.Server("POST", "/admin/restore/points", AccessLevel.Operator, Points);
        routes.Server("POST", "/admin/backups/verify", AccessLevel.Operator, Verify);
        routes.Server("POST", "/admin/backups/list", AccessLevel.Operator, List);
    }

    private static async Task Restore(HttpServerRequest request)
    {
        using RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        using JsonDocument json = WireJson.ParseObject(
            body,
            "a restore configuration such as "
                + "{\"Type\":\"Local\",\"BackupLocation\":\"/backups/shop\",\"DatabaseName\":\"shop2\"}");
        JsonElement root = json.RootElement;
        string name = WireJson.Text(root, "DatabaseName", required: true) ?? "";
        if (request.Server.Databases.Names.Contains(name, StringComparer.OrdinalIgnoreCase))
            throw new ConcurrencyException(
                $"A database named '{name}' exists already, and a backup is restored to a new one only. Choose another name, or "
                    + $"delete that one first.");
        if (BackupTaskReader.NotEmpty(WireJson.Text(root, "DataDirectory", required: false)) is not null)
            throw WireException.NotBuilt("'DataDirectory' of a restore: databases lie below the server's own directory");

        PlaceQuery query = ReadQuery(root, request);
        var options = new RestoreOptions
        {
            SkipInvalidDocuments = WireJson.Flag(root, "SkipCorruptedData"),
            AllowPlain = WireJson.Flag(root, "AllowPlain")
        };
        BackupKey? key = ReadBackupKey(root, request);
        try
        {
            bool encrypted = TakeDatabaseKey(root, request, name);
            Operation operation = request.Server.Backups.Start(
                request.Server.Operations.OfServer, "restore", async (operation, stop) =>
                {
                    using BackupKey? opened = key;
                    return await RunAsync(request.Server, operation, name, query, encrypted, options, opened, stop)
                        .ConfigureAwait(false);
                });
            await OperationsEndpoints.WriteStartedAsync(request, operation).ConfigureAwait(false);
        }
        catch
        {
            key?.Dispose();
            throw;
        }
    }

    private static async Task<Action<Utf8JsonWriter>> RunAsync(
        ServerContext server, Operation operation, string name, PlaceQuery query, bool encrypted, RestoreOptions options,
        BackupKey? key, CancellationToken stop)
    {
        using BackupDestination place = server.Backups.Scheduler.OpenPlace(query.Place);
        BackupSelection selection = await SelectAsync(place, query, key, stop).ConfigureAwait(false);
        options = options with { StopAtCommit = selection.StopAtCommit, StopAtTime = selection.StopAtTime };
        BackupReport report = await server.Databases.MakeAsync(
            name,
            () => server.Databases.Source.RestoreAsync(
                name, selection.Parts, encrypted, key is null ? options : options.OpenedWith(key),
                new OperationReporter(operation), stop)).ConfigureAwait(false);
        return json => WriteResult(json, report, selection.Parts);
    }

    /// <summary>
    /// Selects the backups needed to restore the requested point. A file whose name is not that of a backup is given as is,
    /// for example a dump of another program.
    /// </summary>
    private static async Task<BackupSelection> SelectAsync(
        BackupDestination place, PlaceQuery query, BackupKey? key, CancellationToken stop)
    {
        BackupInventory inventory = await BackupInventory.ReadAsync(place, query.Database, OpenedWith(key), stop)
            .ConfigureAwait(false);
        return query.Wish.Object is { } file
            && inventory.Points.All(point => point.Object != file && !point.Object.EndsWith("/" + file, StringComparison.Ordinal))
            ? new BackupSelection(
                [], [new BackupPart(file, async cancelled => await place.OpenAsync(file, cancelled).ConfigureAwait(false))],
                query.Wish.Commit, query.Wish.Time)
            : inventory.Select(query.Wish);
    }

    private static async Task Verify(HttpServerRequest request)
    {
        using RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        using JsonDocument json = WireJson.ParseObject(
            body, "what to verify, such as {\"Type\":\"Local\",\"BackupLocation\":\"/backups\",\"SourceDatabase\":\"shop\"}");
        PlaceQuery query = ReadQuery(json.RootElement, request);
        BackupKey? key = ReadBackupKey(json.RootElement, request);
        ServerContext server = request.Server;
        Operation operation = server.Backups.Start(server.Operations.OfServer, "verification", async (operation, stop) =>
        {
            using BackupKey? opened = key;
            using BackupDestination place = server.Backups.Scheduler.OpenPlace(query.Place);
            BackupSelection selection = await SelectAsync(place, query, opened, stop).ConfigureAwait(false);
            var options = new RestoreOptions { StopAtCommit = selection.StopAtCommit, StopAtTime = selection.StopAtTime };
            BackupReport report = await server.Backups.Scheduler.VerifyAsync(
                query.Database, selection.Parts, opened is null ? options : options.OpenedWith(opened),
                new OperationReporter(operation), stop).ConfigureAwait(false);
            return json => WriteResult(json, report, selection.Parts);
        });
        await OperationsEndpoints.WriteStartedAsync(request, operation).ConfigureAwait(false);
    }

    private static async Task List(HttpServerRequest request)
    {
        using RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        using JsonDocument json = WireJson.ParseObject(
            body, "a place, such as {\"Type\":\"Local\",\"BackupLocation\":\"/backups\"}");
        PlaceQuery query = ReadQuery(json.RootElement, request);
        using BackupKey? key = ReadBackupKey(json.RootElement, request);
        using BackupDestination place = request.Server.Backups.Scheduler.OpenPlace(query.Place);
        BackupInventory all = await BackupInventory.ReadAsync(place, query.Database, OpenedWith(key), request.Aborted)
            .ConfigureAwait(false);
        var inventories = new List<BackupInventory>();
        if (all.Databases.Count > 1)
            foreach (string database in all.Databases)
                inventories.Add(
                    await BackupInventory.ReadAsync(place, database, OpenedWith(key), request.Aborted).ConfigureAwait(false));
        else if (all.Database is not null)
            inventories.Add(all);
        await request.JsonAsync(inventories, static (json, inventories) => InventoryJson.Write(json, inventories))
            .ConfigureAwait(false);
    }

    private static async Task Points(HttpServerRequest request)
    {
        using RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        using JsonDocument json = WireJson.ParseObject(body, "a folder ({\"FolderPath\":…}) or the settings of a bucket");
        DestinationSettings settings = request.Parameter("type") switch
        {
            "S3" => BackupTaskReader.ReadS3(json.RootElement),
            null or "" or "Local" => BackupTaskReader.ReadLocal(json.RootElement),
            var other => throw WireException.NotBuilt($"Restoring from '{other}'; there are Local and S3"),
        } ?? BackupTaskReader.ReadDestination(json.RootElement);
        if (settings.SecretKey is not null)
            SecretTransport.Require(request.Http);
        using BackupDestination place = request.Server.Backups.Scheduler.OpenPlace(settings);
        IReadOnlyList<RestorePoint> points = await BackupName.ListAsync(place, null, request.Aborted).ConfigureAwait(false);
        await request.JsonAsync((points, place.Address), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteStartArray("List");
            // clients know only full backups and increments
            foreach (RestorePoint point in state.points.Where(static point => point.Kind != BackupKind.Log))
            {
                json.WriteStartObject();
                json.WriteString("DatabaseName", point.Database);
                json.WriteString("DateTime", WireTime.ToWire(point.TakenAt));
                json.WriteString("Location", state.Address);
                json.WriteString("FileName", point.Object);
                json.WriteNumber("FilesToRestore", BackupName.ChainOf(state.points, point).Count);
                json.WriteNumber("SizeInBytes", point.LengthBytes);
                json.WriteBoolean("IsSnapshotRestore", point.Kind == BackupKind.Snapshot);
                json.WriteBoolean("IsIncremental", point.IsIncremental);
                json.WriteBoolean("IsEncrypted", point.IsEncrypted);
                json.WriteString("NodeTag", TopologyEndpoints.NodeTag);
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        }).ConfigureAwait(false);
    }

    private static RestoreOptions? OpenedWith(BackupKey? key) => key is null ? null : new RestoreOptions().OpenedWith(key);

    private static PlaceQuery ReadQuery(JsonElement root, HttpServerRequest request)
    {
        DestinationSettings place = ReadPlace(root);
        if (place.SecretKey is not null)
            SecretTransport.Require(request.Http);
        request.Server.Backups.Scheduler.OpenPlace(place).Dispose(); // report an invalid address now
        DateTime? time = WireJson.Text(root, "StopAtTime", required: false) is not { Length: > 0 } text
            ? null
            : WireTime.TryParseTime(text, out DateTime utc)
                ? utc
                : throw WireException.BadRequest($"'StopAtTime' is no time: '{text}'. Give one such as 2026-01-31T14:00:00Z.");
        long? commit = root.TryGetProperty("StopAtCommit", out JsonElement number) && number.ValueKind != JsonValueKind.Null
            ? WireJson.Count(root, "StopAtCommit", 0)
            : null;
        if (time is not null && commit is not null)
            throw WireException.BadRequest("'StopAtCommit' and 'StopAtTime' both say where to stop; give one of them.");
        return new PlaceQuery(
            place,
            BackupTaskReader.NotEmpty(WireJson.Text(root, "SourceDatabase", required: false)),
            new RestoreWish
            {
                Object = BackupTaskReader.NotEmpty(WireJson.Text(root, "LastFileNameToRestore", required: false)),
                Commit = commit,
                Time = time
            });
    }

    private static DestinationSettings ReadPlace(JsonElement root) => (WireJson.Text(root, "Type", required: false) switch
    {
        null or "" or "Local" => BackupTaskReader.NotEmpty(WireJson.Text(root, "BackupLocation", required: false)) is { } folder
            ? new DestinationSettings { Address = folder }
            : root.TryGetProperty("Destination", out JsonElement place) ? BackupTaskReader.ReadDestination(place) : null,
        "S3" => BackupTaskReader.ReadS3(BackupTaskReader.Part(root, "Settings")),
        var other => throw WireException.NotBuilt($"Restoring from '{other}'; there are Local and S3"),
    }) ?? throw WireException.BadRequest(
        "The restore configuration does not say where the backup is: 'BackupLocation' of type Local, or 'Settings' of type S3.");

    private static BackupKey? ReadBackupKey(JsonElement root, HttpServerRequest request)
    {
        JsonElement encryption = BackupTaskReader.Part(root, "BackupEncryptionSettings");
        if (encryption.ValueKind != JsonValueKind.Object
            || BackupTaskReader.NotEmpty(WireJson.Text(encryption, "Key", required: false)) is not { } text)
            return null;
        SecretTransport.Require(request.Http);
        return UseBytes(text, static utf8 => BackupKey.From(utf8));
    }

    /// <summary>Returns whether the new database is to be encrypted; stores a key in the request for it.</summary>
    private static bool TakeDatabaseKey(JsonElement root, HttpServerRequest request, string name)
    {
        if (BackupTaskReader.NotEmpty(WireJson.Text(root, "EncryptionKey", required: false)) is not { } text)
            return WireJson.Flag(root, "Encrypted");
        SecretTransport.Require(request.Http);
        return UseBytes(text, utf8 =>
        {
            request.Server.Databases.Source.GiveKey(name, utf8, keep: true, overwrite: false);
            return true;
        });
    }

    private static T UseBytes<T>(string text, Func<byte[], T> use)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(text);
        try
        {
            return use(utf8);
        }
        catch (KeySourceException exception)
        {
            throw WireException.BadRequest(exception.Message, exception);
        }
        finally
        {
            CryptographicOperations.ZeroMemory(utf8);
        }
    }

    private static void WriteResult(Utf8JsonWriter json, BackupReport report, IReadOnlyList<BackupPart> parts)
    {
        json.WriteStartObject();
        json.WriteNumber("Processed", report.Counts.Documents);
        json.WriteNumber("Total", report.Counts.Documents);
        json.WriteString("Object", parts[^1].Name);
        json.WriteNumber("Parts", report.PartCount);
        json.WriteNumber("LastEtag", report.LastEtag);
        json.WriteNumber("LastCommit", report.LastCommit);
        json.WriteString("LastCommitAt", report.LastCommitAt is { } at ? WireTime.ToWire(at) : null);
        json.WriteNumber("LogCommits", report.LogCommits);
        json.WriteNumber("CountedAtCommit", report.CountedAtCommit);
        json.WriteString("ContentHash", report.ContentHash);
        ReportJson.WriteCounts(json, report);
        json.WriteEndObject();
    }

    /// <summary>A destination, and what is requested of it.</summary>
    private sealed record PlaceQuery(DestinationSettings Place, string? Database, RestoreWish Wish);
}
