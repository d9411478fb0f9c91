using System.Globalization;
using System.Text.Json;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Server.Http;
using Treepie.Server.Security;
using Treepie.Server.Smuggler;

namespace Treepie.Server.Endpoints;

/// <summary>
/// <c>admin/backup/part</c>: streams a snapshot, an increment or a log backup without storing it on the server's disk, for
/// clients that store backups themselves. It is an operation, whose result contains the link from which the next part
/// continues. Responds with no content if nothing was committed since the given link.
/// </summary>
internal static class BackupPartEndpoints
{
    /// <summary>
    /// Response headers with the kind of the backup and whether it is incremental. These may differ from what was requested;
    /// the result of the operation says why.
    /// </summary>
    private const string KindHeader = "Treepie-Kind", IncrementalHeader = "Treepie-Incremental";

    /// <summary>
    /// The response header of every backup that says whether it is encrypted, which determines its file name.
    /// </summary>
    public const string SealedHeader = "Treepie-Sealed";

    public static void Map(Routes routes) => routes.Database("POST", "/admin/backup/part", AccessLevel.DatabaseAdmin, Take);

    private static async Task Take(HttpServerRequest request, Database database)
    {
        using RequestBody body = await request.ReadBodyAsync(DumpForm.MaxOptionsBytes).ConfigureAwait(false);
        using SmugglerOptions options = SmugglerOptions.Read(body, database.Options);
        if (options.Key is not null)
            SecretTransport.Require(request.Http);
        BackupOptions wanted = ReadWanted(body, options);
        if (!await NextPart.HasChangedAsync(database, wanted).ConfigureAwait(false))
        {
            await request.NoContentAsync().ConfigureAwait(false);
            return;
        }

        await SmugglerEndpoints.RunAsync(
            request, request.Server.Operations.Of(database.Name), "backup", request.Server.Streams, async (operation, stop) =>
            {
                HttpResponse response = request.Http.Response;
                BackupOptions taken = wanted;
                // headers are set with the first byte: until then, another kind may be tried or an error returned
                response.OnStarting(() =>
                {
                    if (response.StatusCode == StatusCodes.Status200OK)
                        SayWhatItIs(response, taken, database);
                    return Task.CompletedTask;
                });
                (BackupReport report, BackupLink? since, string? instead) = await NextPart.TakeAsync(database, wanted, now =>
                {
                    taken = now;
                    return request.Server.Databases.Source.BackupAsync(
                        database, new AnswerStream(request.Output), now, new OperationReporter(operation), stop);
                }).ConfigureAwait(false);
                operation.Complete(json => WriteResult(json, report, since, instead));
            }).ConfigureAwait(false);
    }

    /// <summary>
    /// Returns whether a backup with these options is encrypted, with the given key or with that of the database.
    /// </summary>
    public static bool IsSealed(BackupOptions options, Database database) =>
        options.HasKey || (database.IsEncrypted && !options.AllowPlain);

    private static void SayWhatItIs(HttpResponse response, BackupOptions options, Database database)
    {
        response.ContentType = "application/octet-stream";
        response.Headers[KindHeader] = options.Kind.ToString();
        response.Headers[IncrementalHeader] = options.Since is null ? "false" : "true";
        response.Headers[SealedHeader] = IsSealed(options, database) ? "true" : "false";
    }

    private static BackupOptions ReadWanted(RequestBody body, SmugglerOptions options)
    {
        using JsonDocument json = WireJson.ParseObject(body, "what to back up, such as {\"Kind\":\"Snapshot\"}");
        BackupKind kind = WireJson.Text(json.RootElement, "Kind", required: false) switch
        {
            null or "" or "Snapshot" => BackupKind.Snapshot,
            "Log" => BackupKind.Log,
            var other => throw WireException.BadRequest($"There is no part of kind '{other}'; there are Snapshot and Log."),
        };
        BackupLink? since = null;
        try
        {
            if (WireJson.Text(json.RootElement, "Since", required: false) is { Length: > 0 } link)
                since = BackupLink.Parse(link);
        }
        catch (FormatException error)
        {
            throw WireException.BadRequest(error.Message, error);
        }

        return options.ForBackup() with
        {
            Kind = kind,
            Since = since,
            LogReader = WireJson.Text(json.RootElement, "LogReader", required: false) ?? "",
            HashesContent = WireJson.Flag(json.RootElement, "HashesContent"),
        };
    }

    private static void WriteResult(Utf8JsonWriter json, BackupReport report, BackupLink? since, string? instead)
    {
        json.WriteStartObject();
        if (BackupCard.Of("", report, since) is { } card)
        {
            json.WriteString("StoreId", card.StoreId.ToString("D"));
            json.WriteNumber("Since", card.Since);
            json.WriteString("PreviousHash", card.PreviousHash);
        }

        json.WriteString("Kind", report.Kind.ToString());
        json.WriteBoolean("IsIncremental", report.IsIncremental);
        json.WriteString("Link", report.Link?.ToString());
        json.WriteString("Instead", instead);
        json.WriteNumber("LastCommit", report.LastCommit);
        json.WriteString("LastCommitAt", report.LastCommitAt?.ToString("O", CultureInfo.InvariantCulture));
        json.WriteNumber("LastEtag", report.LastEtag);
        json.WriteNumber("LogCommits", report.LogCommits);
        json.WriteNumber("Pages", report.Pages);
        json.WriteString("ContentHash", report.ContentHash);
        json.WriteEndObject();
    }
}
