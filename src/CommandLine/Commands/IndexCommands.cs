using System.CommandLine;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.CommandLine.Http;

namespace Treepie.CommandLine.Commands;

/// <summary>
/// <c>treepie index</c>: defines indexes from a file, lists, deletes and rebuilds them, and shows indexing errors.
/// </summary>
internal static class IndexCommands
{
    /// <summary>Maximum size of a file of definitions.</summary>
    private const long MaxDefinitionBytes = 16 * 1024 * 1024;

    /// <summary>The command.</summary>
    public static Command Create(Shell shell) => new("index", "Defines, lists, deletes and rebuilds indexes")
    {
        Put(shell),
        List(shell),
        Errors(shell),
        Change(
            shell, "delete", "Deletes an index, with its definition", "is deleted",
            static (client, name, token) => client.DeleteIndexAsync(name, token)),
        Change(
            shell, "rebuild", "Rebuilds an index from the documents", "is being built again",
            static (client, name, token) => client.ResetIndexAsync(name, token)),
    };

    private static Argument<string> Name() => new("name") { Description = "Name of the index, for instance Orders/ByCity" };

    private static Command Put(Shell shell)
    {
        Option<Uri> url = CommonOptions.Url();
        Option<string> database = CommonOptions.Database();
        var file = new Argument<FileInfo>("file")
        {
            Description =
                """A JSON file with one definition, or an array of them: {"Name":"Orders/ByCity","Collections":["Orders"],"Fields":{"City":{"Path":"ShipTo.City"}}}""",
        };
        var command = new Command("put", "Defines indexes; an existing one of the same name answers until the new one is built")
        {
            file, url, database
        };
        command.SetAction(shell, url, async (parsed, server, cancellationToken) =>
        {
            FileInfo source = parsed.GetRequiredValue(file);
            if (source.Exists && source.Length > MaxDefinitionBytes)
                throw new UsageException(
                    $"{source} has {source.Length:N0} bytes; definitions of indexes have {MaxDefinitionBytes:N0} at the most.");
            byte[] definitions = Wrap(await File.ReadAllBytesAsync(source.FullName, cancellationToken), source);
            foreach (string name in await server.Database(parsed.GetRequiredValue(database))
                .PutIndexesAsync(definitions, cancellationToken))
                await shell.Error.WriteLineAsync($"Index '{name}' is defined.");
            return ExitCode.Ok;
        });
        return command;
    }

    /// <summary>Builds the request body, which holds the definitions in an array.</summary>
    private static byte[] Wrap(byte[] file, FileInfo source)
    {
        try
        {
            using JsonDocument json = JsonDocument.Parse(file);
            return ServerClient.Json(writer =>
            {
                writer.WritePropertyName("Indexes");
                if (json.RootElement.ValueKind == JsonValueKind.Array)
                {
                    json.RootElement.WriteTo(writer);
                    return;
                }

                writer.WriteStartArray();
                json.RootElement.WriteTo(writer);
                writer.WriteEndArray();
            });
        }
        catch (JsonException exception)
        {
            throw new UsageException($"{source} is not valid JSON: {exception.Message}");
        }
    }

    private static Command List(Shell shell)
    {
        Option<Uri> url = CommonOptions.Url();
        Option<string> database = CommonOptions.Database();
        var command = new Command("list", "Writes the indexes, one per line: name, entries, state, waiting changes")
        {
            url, database
        };
        command.SetAction(shell, url, async (parsed, server, cancellationToken) =>
        {
            using JsonDocument answer = await server.Database(parsed.GetRequiredValue(database))
                .IndexStatisticsAsync(cancellationToken);
            foreach (JsonElement index in answer.RootElement.GetProperty("Results").EnumerateArray())
                await shell.OutputText.WriteLineAsync(Line(index));
            return ExitCode.Ok;
        });
        return command;
    }

    private static string Line(JsonElement index)
    {
        var line = new StringBuilder(index.GetProperty("Name").GetString());
        line.Append(CultureInfo.InvariantCulture, $"\t{index.GetProperty("EntriesCount").GetInt64()} entries");
        bool isStopped = index.GetProperty("State").ValueEquals("Error");
        line.Append(
            isStopped ? "\tstopped by an error" : index.GetProperty("IsStale").GetBoolean() ? Behind(index) : "\tup to date");
        if (index.GetProperty("ErrorsCount").GetInt64() is > 0 and var errors)
            line.Append(CultureInfo.InvariantCulture, $"\t{errors} errors");
        return line.ToString();
    }

    /// <summary>Describes how far the index is behind. Older servers do not report figures.</summary>
    private static string Behind(JsonElement index)
    {
        if (!index.TryGetProperty("EtagsBehind", out JsonElement etags)
            || !index.TryGetProperty("SecondsBehind", out JsonElement seconds))
            return "\tbehind";
        double rate = index.GetProperty("MappedPerSecondRate").GetDouble();
        string speed = rate > 0 ? string.Create(CultureInfo.InvariantCulture, $", {rate:0} a second") : "";
        return string.Create(
            CultureInfo.InvariantCulture,
            $"\tbehind by {index.GetProperty("WaitingChanges").GetInt64()} changes of {etags.GetInt64()}, "
                + $"{seconds.GetDouble():0.0} s{speed}");
    }

    private static Command Errors(Shell shell)
    {
        Option<Uri> url = CommonOptions.Url();
        Option<string> database = CommonOptions.Database();
        var name = new Argument<string?>("name")
        {
            Description = "The name of the index; by default all indexes",
            Arity = ArgumentArity.ZeroOrOne
        };
        var command = new Command("errors", "Writes the documents that could not be indexed, one per line: index, time, error")
        {
            name, url, database
        };
        command.SetAction(shell, url, async (parsed, server, cancellationToken) =>
        {
            using JsonDocument answer = await server.Database(parsed.GetRequiredValue(database))
                .IndexErrorsAsync(parsed.GetValue(name), cancellationToken);
            foreach (JsonElement index in answer.RootElement.GetProperty("Results").EnumerateArray())
                foreach (JsonElement error in index.GetProperty("Errors").EnumerateArray())
                    await shell.OutputText.WriteLineAsync(
                        $"{index.GetProperty("Name").GetString()}\t{error.GetProperty("Timestamp").GetString()}\t"
                            + $"{error.GetProperty("Error").GetString()}");
            return ExitCode.Ok;
        });
        return command;
    }

    private static Command Change(
        Shell shell, string verb, string description, string done, Func<DatabaseClient, string, CancellationToken, Task> change)
    {
        Option<Uri> url = CommonOptions.Url();
        Option<string> database = CommonOptions.Database();
        Argument<string> name = Name();
        var command = new Command(verb, description) { name, url, database };
        command.SetAction(shell, url, async (parsed, server, cancellationToken) =>
        {
            string index = parsed.GetRequiredValue(name);
            DatabaseClient client = server.Database(parsed.GetRequiredValue(database));
            if (!await ExistsAsync(client, index, cancellationToken))
            {
                await shell.Error.WriteLineAsync(
                    $"There is no index '{index}' in this database. 'treepie index list' says which there are.");
                return ExitCode.Failure;
            }

            await change(client, index, cancellationToken);
            await shell.Error.WriteLineAsync($"Index '{index}' {done}.");
            return ExitCode.Ok;
        });
        return command;
    }

    private static async Task<bool> ExistsAsync(DatabaseClient client, string name, CancellationToken cancellationToken)
    {
        using JsonDocument answer = await client.IndexStatisticsAsync(cancellationToken);
        return answer.RootElement.GetProperty("Results").EnumerateArray()
            .Any(index => string.Equals(index.GetProperty("Name").GetString(), name, StringComparison.OrdinalIgnoreCase));
    }
}
