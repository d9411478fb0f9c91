using System.Text.Json;
using Treepie.BackupTasks;
using Treepie.Server.Http;

namespace Treepie.Server.Backups;

/// <summary>A backup task of all databases of the server, except some. Immutable.</summary>
/// <param name="Task">The task; its id is its number among those of the server.</param>
/// <param name="Excluded">The databases that do not have it.</param>
internal sealed record ServerWideBackup(BackupTask Task, IReadOnlyList<string> Excluded)
{
    /// <summary>The prefix of the names that these tasks have in databases.</summary>
    public const string Prefix = "Server Wide Backup, ";

    private const string ExcludedDatabases = "ExcludedDatabases";

    /// <summary>The name of the task in databases.</summary>
    public string NameInDatabases => Prefix + Task.Name;

    /// <summary>Reads a configuration.</summary>
    /// <param name="json">The configuration.</param>
    /// <param name="before">The one that it replaces: what it does not name stays as it is there.</param>
    /// <exception cref="WireException">A member is not valid, or holds a secret.</exception>
    public static ServerWideBackup Read(JsonElement json, ServerWideBackup? before)
    {
        BackupTask task = BackupTaskReader.Read(json, defaultName: "Backup", before?.Task);
        if (task.Key is not null
            || task.Destinations.Any(static place => (place.AccessKey ?? place.SecretKey ?? place.SessionToken) is not null))
            throw WireException.BadRequest(
                "What all databases share is not encrypted on the disk, so a backup task of all databases brings no key and no "
                    + "secret. Nothing was changed. Name a place of the server (--backup-folder NAME=s3://bucket/prefix), and "
                    + "say where a key is ('KeySource').");
        return new ServerWideBackup(
            task,
            json.TryGetProperty(ExcludedDatabases, out JsonElement excluded) ? ReadNames(excluded) : before?.Excluded ?? []);
    }

    /// <summary>Returns whether the name of a task in a database is reserved for these tasks.</summary>
    public static bool IsReserved(string nameInDatabase) =>
        nameInDatabase.StartsWith(Prefix, StringComparison.OrdinalIgnoreCase);

    /// <summary>Returns whether a task in a database, by its name there, was made by this one.</summary>
    public bool Made(string nameInDatabase) =>
        string.Equals(NameInDatabases, nameInDatabase, StringComparison.OrdinalIgnoreCase);

    public bool IsNamed(string name) => string.Equals(Task.Name, name, StringComparison.OrdinalIgnoreCase);

    public bool Covers(string database) => !Excluded.Contains(database, StringComparer.OrdinalIgnoreCase);

    /// <summary>Writes the configuration as it is read.</summary>
    public void Write(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        BackupTaskJson.WriteMembers(json, Task);
        json.WriteTexts(ExcludedDatabases, Excluded);
        json.WriteEndObject();
    }

    private static List<string> ReadNames(JsonElement names) => names.ValueKind switch
    {
        JsonValueKind.Null => [],
        JsonValueKind.Array => [
            .. names.EnumerateArray().Select(
                static name => WireJson.Text(name, ExcludedDatabases)
                    ?? throw WireException.BadRequest($"'{ExcludedDatabases}' holds a null. Nothing was changed."))],
        _ => throw WireException.BadRequest($"'{ExcludedDatabases}' must be an array of names. Nothing was changed."),
    };
}
