using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>Maps the whole API: lists the resources, each of which is in a file of its own.</summary>
internal static class AllEndpoints
{
    /// <summary>
    /// Maps the API; <paramref name="alone"/>: in the stand-alone server, where requests for unknown paths are answered as
    /// well.
    /// </summary>
    public static IEndpointConventionBuilder Map(IEndpointRouteBuilder endpoints, ServerContext server, bool alone)
    {
        RouteGroupBuilder group = endpoints.MapGroup("");
        var routes = new Routes(group, new RequestFrame(server, alone ? null : ForeignProgram.RequireDecision));
        ServerInfoEndpoints.Map(routes);
        HealthEndpoints.Map(routes);
        ActivityEndpoints.Map(routes);
        TopologyEndpoints.Map(routes);
        DatabasesEndpoints.Map(routes);
        SecretsEndpoints.Map(routes);
        CertificatesEndpoints.Map(routes);
        TokensEndpoints.Map(routes);
        StatisticsEndpoints.Map(routes);
        DocumentsEndpoints.Map(routes);
        BulkDocsEndpoints.Map(routes);
        BulkInsertEndpoints.Map(routes);
        HiLoEndpoints.Map(routes);
        IdentitiesEndpoints.Map(routes);
        CompareExchangeEndpoints.Map(routes);
        CountersEndpoints.Map(routes);
        AttachmentsEndpoints.Map(routes);
        TimeSeriesEndpoints.Map(routes);
        TimeSeriesPolicyEndpoints.Map(routes);
        TombstonesEndpoints.Map(routes);
        ConfigurationEndpoints.Map(routes);
        DatabaseStateEndpoints.Map(routes);
        SampleDataEndpoints.Map(routes);
        LifecycleEndpoints.Map(routes);
        RevisionsEndpoints.Map(routes);
        QueriesEndpoints.Map(routes);
        ExplainEndpoints.Map(routes);
        StreamsEndpoints.Map(routes);
        MultiGetEndpoints.Map(routes);
        IndexesEndpoints.Map(routes);
        IndexControlEndpoints.Map(routes);
        AnalyzersEndpoints.Map(routes);
        IndexContentEndpoints.Map(routes);
        IndexActivityEndpoints.Map(routes);
        IndexDebugEndpoints.Map(routes);
        OperationsEndpoints.Map(routes);
        DocumentCompressionEndpoints.Map(routes);
        CompactionEndpoints.Map(routes);
        SmugglerEndpoints.Map(routes);
        BackupEndpoints.Map(routes);
        BackupPartEndpoints.Map(routes);
        RestoreEndpoints.Map(routes);
        LogEndpoints.Map(routes);
        ServerWideBackupEndpoints.Map(routes);
        AbsentEndpoints.Map(routes);
        UnbuiltEndpoints.Map(routes);
        if (alone)
            routes.Unknown("/{**rest}");

        return group;
    }
}
