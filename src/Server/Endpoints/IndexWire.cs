using System.Text.Json;
using Treepie.Indexes;
using Treepie.Server.Http;

namespace Treepie.Server.Endpoints;

/// <summary>Writes indexes in the format of RavenDB's clients.</summary>
internal static class IndexWire
{
    public static string TypeOf(IndexStatistics index) =>
        (index.Definition is null ? "AutoMap" : "Map") + (index.IsMapReduce ? "Reduce" : "");

    public static string StateOf(IndexStatistics index) => index.State switch
    {
        IndexState.Error => "Error",
        IndexState.Disabled => "Disabled",
        _ => "Normal",
    };

    public static string StatusOf(IndexStatistics index) => index.State switch
    {
        IndexState.Error => "Failure",
        IndexState.Disabled => "Disabled",
        _ => index.IsPaused ? "Paused" : "Running",
    };

    /// <summary>
    /// Writes the definition: RavenDB's members and, for a user-defined index, its own members, so that the result can be
    /// stored again.
    /// </summary>
    public static void WriteDefinition(Utf8JsonWriter json, IndexStatistics index)
    {
        json.WriteStartObject();
        json.WriteString("Name", index.Name);
        json.WriteString("Type", TypeOf(index));
        json.WriteString("SourceType", index.Source.ToString());
        json.WriteString("LockMode", index.Settings.LockMode.ToString());
        json.WriteString("Priority", index.Settings.Priority.ToString());
        json.WriteString("State", StateOf(index));
        json.WriteStartArray("Maps");
        foreach (string map in index.Definition?.Maps ?? [])
            json.WriteStringValue(map);
        if (index.Definition is null)
            json.WriteStringValue(
                $"{index.Collections[0]}:[{string.Join(", ", index.Fields.Select(static field => $"<Name:{field}>"))}]");
        json.WriteEndArray();
        if (index.Definition?.Reduce is { } reduce)
            json.WriteString("Reduce", reduce);
        else
            json.WriteNull("Reduce");
        if (index.Definition is { } definition)
            WriteByHand(json, definition);
        else
            WriteFields(json, index.Fields);

        if (index.Definition is not { Configuration.Count: > 0 })
        {
            json.WriteStartObject("Configuration");
            json.WriteEndObject();
        }

        json.WriteEndObject();
    }

    public static void WriteStatistics(Utf8JsonWriter json, IndexStatistics index)
    {
        json.WriteStartObject();
        json.WriteString("Name", index.Name);
        json.WriteString("Type", TypeOf(index));
        json.WriteString("SourceType", index.Source.ToString());
        json.WriteString("State", StateOf(index));
        json.WriteString("Status", StatusOf(index));
        json.WriteString("LockMode", index.Settings.LockMode.ToString());
        json.WriteString("Priority", index.Settings.Priority.ToString());
        json.WriteBoolean("IsStale", index.IsStale);
        json.WriteNumber("EntriesCount", index.EntryCount);
        json.WriteNumber("ErrorsCount", index.ErrorCount);
        if (index.MapAttempts > 0)
        {
            json.WriteNumber("MapAttempts", index.MapAttempts);
            json.WriteNumber("MapSuccesses", index.MapAttempts - index.MapErrors);
            json.WriteNumber("MapErrors", index.MapErrors);
        }

        if (index.IsMapReduce)
        {
            json.WriteNumber("ReduceAttempts", index.ReduceAttempts);
            json.WriteNumber("ReduceSuccesses", index.ReduceAttempts - index.ReduceErrors);
            json.WriteNumber("ReduceErrors", index.ReduceErrors);
        }

        json.WriteNumber("MappedPerSecondRate", Math.Round(index.ChangesPerSecond, 1));
        json.WriteNumber("WaitingChanges", index.WaitingChanges);
        json.WriteNumber("EtagsBehind", index.EtagsBehind);
        json.WriteNumber("SecondsBehind", Math.Round(index.TimeBehind.TotalSeconds, 3));
        json.WriteNumber("LastBatchChanges", index.LastBatchChanges);
        json.WriteNumber("CompleteFields", index.CompleteFieldCount);
        json.WriteStartObject("Collections");
        foreach (string collection in index.Collections)
        {
            json.WriteStartObject(collection);
            json.WriteNumber("LastProcessedDocumentEtag", index.LastIndexedEtag);
            json.WriteEndObject();
        }

        json.WriteEndObject();
        if (index.LastIndexingTime is { } time)
            json.WriteString("LastIndexingTime", WireTime.ToWire(time));

        json.WriteEndObject();
    }

    /// <summary>Writes the past definitions of an index, newest first.</summary>
    public static void WriteHistory(Utf8JsonWriter json, IReadOnlyList<DefinitionVersion> versions)
    {
        json.WriteStartArray();
        foreach (DefinitionVersion version in versions)
        {
            json.WriteStartObject();
            json.WriteString("CreatedAt", WireTime.ToWire(version.CreatedAt));
            json.WriteStartObject("RollingDeployment");
            json.WriteEndObject();
            json.WriteStartObject("Definition");
            json.WriteString("Name", version.Definition.Name);
            json.WriteTexts("Maps", version.Definition.Maps);
            if (version.Definition.Reduce is { } reduce)
                json.WriteString("Reduce", reduce);
            else
                json.WriteNull("Reduce");
            WriteByHand(json, version.Definition);
            json.WriteEndObject();
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteFields(Utf8JsonWriter json, IReadOnlyList<string> fields)
    {
        json.WriteStartObject("Fields");
        foreach (string field in fields)
        {
            json.WriteStartObject(field);
            json.WriteEndObject();
        }

        json.WriteEndObject();
    }

    private static void WriteByHand(Utf8JsonWriter json, IndexDefinition definition)
    {
        var buffer = new System.Buffers.ArrayBufferWriter<byte>();
        using (var own = new Utf8JsonWriter(buffer))
            definition.WriteTo(own);
        using JsonDocument members = JsonDocument.Parse(buffer.WrittenMemory);
        foreach (JsonProperty member in members.RootElement.EnumerateObject())
            if (member.Name is not ("Name" or "Maps" or "Reduce"))
                member.WriteTo(json);
    }
}
