using System.Collections.Frozen;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Reports unsupported features of RavenDB's API by name with status 501, so that clients cannot mistake them for success,
/// and unknown paths as errors.
/// </summary>
internal static class UnbuiltEndpoints
{
    private static readonly (string Pattern, string Feature)[] _ofDatabases =
    [
        ("/attachments/{**rest}", "Other requests about attachments"),
        ("/admin/attachments/{**rest}", "Attachments kept elsewhere"),
        ("/timeseries/{**rest}", "Other requests about time series"),
        ("/admin/timeseries/{**rest}", "Other requests about time series"),
        ("/revisions/{**rest}", "Other requests about revisions"),
        ("/admin/revisions/{**rest}", "Other requests about revisions"),
        ("/subscriptions", "Subscriptions"), ("/subscriptions/{**rest}", "Subscriptions"),
        ("/smuggler/{**rest}", "Other imports than of a dump"),
        ("/changes", "The changes API"), ("/info/tcp", "TCP connections"),
        ("/schema-validation/{**rest}", "Schema validation"),
        ("/admin/schema-validation/{**rest}", "Schema validation"),
        ("/admin/periodic-backup/{**rest}", "Other requests about backup tasks"),
        ("/admin/backup/{**rest}", "Other kinds of backups"),
        ("/admin/etl", "ETL"), ("/admin/etl/{**rest}", "ETL"), ("/admin/queue-sink", "Queue sinks"),
        ("/tasks/{**rest}", "Other ongoing tasks than backups"), ("/admin/tasks/{**rest}", "Other ongoing tasks than backups"),
        ("/admin/connection-strings", "Connection strings"), ("/replication/{**rest}", "Replication"),
        ("/indexes/{**rest}", "Other requests about indexes"), ("/admin/indexes/{**rest}", "Other requests about indexes"),
        ("/admin/configuration/{**rest}", "Other configurations of a database"),
        ("/admin/transactions/{**rest}", "Recording of transactions"), ("/admin/ai/{**rest}", "AI tasks"),
        ("/ai/{**rest}", "AI tasks"),
    ];

    private static readonly (string Pattern, string Feature)[] _ofTheServer =
    [
        ("/admin/databases/{**rest}", "Other requests about databases"),
        ("/admin/configuration/{**rest}", "Settings of the server"), ("/admin/logs/{**rest}", "Files of the log"),
        ("/admin/traffic-watch/{**rest}", "Watching of requests and events"),
        ("/admin/event-listener/{**rest}", "Watching of requests and events"),
        ("/admin/certificates/{**rest}", "Other requests about certificates"),
        ("/certificates/{**rest}", "Other requests about certificates"),
        ("/admin/configuration/server-wide/{**rest}", "Other tasks of all databases than backups"),
        ("/admin/integrations/{**rest}", "PostgreSQL's protocol"), ("/admin/console", "Scripts of operators"),
        ("/admin/cluster/{**rest}", "Clusters"), ("/admin/restore/{**rest}", "Other ways to restore"),
        ("/admin/backup-task/{**rest}", "Other requests about backup tasks"),
        ("/admin/periodic-backup/{**rest}", "Other requests about backup tasks"),
        ("/periodic-backup/{**rest}", "Other requests about backup tasks"), ("/admin/replication/{**rest}", "Replication"),
        ("/info/{**rest}", "TCP connections"),
    ];

    /// <summary>What to do instead, by feature.</summary>
    private static readonly FrozenDictionary<string, string> _instead = new Dictionary<string, string>
    {
        ["ETL"] = "Export what is wanted (smuggler/export with 'Collections' and 'TransformScript'), or let a program of yours "
            + "read documents and write them where they belong.",
        ["Connection strings"] = "They are for ETL and replication, which are not here either; backup tasks name their places "
            + "themselves.",
        ["Queue sinks"] = "Let a program of yours read the queue and write documents with a bulk insert.",
        ["AI tasks"] = "Let a program of yours call the model and store what it answers; 'vector.search' finds embeddings in "
            + "fields of documents.",
        ["Schema validation"] = "Check documents in the program that writes them.",
        ["Replication"] = "This server is one node alone: copies of a database are made by its backup tasks "
            + "(admin/periodic-backup), and restored elsewhere.",
        ["Other ongoing tasks than backups"] = "There is no replication, ETL or queue sink; there are backup tasks "
            + "(admin/periodic-backup).",
        ["Clusters"] = $"This server is one node alone ('{TopologyEndpoints.NodeTag}').",
        ["Other tasks of all databases than backups"] = "There are backup tasks of all databases (PUT "
            + "admin/configuration/server-wide/backup); configurations of clients, analyzers and sorters can be shared by all.",
        ["Files of the log"] = "The server writes its log to standard error: choose what is kept where it is started. Its mode "
            + "is set by POST admin/logs/configuration.",
        ["Watching of requests and events"] = "GET admin/activity counts what happens; the log category 'Treepie.Audit' has "
            + "what operators did.",
        ["Recording of transactions"] = "A backup of the log (admin/backup/database?kind=log) has every commit since the last "
            + "one.",
        ["PostgreSQL's protocol"] = "Query by HTTP (POST queries).",
        ["Scripts of operators"] = "Change documents by a patch.",
        ["Attachments kept elsewhere"] = "Attachments are kept in the database.",
    }.ToFrozenDictionary();

    public static void Map(Routes routes)
    {
        foreach ((string pattern, string feature) in _ofDatabases)
            routes.Rest(
                "/databases/{" + Routes.DatabaseParameter + "}" + pattern,
                IsAdmin(pattern) ? AccessLevel.DatabaseAdmin : AccessLevel.DatabaseRead,
                _ => throw WireException.NotBuilt(feature, _instead.GetValueOrDefault(feature)));

        foreach ((string pattern, string feature) in _ofTheServer)
            routes.Rest(
                pattern, IsAdmin(pattern) ? AccessLevel.Operator : AccessLevel.ValidUser,
                _ => throw WireException.NotBuilt(feature, _instead.GetValueOrDefault(feature)));

        routes.Unknown("/databases/{**rest}");
        routes.Unknown("/admin/{**rest}");
        routes.Unknown("/cluster/{**rest}");
    }

    private static bool IsAdmin(string pattern) => pattern.StartsWith("/admin/", StringComparison.Ordinal);
}
