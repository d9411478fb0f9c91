using System.CommandLine;
using System.Globalization;
using Treepie.CommandLine.Http;
using Treepie.CommandLine.Import;

namespace Treepie.CommandLine.Commands;

/// <summary><c>treepie import</c>: a file of JSON lines or CSV into a collection.</summary>
internal static class ImportCommand
{
    private const int MaxBatchDocuments = 100_000;

    /// <summary>The command.</summary>
    public static Command Create(Shell shell)
    {
        var file = new Argument<FileInfo>("file")
        {
            Description = "The file: JSON lines, or CSV whose first row names the columns; plain or gzip'ed",
        };
        file.AcceptExistingOnly();
        Option<Uri> url = CommonOptions.Url();
        Option<string> database = CommonOptions.Database();
        var collection = new Option<string?>("--collection", "-c")
        {
            Description = "The collection of all documents; by default that in the @metadata of each document",
            HelpName = "name",
        };
        var idField = new Option<string?>("--id-field")
        {
            Description = "Take ids from this field; without it, from the @metadata of exports, else <collection>/<line>",
            HelpName = "field",
        };
        var idPrefix = new Option<string?>("--id-prefix")
        {
            Description = "The prefix of ids, before the field or the line number",
            HelpName = "text"
        };
        var batchSize = new Option<int>("--batch-size")
        {
            Description = "The maximum number of documents in a batch, which is one transaction",
            HelpName = "n",
            DefaultValueFactory = _ => new ImportOptions().BatchDocuments,
        };
        batchSize.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<int>() is < 1 or > MaxBatchDocuments)
                result.AddError($"--batch-size goes from 1 to {MaxBatchDocuments}");
        });
        var createDatabase = new Option<bool>("--create-database")
        {
            Description = "Create the database if it does not exist"
        };
        var overwrite = new Option<bool>("--overwrite")
        {
            Description = "Replace existing documents, which are otherwise skipped"
        };
        var onError = new Option<string>("--on-error")
        {
            Description = "At a line that is not a document, or that the server refuses: stop, or skip it with a message",
            DefaultValueFactory = _ => "stop",
        };
        onError.AcceptOnlyFromAmong("stop", "skip");
        var format = new Option<string?>("--format")
        {
            Description = "json (lines) or csv; without it, by the name of the file",
        };
        format.AcceptOnlyFromAmong("json", "csv");
        var separator = new Option<string?>("--separator")
        {
            Description = "The separator of CSV cells (tab for a tab); by default detected from the first rows",
            HelpName = "char",
        };
        separator.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<string?>() is { } given
                && given != "tab"
                && (given.Length != 1 || !char.IsAscii(given[0])))
                result.AddError("--separator is one character of ASCII, or tab");
        });
        var text = new Option<bool>("--text") { Description = "Import CSV cells as texts, including numbers, true and false" };

        var command = new Command(
            "import", "Imports a file of JSON lines or CSV; after an interruption the same command continues where it stopped")
        {
            file, url, database, collection, idField, idPrefix, batchSize, createDatabase, overwrite, onError, format, separator,
            text,
        };
        command.SetAction(shell, url, (parsed, server, cancellationToken) =>
        {
            var options = new ImportOptions
            {
                Collection = parsed.GetValue(collection),
                IdField = parsed.GetValue(idField),
                IdPrefix = parsed.GetValue(idPrefix),
                BatchDocuments = parsed.GetValue(batchSize),
                Overwrite = parsed.GetValue(overwrite),
                SkipProblems = parsed.GetValue(onError) == "skip",
                IsCsv = (parsed.GetValue(format) ?? FormatOf(parsed.GetRequiredValue(file).Name)) == "csv",
                Separator = parsed.GetValue(separator) switch { null => null, "tab" => '\t', var one => one[0] },
                KeepsText = parsed.GetValue(text),
            };
            return RunAsync(
                shell, server, parsed.GetRequiredValue(database), parsed.GetValue(createDatabase),
                parsed.GetRequiredValue(file).FullName, options, cancellationToken);
        });
        return command;
    }

    private static string FormatOf(string name)
    {
        string plain = name.EndsWith(".gz", StringComparison.OrdinalIgnoreCase) ? name[..^3] : name;
        return Path.GetExtension(plain).ToUpperInvariant() is ".CSV" or ".TSV" ? "csv" : "json";
    }

    private static async Task<int> RunAsync(
        Shell shell, ServerClient server, string database, bool createDatabase, string file, ImportOptions options,
        CancellationToken cancellationToken)
    {
        if (createDatabase)
            await server.CreateDatabaseAsync(database, encrypted: false, cancellationToken);

        var source = new ImportSource(file, options);
        long started = shell.Time.GetTimestamp();
        ImportRun? run = null;
        Task<LineProblem?> RunWith(IImportProgress progress)
        {
            run = new ImportRun(server.Database(database), options, progress);
            return run.RunAsync(source, cancellationToken);
        }

        LineProblem? stoppedAt = null;
        try
        {
            stoppedAt = shell.ErrorIsTerminal
                ? await TerminalImportProgress.RunAsync(shell.ErrorConsole(), shell.Time, Path.GetFileName(file), RunWith)
                : await RunWith(new PlainImportProgress(shell.Error, shell.Time));
        }
        finally
        {
            if (run is not null)
                await shell.Error.WriteLineAsync(Summary(run.Counts, shell.Time.GetElapsedTime(started), database));
        }

        if (stoppedAt is not null)
            await shell.Error.WriteLineAsync(
                $"Stopped at line {stoppedAt.Line}: {stoppedAt.Message}. Everything before it is imported; --on-error skip goes "
                    + $"on without such lines.");

        return stoppedAt is null && run is { Counts.Problems: 0 } ? ExitCode.Ok : ExitCode.Failure;
    }

    private static string Summary(ImportCounts counts, TimeSpan elapsed, string database)
    {
        string summary = string.Create(
            CultureInfo.InvariantCulture,
            $"{counts.Written:N0} documents imported into {database} in {elapsed.TotalSeconds:0.0} s "
                + $"({counts.Written / Math.Max(elapsed.TotalSeconds, 0.001):N0}/s, {counts.BytesSent / 1e6:N1} MB)");
        if (counts.AlreadyThere > 0)
            summary += string.Create(CultureInfo.InvariantCulture, $", {counts.AlreadyThere:N0} were there already");
        if (counts.Problems > 0)
            summary += string.Create(CultureInfo.InvariantCulture, $", {counts.Problems:N0} lines skipped");
        return summary + ".";
    }
}
