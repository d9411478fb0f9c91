using System.CommandLine;
using Treepie.CommandLine.Http;
using Treepie.CommandLine.Queries;

namespace Treepie.CommandLine.Commands;

/// <summary><c>treepie explain</c>: runs a query and shows how it was run, instead of its results.</summary>
internal static class ExplainCommand
{
    /// <summary>The command.</summary>
    public static Command Create(Shell shell)
    {
        var query = new Argument<string>("rql")
        {
            Description =
                """The query, like "from Orders where Company = 'companies/1-A' order by Freight as double limit 10" """.Trim()
        };
        Option<Uri> url = CommonOptions.Url();
        Option<string> database = CommonOptions.Database();
        Option<string?> parameters = QueryCommand.Parameters();
        var svg = new Option<string?>("--svg") { Description = "Write a picture to this file instead", HelpName = "file" };
        var json = new Option<bool>("--json") { Description = "Write the response of the server unchanged" };
        var wait = new Option<bool>("--wait", "-w")
        {
            Description = "Wait until the index has indexed all documents written before"
        };
        var command = new Command(
            "explain", "Runs a query and draws its plan: steps, counts, times, and decisions with their reasons")
        {
            query, url, database, parameters, svg, json, wait,
        };
        command.SetAction(shell, url, async (parsed, server, cancellationToken) =>
        {
            string text = parsed.GetRequiredValue(query);
            byte[] body = ServerQueries.Body(
                new QueryText(
                    text, parsed.GetValue(parameters), parsed.GetValue(wait) ? QueryCommand.DefaultWaitSeconds : null));
            var run = new ExplainRun(server.Database(parsed.GetRequiredValue(database)), shell);
            try
            {
                if (parsed.GetValue(svg) is { } path)
                    await run.SavePictureAsync(body, path, cancellationToken);
                else if (parsed.GetValue(json))
                    await run.WriteJsonAsync(body, cancellationToken);
                else
                    await run.DrawAsync(body, cancellationToken);
                return ExitCode.Ok;
            }
            catch (ServerException exception) when (exception.IsInvalidQuery)
            {
                await shell.Error.WriteLineAsync(QueryError.Describe(text, exception.Message));
                return ExitCode.Failure;
            }
        });
        return command;
    }
}
