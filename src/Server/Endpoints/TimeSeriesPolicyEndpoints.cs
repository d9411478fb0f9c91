using System.Text.Json;
using Treepie.Kinds;
using Treepie.Server.Databases;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>The configuration of time series: as a whole, single policies, and names of values.</summary>
internal static class TimeSeriesPolicyEndpoints
{
    public static void Map(Routes routes)
    {
        routes.Database("GET", "/timeseries/config", AccessLevel.DatabaseRead, Get);
        routes.Database("POST", "/admin/timeseries/config", AccessLevel.DatabaseAdmin, Configure);
        routes.Database("PUT", "/admin/timeseries/policy", AccessLevel.DatabaseAdmin, Put);
        routes.Database("DELETE", "/admin/timeseries/policy", AccessLevel.DatabaseAdmin, Delete);
        routes.Database("POST", "/timeseries/names/config", AccessLevel.DatabaseReadWrite, SetNames);
    }

    /// <summary>Writes the configuration as a member of a database record.</summary>
    public static void WriteRecord(Utf8JsonWriter json, Database database)
    {
        if (database.TimeSeriesPolicies.Configuration is not { } configuration)
            return;
        json.WritePropertyName("TimeSeries");
        configuration.WriteTo(json);
    }

    private static Task Get(HttpServerRequest request, Database database) =>
        database.TimeSeriesPolicies.Configuration is { } configuration
            ? request.JsonAsync(configuration, static (json, configuration) => configuration.WriteTo(json))
            : request.EmptyAsync(Microsoft.AspNetCore.Http.StatusCodes.Status404NotFound);

    private static async Task Configure(HttpServerRequest request, Database database)
    {
        TimeSeriesConfiguration configuration;
        using (RequestBody body = await request.ReadBodyAsync(request.Server.Limits.MaxRequestBytes).ConfigureAwait(false))
        using (JsonDocument json = WireJson.ParseObject(body, "{\"Collections\":{…}}"))
            configuration = TimeSeriesConfiguration.Read(json.RootElement);
        await database.TimeSeriesPolicies.ConfigureAsync(configuration, request.Aborted).ConfigureAwait(false);
        await AnswerAsync(request, database).ConfigureAwait(false);
    }

    private static async Task Put(HttpServerRequest request, Database database)
    {
        string collection = request.RequiredParameter("collection");
        TimeSeriesPolicy policy;
        using (RequestBody body = await request.ReadBodyAsync(request.Server.Limits.MaxRequestBytes).ConfigureAwait(false))
        using (JsonDocument json = WireJson.ParseObject(body, "{\"Name\":…,\"AggregationTime\":{…},\"RetentionTime\":{…}}"))
            policy = TimeSeriesConfiguration.ReadPolicy(json.RootElement);
        await ChangeAsync(
            request, database,
            before =>
            {
                TimeSeriesRules rules = RulesOf(before, collection);
                return before.With(
                    collection,
                    TimeSeriesConfiguration.IsRaw(policy.Name)
                        ? rules with { RawRetention = policy.Retention }
                        : rules.With(policy));
            }).ConfigureAwait(false);
    }

    private static Task Delete(HttpServerRequest request, Database database)
    {
        (string collection, string name) = (request.RequiredParameter("collection"), request.RequiredParameter("name"));
        return ChangeAsync(request, database, before => Without(before, collection, name));
    }

    private static TimeSeriesConfiguration Without(TimeSeriesConfiguration before, string collection, string name)
    {
        TimeSeriesRules rules = RulesOf(before, collection);
        TimeSeriesRules after = TimeSeriesConfiguration.IsRaw(name)
            ? rules with { RawRetention = null }
            : rules with
            {
                Policies = [
                    .. rules.Policies.Where(
                        policy => !string.Equals(policy.Name, name, StringComparison.OrdinalIgnoreCase))],
            };
        if (!TimeSeriesConfiguration.IsRaw(name) && after.Policies.Count == rules.Policies.Count)
            throw WireException.BadRequest(
                $"The collection '{collection}' has no policy '{name}' of time series. Nothing was changed.");
        return before.With(collection, after);
    }

    private static async Task SetNames(HttpServerRequest request, Database database)
    {
        string? collection, series;
        IReadOnlyList<string> valueNames;
        bool replaces;
        using (RequestBody body = await request.ReadBodyAsync(request.Server.Limits.MaxRequestBytes).ConfigureAwait(false))
        using (JsonDocument json = WireJson.ParseObject(body, "{\"Collection\":…,\"TimeSeries\":…,\"ValueNames\":[…]}"))
        {
            JsonElement root = json.RootElement;
            (collection, series) = (
                WireJson.Text(root, "Collection", required: true), WireJson.Text(root, "TimeSeries", required: true));
            if (string.IsNullOrEmpty(collection) || string.IsNullOrEmpty(series)
                || !root.TryGetProperty("ValueNames", out JsonElement names))
                throw WireException.BadRequest("'Collection', 'TimeSeries' and 'ValueNames' are needed. Nothing was changed.");
            valueNames = TimeSeriesConfiguration.ReadNames(names);
            replaces = root.TryGetProperty("Update", out JsonElement update) && update.ValueKind == JsonValueKind.True;
        }

        await ChangeAsync(
            request, database,
            before => replaces || !(before.NamedValues.TryGetValue(collection, out var known) && known.ContainsKey(series))
                ? before.With(collection, series, valueNames)
                : throw WireException.BadRequest(
                    $"Values of the time series '{series}' of '{collection}' have names already, and 'Update' is not set. "
                        + "Nothing was changed.")).ConfigureAwait(false);
    }

    private static TimeSeriesRules RulesOf(TimeSeriesConfiguration configuration, string collection) =>
        configuration.Collections.FirstOrDefault(
            one => string.Equals(one.Key, collection, StringComparison.OrdinalIgnoreCase)).Value ?? new TimeSeriesRules();

    /// <summary>Changes a part of the configuration and keeps what others change of it meanwhile.</summary>
    private static async Task ChangeAsync(
        HttpServerRequest request, Database database, Func<TimeSeriesConfiguration, TimeSeriesConfiguration> change)
    {
        await database.ChangeRecordAsync(
            record => record with { TimeSeries = change(record.TimeSeries ?? new TimeSeriesConfiguration()) }, request.Aborted)
            .ConfigureAwait(false);
        await AnswerAsync(request, database).ConfigureAwait(false);
    }

    private static Task AnswerAsync(HttpServerRequest request, Database database) =>
        request.JsonAsync(database.LastEtag, static (json, etag) =>
        {
            json.WriteStartObject();
            json.WriteNumber("RaftCommandIndex", etag);
            json.WriteEndObject();
        });
}
