using Treepie.Server.Demo;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary><c>studio/sample-data</c>: fills an empty database with Northwind.</summary>
internal static class SampleDataEndpoints
{
    public static void Map(Routes routes) =>
        routes.Database("POST", "/studio/sample-data", AccessLevel.DatabaseAdmin, Fill);

    private static async Task Fill(HttpServerRequest request, Database database)
    {
        if (database.GetStatistics().DocumentCount > 0)
            throw WireException.BadRequest(
                $"Database '{database.Name}' has documents, and sample data goes into an empty one. Nothing was changed.");
        request.BecomeLong(request.Server.BulkInserts);
        await DemoData.LoadSampleAsync(database, request.Aborted).ConfigureAwait(false);
        await request.NoContentAsync().ConfigureAwait(false);
    }
}
