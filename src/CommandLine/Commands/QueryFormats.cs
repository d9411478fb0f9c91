using Treepie.CommandLine.Http;
using Treepie.CommandLine.Queries;

namespace Treepie.CommandLine.Commands;

/// <summary>Output formats of query results.</summary>
internal static class QueryFormats
{
    public static string[] Names { get; } = ["table", "json", "ndjson", "csv"];

    /// <summary>Runs a query and writes its results. For an invalid query, writes the position of the error.</summary>
    public static async Task<int> WriteAsync(
        Shell shell, IQuerySource source, string format, QueryText query, int rows, CancellationToken cancellationToken)
    {
        var run = new QueryRun(source, shell);
        try
        {
            await (format switch
            {
                "json" => run.WriteJsonAsync(query, cancellationToken),
                "ndjson" => run.WriteLinesAsync(query, cancellationToken),
                "csv" => run.WriteCsvAsync(query, cancellationToken),
                _ => run.WriteTableAsync(query, rows, cancellationToken),
            });
            return ExitCode.Ok;
        }
        catch (Exception error) when (error is ServerException { IsInvalidQuery: true } or InvalidQueryException)
        {
            await shell.Error.WriteLineAsync(QueryError.Describe(query.Rql, error.Message));
            return ExitCode.Failure;
        }
    }
}
