using System.Text.Json;
using Treepie.CommandLine.Http;

namespace Treepie.CommandLine.Queries;

/// <summary>Executes queries on a server.</summary>
internal sealed class ServerQueries(DatabaseClient database) : IQuerySource
{
    /// <inheritdoc/>
    public async Task<Stream> AnswerAsync(QueryText query, CancellationToken cancellationToken)
    {
        HttpResponseMessage response = await database.QueryAsync(Body(query), cancellationToken);
        return await response.Content.ReadAsStreamAsync(cancellationToken);
    }

    /// <inheritdoc/>
    public async Task<Stream> LinesAsync(QueryText query, CancellationToken cancellationToken)
    {
        HttpResponseMessage response = await database.StreamQueryAsync(Body(query), cancellationToken);
        return await response.Content.ReadAsStreamAsync(cancellationToken);
    }

    /// <inheritdoc/>
    public async Task<QueryNames> NamesAsync(CancellationToken cancellationToken)
    {
        using JsonDocument collections = await database.CollectionsAsync(cancellationToken);
        using JsonDocument indexes = await database.IndexStatisticsAsync(cancellationToken);
        return new QueryNames(
            [.. collections.RootElement.GetProperty("Collections").EnumerateObject().Select(collection => collection.Name)],
            [
                .. indexes.RootElement.GetProperty("Results").EnumerateArray()
                    .Select(index => index.GetProperty("Name").GetString() ?? ""),
            ]);
    }

    /// <summary>Builds the request body of a query.</summary>
    public static byte[] Body(QueryText query) => ServerClient.Json(writer =>
    {
        writer.WriteString("Query", query.Rql);
        if (query.Parameters is not null)
        {
            writer.WritePropertyName("QueryParameters");
            writer.WriteRawValue(query.Parameters);
        }

        if (query.WaitSeconds is { } seconds)
        {
            writer.WriteBoolean("WaitForNonStaleResults", true);
            writer.WriteNumber("WaitForNonStaleResultsTimeout", seconds * 1000L);
        }
    });
}
