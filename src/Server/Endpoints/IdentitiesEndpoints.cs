using Treepie.Server.Http;
using Treepie.Server.Security;
using Treepie.Store;

namespace Treepie.Server.Endpoints;

/// <summary>Identities: numbers of a database that are incremented by one, under a name such as <c>invoices|</c>.</summary>
internal static class IdentitiesEndpoints
{
    public static void Map(Routes routes)
    {
        routes.Database("POST", "/identity/next", AccessLevel.DatabaseReadWrite, Next);
        routes.Database("POST", "/identity/seed", AccessLevel.DatabaseReadWrite, Seed);
        routes.Database("GET", "/debug/identities", AccessLevel.DatabaseRead, List);
    }

    private static async Task Next(HttpServerRequest request, Database database)
    {
        long value = await database.NextIdentityAsync(request.RequiredParameter("name"), request.Aborted).ConfigureAwait(false);
        await WriteAsync(request, "NewIdentityValue", value).ConfigureAwait(false);
    }

    private static async Task Seed(HttpServerRequest request, Database database)
    {
        long value = request.Number("value", 0);
        bool force = request.Flag("force");
        long seeded = await database.SeedIdentityAsync(request.RequiredParameter("name"), value, force, request.Aborted)
            .ConfigureAwait(false);
        await WriteAsync(request, "NewSeedValue", seeded).ConfigureAwait(false);
    }

    /// <summary>Responds with the last number assigned by each identity.</summary>
    private static Task List(HttpServerRequest request, Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return request.JsonAsync(snapshot.Identities(), static (json, identities) =>
        {
            json.WriteStartObject();
            foreach ((string name, long value) in identities)
                json.WriteNumber(name, value);
            json.WriteEndObject();
        });
    }

    private static Task WriteAsync(HttpServerRequest request, string name, long value) =>
        request.JsonAsync((name, value), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteNumber(state.name, state.value);
            json.WriteEndObject();
        });
}
