using System.CommandLine;
using System.Globalization;
using Treepie.CommandLine.Export;

namespace Treepie.CommandLine.Commands;

/// <summary><c>treepie export</c>: documents as JSON lines.</summary>
internal static class ExportCommand
{
    /// <summary>The command.</summary>
    public static Command Create(Shell shell)
    {
        Option<Uri> url = CommonOptions.Url();
        Option<string> database = CommonOptions.Database();
        var collection = new Option<string?>("--collection", "-c")
        {
            Description = "Only the documents of this collection",
            HelpName = "name"
        };
        var output = new Option<FileInfo?>("--output", "-o")
        {
            Description =
                "The file to write, which replaces an existing one once it is complete; gzip'ed if it ends in .gz; by default "
                    + "standard output",
            HelpName = "file",
        };
        var command = new Command("export", "Writes documents as JSON lines, with their @metadata, in the form that import reads")
        {
            url, database, collection, output,
        };
        command.SetAction(shell, url, async (parsed, server, cancellationToken) =>
        {
            var export = new DocumentExport(server.Database(parsed.GetRequiredValue(database)), parsed.GetValue(collection));
            long started = shell.Time.GetTimestamp();
            long count = parsed.GetValue(output) is { } file
                ? await export.ToFileAsync(file.FullName, cancellationToken)
                : await export.ToStreamAsync(shell.Output, cancellationToken);
            double seconds = Math.Max(shell.Time.GetElapsedTime(started).TotalSeconds, 0.001);
            await shell.Error.WriteLineAsync(
                string.Create(
                    CultureInfo.InvariantCulture, $"{count:N0} documents exported in {seconds:0.0} s ({count / seconds:N0}/s)."));
            return ExitCode.Ok;
        });
        return command;
    }
}
