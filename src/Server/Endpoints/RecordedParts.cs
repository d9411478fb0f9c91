using System.Text.Json;
using Treepie.BackupTasks;
using Treepie.Indexes;
using Treepie.Server.Backups;
using Treepie.Server.Http;

namespace Treepie.Server.Endpoints;

/// <summary>
/// What the record of a database shows besides its settings, and takes when it creates the database: indexes, those made by
/// queries, and backup tasks. They are changed one by one, not with the record.
/// </summary>
internal sealed class RecordedParts
{
    /// <summary>The members of a record that hold them.</summary>
    public const string Indexes = "Indexes", AutoIndexes = "AutoIndexes", Backups = "PeriodicBackups";

    private readonly JsonElement[] _indexes;
    private readonly JsonProperty[] _autoIndexes;
    private readonly JsonElement[] _backups;

    private RecordedParts(JsonElement[] indexes, JsonProperty[] autoIndexes, JsonElement[] backups) =>
        (_indexes, _autoIndexes, _backups) = (indexes, autoIndexes, backups);

    /// <summary>Reads them from a record.</summary>
    /// <exception cref="WireException">A member is of another kind.</exception>
    public static RecordedParts Read(JsonElement record) => new(
        [.. Members(record, Indexes).Select(static member => member.Value)],
        [.. Members(record, AutoIndexes)],
        record.TryGetProperty(Backups, out JsonElement tasks) && tasks.ValueKind != JsonValueKind.Null
            ? tasks.ValueKind == JsonValueKind.Array
                ? [.. tasks.EnumerateArray()]
                : throw WireException.BadRequest($"'{Backups}' of the database record is no array. Nothing was changed.")
            : []);

    /// <summary>Adds them to a new database.</summary>
    public async Task AddToAsync(HttpServerRequest request, Database database)
    {
        if (_indexes.Length > 0)
            IndexesEndpoints.PutAll(database, _indexes);
        foreach (JsonProperty index in _autoIndexes)
            database.Indexes.MakeAutoIndex(index.Name, index.Value);
        foreach (JsonElement task in _backups)
            await request.Server.Backups.Scheduler
                .PutAsync(
                    database.Name, BackupEndpoints.Read(request, task, defaultName: "Backup") with { Id = 0 }, request.Aborted)
                .ConfigureAwait(false);
    }

    /// <summary>
    /// Throws if the record that replaces the one of a database adds an index or a backup task. Those it has or lacks stay as
    /// they are: clients send back what they read, with other spellings.
    /// </summary>
    /// <exception cref="WireException">The record has an index or a task that the database does not have.</exception>
    public void RequireNothingNew(HttpServerRequest request, Database database)
    {
        var known = database.Indexes.List().Select(static index => index.Name).ToHashSet(StringComparer.OrdinalIgnoreCase);
        foreach (string name in _indexes.Select(static index => WireJson.Text(index, "Name", required: true) ?? "")
            .Concat(_autoIndexes.Select(static index => index.Name)))
            if (!known.Contains(name))
                throw WireException.BadRequest(
                    $"The record has an index '{name}', which the database does not have, and a record that replaces another "
                        + "adds none. Nothing was changed. Put the index by itself (PUT indexes).");
        if (_backups.Length == 0)
            return;
        var tasks = request.Server.Backups.Scheduler.List(database).Select(static info => info.Task.Id).ToHashSet();
        foreach (JsonElement task in _backups)
            if (!tasks.Contains(WireJson.Count(task, "TaskId", 0)))
                throw WireException.BadRequest(
                    $"The record has a backup task '{WireJson.Text(task, "Name", required: false)}', which the database does not "
                        + "have, and a record that replaces another adds none. Nothing was changed. Put the task by itself (POST "
                        + "admin/periodic-backup).");
    }

    /// <summary>Writes them as members of a record.</summary>
    /// <param name="json">Receives the members.</param>
    /// <param name="database">The database; null if it cannot be opened.</param>
    /// <param name="scheduler">The tasks.</param>
    public static void Write(Utf8JsonWriter json, Database? database, BackupScheduler scheduler)
    {
        IndexStatistics[] indexes = [
            .. (database?.Indexes.List() ?? []).Where(
                static index => index.Definition is not null
                    && !index.Name.StartsWith(IndexCatalogue.ReplacementPrefix, StringComparison.Ordinal))];
        json.WriteStartObject(Indexes);
        foreach (IndexStatistics index in indexes)
        {
            json.WritePropertyName(index.Name);
            IndexWire.WriteDefinition(json, index);
        }

        json.WriteEndObject();
        json.WritePropertyName(AutoIndexes);
        if (database is not null)
        {
            database.Indexes.WriteAutoIndexes(json);
        }
        else
        {
            json.WriteStartObject();
            json.WriteEndObject();
        }

        json.WriteStartObject("IndexesHistory");
        foreach (IndexStatistics index in indexes)
            if (database?.Indexes.History(index.Name) is { Count: > 0 } versions)
            {
                json.WritePropertyName(index.Name);
                IndexWire.WriteHistory(json, versions);
            }

        json.WriteEndObject();
        json.WriteStartArray(Backups);
        if (database is not null)
            foreach (BackupTaskInfo info in scheduler.List(database))
                BackupTaskJson.WriteConfiguration(json, info.Task);
        json.WriteEndArray();
    }

    private static JsonElement.ObjectEnumerator Members(JsonElement record, string name) =>
        !record.TryGetProperty(name, out JsonElement given) || given.ValueKind == JsonValueKind.Null ? default
        : given.ValueKind == JsonValueKind.Object ? given.EnumerateObject()
        : throw WireException.BadRequest($"'{name}' of the database record is no object. Nothing was changed.");
}
