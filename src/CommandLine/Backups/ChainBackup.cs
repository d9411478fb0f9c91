using System.Globalization;
using System.Text.Json;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.CommandLine.Http;
using Treepie.Storage;
using Treepie.Storage.Encryption;

namespace Treepie.CommandLine.Backups;

/// <summary>
/// Takes a snapshot, an increment or a segment of the log of a database and writes it to places, continuing the chain that is
/// stored there. If the chain cannot be continued, takes the kind of backup that is possible and reports why.
/// </summary>
internal sealed class ChainBackup(Shell shell, ChainOutput output, BackupOptions options, bool isIncremental)
{
    /// <summary>Backs up an open database.</summary>
    public async Task<string> RunAsync(Database database, EncryptionKey? key, CancellationToken cancellationToken)
    {
        ChainEnd? end = await FindEndAsync(database.Name, key, cancellationToken);
        BackupOptions all = options with { EncryptionKey = key, Since = end?.Link, HashesContent = end is null };
        if (!await NextPart.HasChangedAsync(database, all))
            return Unchanged();

        (BackupReport report, BackupLink? since, string? instead, string name) = await BackupDisplay.RunAsync(
            shell, output.Title, async progress =>
            {
                string written = "";
                (BackupReport report, BackupLink? since, string? instead) = await NextPart.TakeAsync(database, all, async now =>
                {
                    (written, BackupReport done) = await output.WriteAsync(
                        database.Name, now.Kind, now.Since is not null, key is not null,
                        stream => database.BackupAsync(stream, now, progress, cancellationToken), cancellationToken);
                    return done;
                });
                return (report, since, instead, written);
            });
        await output.WriteCardAsync(BackupCard.Of(name, report, since), cancellationToken);
        return Describe(
            report.Kind, report.IsIncremental, name, report.StoredBytes, report.LastCommit, end is null ? null : instead,
            key is not null);
    }

    /// <summary>Backs up a database of a server.</summary>
    public async Task<string> RunAsync(DatabaseClient database, CancellationToken cancellationToken)
    {
        EncryptionKey? key = options.EncryptionKey;
        ChainEnd? end = await FindEndAsync(database.Name, key, cancellationToken);
        long operation = await database.NextOperationIdAsync(cancellationToken);
        using HttpResponseMessage response = await database.BackupPartAsync(
            options with { Since = end?.Link, HashesContent = end is null }, options.AllowPlain || key is not null, Reader(),
            operation, cancellationToken);
        if (response.StatusCode == System.Net.HttpStatusCode.NoContent)
            return Unchanged();

        BackupKind kind = Enum.Parse<BackupKind>(Header(response, "Treepie-Kind"));
        bool isSealed = key is not null || Header(response, "Treepie-Sealed") == "true",
            goesOn = Header(response, "Treepie-Incremental") == "true";
        (string name, long bytes) = await BackupDisplay.RunAsync(
            shell, output.Title,
            progress => output.WriteAsync(
                database.Name, kind, goesOn, isSealed, file => CopyAsync(response, file, key, progress, cancellationToken),
                cancellationToken));
        using JsonDocument state = await database.OperationStateAsync(operation, cancellationToken);
        JsonElement result = state.RootElement.GetProperty("Result");
        await output.WriteCardAsync(ChainOutput.CardOf(name, result), cancellationToken);
        return Describe(
            kind, goesOn, name, bytes, result.GetProperty("LastCommit").GetInt64(),
            end is null ? null : result.GetProperty("Instead").GetString(), isSealed);
    }

    private static string Header(HttpResponseMessage response, string name) =>
        response.Headers.TryGetValues(name, out IEnumerable<string>? values)
            ? values.First()
            : throw new InvalidDataException(
                $"The server does not say what it sends ('{name}' is missing in its answer): it is of another version than this "
                    + $"program.");

    private static async Task<long> CopyAsync(
        HttpResponseMessage response, Stream file, EncryptionKey? key, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken)
    {
        await using Stream part = await response.Content.ReadAsStreamAsync(cancellationToken);
        await using var counted = new ObservedStream(file, BackupStep.Writing, 0, progress);
        if (key is null)
        {
            await part.CopyToAsync(counted, cancellationToken);
        }
        else
        {
            await using var seal = new SealedWriteStream(counted, key, leaveOpen: true);
            await part.CopyToAsync(seal, cancellationToken);
            await seal.CompleteAsync(cancellationToken);
        }

        return counted.Count;
    }

    /// <summary>End of the chain to continue, or null if there is none; a full snapshot continues nothing.</summary>
    private async Task<ChainEnd?> FindEndAsync(string database, EncryptionKey? key, CancellationToken cancellationToken) =>
        isIncremental ? await output.FindEndAsync(database, key, cancellationToken) : null;

    /// <summary>Identifies the set of places as one reader of the log, so that each set has its own position in it.</summary>
    private string Reader() => "places " + output.Title;

    private string Unchanged() => $"Nothing has changed since the last backup at '{output.Title}', and nothing was written.";

    private string Describe(BackupKind kind, bool goesOn, string name, long bytes, long commit, string? instead, bool isSealed)
    {
        string what = (kind, goesOn) switch
        {
            (BackupKind.Log, _) => "a stretch of the log",
            (_, true) => "an increment",
            _ => "a snapshot",
        };
        string why = instead is null ? "" : $" It is not the log or increment that was asked for: {instead}";
        return string.Create(
            CultureInfo.InvariantCulture,
            $"Backed up to '{output.Title}': {what} up to commit {commit}, {bytes / 1e6:N1} MB{(isSealed ? ", sealed" : "")}, as "
                + $"'{name}'.{why}");
    }
}
