using System.Net;
using System.Text.Json.Nodes;

namespace Treepie.Torture.Servers;

/// <summary>
/// Takes backups of every kind while others write. Each backup that was reported complete must contain a state between its
/// start and its end, as a writer's <see cref="Ledger"/> shows in the database restored from it.
/// </summary>
internal sealed class BackupClient(IReadOnlyList<StormWriter> writers, string? key, Random random) : IStormClient
{
    /// <summary>Name of the configured folder that requests refer to.</summary>
    public const string Place = "storm";

    /// <summary>Name of the key that seals the backups of an encrypted database, whose own key changes all the time.</summary>
    public const string KeySource = "seal";

    private const string Again = "again";
    private readonly List<Taken> _taken = [];
    private readonly long[] _tasks = new long[2];
    private int _finished;
    private int _restored;

    public string Report => $"{_finished} backups, {_restored} restored";

    public async Task PrepareAsync(DatabaseClient database)
    {
        foreach ((int i, string type) in ((int, string)[])[(0, "Snapshot"), (1, "Backup")])
        {
            JsonNode task = await database.SendAsync(HttpMethod.Post, "admin/periodic-backup", new JsonObject
            {
                ["Name"] = type,
                ["BackupType"] = type,
                ["FullBackupFrequency"] = "0 0 1 1 *",
                ["LogInterval"] = i == 0 ? "10:00:00" : null,
                ["BackupEncryptionSettings"] = key is null ? null : new JsonObject { ["KeySource"] = KeySource },
                ["LocalSettings"] = new JsonObject { ["FolderPath"] = $"{Place}/{type}" },
                ["PercentWhileWriting"] = 100,
                ["RetentionPolicy"] = new JsonObject { ["MinimumBackupsToKeep"] = 100 },
            });
            _tasks[i] = (long)task["TaskId"]!; // every response has it
        }
    }

    public async Task RunAsync(DatabaseClient database, Action acknowledged)
    {
        while (true)
        {
            int task = random.Next(2);
            string kind = random.Next(4) switch
            {
                0 => "full",
                1 => "incremental",
                _ => task == 0 ? "log" : "incremental",
            };
            int[] least = [.. writers.Select(static writer => writer.Acknowledged)];
            (HttpStatusCode status, string text) = await database.TryAsync(
                HttpMethod.Post, $"admin/backup/database?taskId={_tasks[task]}&kind={kind}");
            if (status == HttpStatusCode.Conflict)
                continue; // the task continues what the kill interrupted
            ServerTortureException.ThrowUnless((int)status < 300, $"The backup is answered {(int)status}: {text}");
            JsonNode? result = await database.EndOfAsync(JsonNode.Parse(text)!, isOfServer: false); // the response is an object
            if ((bool?)result?["NothingChanged"] == false && (string?)result["Object"] is { } file)
            {
                ServerTortureException.ThrowUnless(
                    (bool)result["Places"]![0]!["IsProven"]!, // a report has both
                    $"The backup is not proven: {result}");
                _taken.Add(new Taken(task, file, least, [.. writers.Select(static writer => writer.Begun)]));
                _finished++;
            }

            acknowledged();
            await Task.Delay(random.Next(200));
        }
    }

    public async Task VerifyAsync(DatabaseClient database)
    {
        if (_taken.Count == 0)
            return;

        if (key is not null)
            await database.GiveKeyAsync(Again);
        Taken taken = _taken[random.Next(_taken.Count)];
        JsonNode started = await database.SendAsync(HttpMethod.Post, "/admin/restore/database", new JsonObject
        {
            ["Type"] = "Local",
            ["BackupLocation"] = $"{Place}/{(taken.Task == 0 ? "Snapshot" : "Backup")}",
            ["LastFileNameToRestore"] = taken.File,
            ["DatabaseName"] = Again,
            ["Encrypted"] = key is not null,
            ["BackupEncryptionSettings"] = key is null ? null : new JsonObject { ["Key"] = key },
        });
        ServerTortureException.ThrowUnless(
            await database.EndOfAsync(started, isOfServer: true) is not null, $"{taken.File} cannot be restored.");
        using (DatabaseClient again = database.Of(Again))
        {
            for (int i = 0; i < writers.Count; i++)
            {
                Ledger found = await Ledger.ReadAsync(again, writers[i].Number);
                ServerTortureException.ThrowUnless(
                    found.Number >= taken.Least[i] && found.Number <= taken.Most[i],
                    $"The backup {taken.File} has batch {found.Number} of writer {writers[i].Number}; from {taken.Least[i]} "
                        + $"to {taken.Most[i]} can be in it.");
            }
        }

        await database.SendAsync(HttpMethod.Delete, "/admin/databases", new JsonObject
        {
            ["DatabaseNames"] = new JsonArray(Again),
            ["HardDelete"] = true,
        });
        _restored++;
    }

    /// <summary>A finished backup, and the range of batches of each writer that may be the last in it.</summary>
    private sealed record Taken(int Task, string File, int[] Least, int[] Most);
}
