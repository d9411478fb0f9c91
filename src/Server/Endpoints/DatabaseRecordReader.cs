using System.Collections.Frozen;
using System.Text.Json;
using Treepie.Kinds;
using Treepie.Server.Databases;
using Treepie.Server.Http;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Reads database records that clients send. Members that this program does not support are rejected unless they are empty.
/// </summary>
internal static class DatabaseRecordReader
{
    /// <summary>Members that are read, or that describe the database and have no effect.</summary>
    private static readonly FrozenSet<string> _known = FrozenSet.Create(
        StringComparer.Ordinal,
        [
            "DatabaseName", "Disabled", "LockMode", "Encrypted", "Etag", "Topology", "Analyzers", "Sorters", "Revisions",
            "TimeSeries", "Expiration", "Refresh", "DataArchival", "DocumentsCompression", "IndexesHistory", "RollingIndexes",
            "UnusedDatabaseIds", RecordedParts.Indexes, RecordedParts.AutoIndexes, RecordedParts.Backups,
            .. RecordSettings.All.Select(static member => member.Member),
        ]);

    /// <summary>Reads a record that replaces another; of that one only settings stay that no record has.</summary>
    public static DatabaseRecord Read(JsonElement json, string name, DatabaseRecord current)
    {
        foreach (JsonProperty member in json.EnumerateObject())
            if (!_known.Contains(member.Name) && AsksForSomething(member.Value))
                throw member.Name == "Sharding"
                    ? DatabaseStateEndpoints.OneNode("Sharding")
                    : WireException.NotBuilt($"'{member.Name}' of a database record");
        if (WireJson.Text(json, "DatabaseName", required: false) is { } other
            && !string.Equals(name, other, StringComparison.OrdinalIgnoreCase))
            throw WireException.BadRequest(
                $"The record of database '{name}' has the name '{other}'. Nothing was changed. Databases cannot be renamed.");
        RequireOneNode(json);
        var settings = new Dictionary<string, ReadOnlyMemory<byte>>(current.Settings);
        ConfigurationEndpoints.ReadRecord(json, settings);
        var state = new DatabaseState(
            WireJson.Flag(json, "Disabled"), DatabaseStateEndpoints.LockOf(json, "LockMode", required: false));
        state.PutInto(settings);
        return new DatabaseRecord
        {
            Lifecycle = LifecycleEndpoints.ReadRecord(json).ToDictionary(),
            Revisions = Member(json, "Revisions") is { } revisions ? RevisionsConfiguration.Read(revisions) : null,
            TimeSeries = Member(json, "TimeSeries") is { } series ? TimeSeriesConfiguration.Read(series) : null,
            Compression = DocumentCompressionEndpoints.ReadRecord(json),
            Analyzers = AnalyzersEndpoints.ReadAnalyzers(json),
            Sorters = AnalyzersEndpoints.ReadSorters(json),
            Settings = settings,
        };
    }

    private static JsonElement? Member(JsonElement json, string name) =>
        json.TryGetProperty(name, out JsonElement member) && member.ValueKind == JsonValueKind.Object ? member : null;

    private static void RequireOneNode(JsonElement json)
    {
        if (Member(json, "Topology") is not { } topology)
            return;
        bool isThis = Nodes("Members") is [] or [TopologyEndpoints.NodeTag]
            && Nodes("Promotables") is []
            && Nodes("Rehabs") is []
            && WireJson.Count(topology, "ReplicationFactor", 1) <= 1;
        if (!isThis)
            throw DatabaseStateEndpoints.OneNode("Another topology");

        string?[] Nodes(string member) =>
            topology.TryGetProperty(member, out JsonElement nodes) && nodes.ValueKind == JsonValueKind.Array
                ? [.. nodes.EnumerateArray().Select(node => WireJson.Text(node, member))]
                : [];
    }

    private static bool AsksForSomething(JsonElement value) => value.ValueKind switch
    {
        JsonValueKind.Object => value.EnumerateObject().MoveNext(),
        JsonValueKind.Array => value.GetArrayLength() > 0,
        JsonValueKind.True => true,
        _ => false,
    };
}
