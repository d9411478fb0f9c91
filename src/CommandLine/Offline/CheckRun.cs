using System.Globalization;
using Treepie.Storage;

namespace Treepie.CommandLine.Offline;

/// <summary>Checks every environment of a directory and reports the results.</summary>
internal sealed class CheckRun(Shell shell, DataDirectory directory, DirectoryKeys keys)
{
    private readonly List<(string Name, CheckReport Report)> _reports = [];

    /// <summary>Checks all environments and returns the exit code.</summary>
    public async Task<int> RunAsync(bool asJson, CancellationToken cancellationToken)
    {
        foreach (string environment in directory.Environments.Where(environment => !DataDirectory.IsIndex(environment)))
            _ = keys.Of(environment, cancellationToken); // reports missing keys before the first check

        foreach (string environment in directory.Environments)
        {
            string name = directory.NameOf(environment);
            CheckReport report = await OfflineProgress.RunAsync(
                shell, name, progress => Check(environment, progress, cancellationToken));
            _reports.Add((name, report));
            if (!asJson)
                WriteText(name, report);
        }

        bool isClean = _reports.TrueForAll(entry => entry.Report.IsClean);
        if (asJson)
            WriteJson(isClean);
        else if (!isClean)
            await shell.Error.WriteLineAsync(
                "There is damage. Restore a backup, or bring what can still be read to a new place: treepie salvage <directory> "
                    + "<target>.");
        return isClean ? ExitCode.Ok : ExitCode.Failure;
    }

    /// <summary>Reports an environment that cannot be opened at all as damaged, so that the others are still checked.</summary>
    private CheckReport Check(string environment, IProgress<CheckProgress> progress, CancellationToken cancellationToken)
    {
        try
        {
            return StorageCheck.Run(environment, keys.Of(environment, cancellationToken), progress, cancellationToken);
        }
        catch (StorageException error) when (error is not (EnvironmentLockedException or EncryptionKeyException))
        {
            return new CheckReport
            {
                TransactionId = -1,
                Pages = 0,
                FreePages = 0,
                Trees = 0,
                Keys = 0,
                Snapshots = 0,
                JournalFrames = 0,
                Problems = [new CheckProblem(environment, null, null, error.Message)],
                ProblemCount = 1,
            };
        }
    }

    private void WriteText(string name, CheckReport report)
    {
        shell.OutputText.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{name}: {(report.IsClean ? "clean" : $"{report.ProblemCount:N0} problems")}; {report.Pages:N0} pages "
                + $"({report.FreePages:N0} free), {report.Trees:N0} trees, {report.Keys:N0} keys, {report.JournalFrames:N0} "
                + $"frames of the journal, transaction {report.TransactionId}"));
        foreach (CheckProblem problem in report.Problems)
            shell.OutputText.WriteLine($"  {problem}");
        if (report.ProblemCount > report.Problems.Count)
            shell.OutputText.WriteLine(
                string.Create(CultureInfo.InvariantCulture, $"  and {report.ProblemCount - report.Problems.Count:N0} more"));
    }

    private void WriteJson(bool isClean) => OfflineJson.Write(shell, writer =>
    {
        writer.WriteString("directory", directory.Path);
        writer.WriteBoolean("clean", isClean);
        writer.WriteStartArray("environments");
        foreach ((string name, CheckReport report) in _reports)
        {
            writer.WriteStartObject();
            writer.WriteString("name", name);
            writer.WriteBoolean("clean", report.IsClean);
            writer.WriteNumber("transaction", report.TransactionId);
            writer.WriteNumber("pages", report.Pages);
            writer.WriteNumber("freePages", report.FreePages);
            writer.WriteNumber("trees", report.Trees);
            writer.WriteNumber("keys", report.Keys);
            writer.WriteNumber("snapshots", report.Snapshots);
            writer.WriteNumber("journalFrames", report.JournalFrames);
            OfflineJson.WriteProblems(writer, report.Problems, report.ProblemCount);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
    });
}
