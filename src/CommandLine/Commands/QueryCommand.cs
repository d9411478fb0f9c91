using System.CommandLine;
using System.Text.Json;
using Treepie.CommandLine.Offline;
using Treepie.CommandLine.Queries;

namespace Treepie.CommandLine.Commands;

/// <summary><c>treepie query</c>: writes the results of RQL as a table, the server's JSON, JSON lines or CSV.</summary>
internal static class QueryCommand
{
    private const int MaxRows = 10_000;
    /// <summary>Default time in seconds that a query with <c>--wait</c> waits for its index.</summary>
    public const int DefaultWaitSeconds = 60;

    private const int MaxWaitSeconds = 24 * 3600;

    /// <summary>The command.</summary>
    public static Command Create(Shell shell)
    {
        var query = new Argument<string>("rql")
        {
            Description = """The query, like "from Orders where Freight > $least order by Freight as double limit 10" """.Trim()
        };
        Option<Uri> url = CommonOptions.Url();
        Option<string?> database = CommonOptions.OptionalDatabase();
        Option<DirectoryInfo?> directory = CommonOptions.Directory();
        var keys = new OfflineKeyOptions();
        Option<string?> parameters = Parameters();
        var format = new Option<string>("--format", "-f")
        {
            Description =
                "table; json: the answer of the server as it is; ndjson or csv: one result per line, as a stream without limit",
            DefaultValueFactory = _ => "table",
        };
        format.AcceptOnlyFromAmong(QueryFormats.Names);
        var wait = new Option<bool>("--wait", "-w")
        {
            Description = "Wait until the index has indexed all documents written before"
        };
        var waitSeconds = new Option<int>("--wait-seconds")
        {
            Description = "The maximum time to wait",
            HelpName = "n",
            DefaultValueFactory = _ => DefaultWaitSeconds,
        };
        waitSeconds.Validators.Add(result => Within(result, 1, MaxWaitSeconds));
        var rows = new Option<int>("--rows")
        {
            Description = "The maximum number of rows in a table",
            HelpName = "n",
            DefaultValueFactory = _ => 50
        };
        rows.Validators.Add(result => Within(result, 1, MaxRows));

        var command = new Command("query", "Runs a query and writes its results")
        {
            query, url, database, directory, parameters, format, wait, waitSeconds, rows,
        };
        keys.AddTo(command);
        command.Validators.Add(result => CommonOptions.RequireOne(result, database, directory));
        command.SetAction((parsed, cancellationToken) => QueryPlace.RunAsync(
            shell, parsed, url, database, directory, keys,
            source => QueryFormats.WriteAsync(
                shell, source, parsed.GetValue(format) ?? "",
                new QueryText(
                    parsed.GetRequiredValue(query), parsed.GetValue(parameters),
                    parsed.GetValue(wait) ? parsed.GetValue(waitSeconds) : null),
                parsed.GetValue(rows), cancellationToken),
            cancellationToken));
        return command;
    }

    /// <summary>The option for query parameters.</summary>
    public static Option<string?> Parameters()
    {
        var parameters = new Option<string?>("--parameters", "-p")
        {
            Description = """Values of the query's parameters, as a JSON object like '{"least": 10}'""",
            HelpName = "json",
        };
        parameters.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<string?>() is { } text && !IsObject(text))
                result.AddError($"--parameters takes a JSON object, which this is not: {text}");
        });
        return parameters;
    }

    private static bool IsObject(string text)
    {
        try
        {
            using JsonDocument document = JsonDocument.Parse(text);
            return document.RootElement.ValueKind == JsonValueKind.Object;
        }
        catch (JsonException)
        {
            return false;
        }
    }

    private static void Within(System.CommandLine.Parsing.OptionResult result, int least, int most)
    {
        int value = result.GetValueOrDefault<int>();
        if (value < least || value > most)
            result.AddError($"{result.Option.Name} goes from {least} to {most}");
    }
}
