using System.Globalization;
using System.Text.Json;
using Treepie.Storage;

namespace Treepie.CommandLine.Offline;

/// <summary>
/// Salvages every environment of a directory to the same relative path of another, and reports what was recovered and lost.
/// </summary>
/// <remarks>
/// Only the definitions of indexes are copied; the server rebuilds the indexes from the recovered documents.
/// </remarks>
internal sealed class SalvageCommandRun(Shell shell, DataDirectory directory, string target, DirectoryKeys keys)
{
    /// <summary>
    /// The tree with the documents of a database, and the tree whose presence tells the server to rebuild everything derived
    /// from them.
    /// </summary>
    private const string DocumentsTree = "documents", SalvagedMark = "salvaged";

    private readonly List<(string Name, SalvageReport? Report, string? Failure)> _results = [];
    private readonly List<string> _indexes = [];

    /// <summary>Salvages all environments and returns the exit code.</summary>
    public async Task<int> RunAsync(bool asJson, CancellationToken cancellationToken)
    {
        if (Directory.Exists(target) && Directory.EnumerateFileSystemEntries(target).Any())
            throw new UsageException(
                $"'{target}' is not empty: give a directory of its own to what is salvaged. Nothing was written.");
        if ((target + Path.DirectorySeparatorChar).StartsWith(
            directory.Path + Path.DirectorySeparatorChar, StringComparison.Ordinal))
            throw new UsageException(
                $"'{target}' lies inside of '{directory.Path}', in which nothing is written. Give another target.");

        foreach (string environment in directory.Environments.Where(environment => !DataDirectory.IsIndex(environment)))
            _ = keys.Of(environment, cancellationToken); // reports missing keys before anything is written

        foreach (string environment in directory.Environments)
        {
            string name = directory.NameOf(environment);
            if (DataDirectory.IsIndex(environment))
            {
                directory.CopyDefinition(environment, target);
                _indexes.Add(name);
                continue;
            }

            (SalvageReport? report, string? failure) = await OfflineProgress.RunAsync(
                shell, name, progress => Salvage(environment, progress, cancellationToken));
            _results.Add((name, report, failure));
            if (!asJson)
                WriteText(name, report, failure);
        }

        bool isComplete = _results.TrueForAll(entry => entry.Report is { IsComplete: true });
        if (asJson)
            WriteJson(isComplete);
        else if (_indexes.Count > 0)
            shell.OutputText.WriteLine($"{_indexes.Count} indexes are not copied: the server builds them again.");
        return isComplete ? ExitCode.Ok : ExitCode.Failure;
    }

    private (SalvageReport? Report, string? Failure) Salvage(
        string environment, IProgress<CheckProgress> progress, CancellationToken cancellationToken)
    {
        try
        {
            string place = directory.PlaceIn(target, environment);
            SalvageReport report = Storage.Salvage.Run(
                environment, place, keys.Of(environment, cancellationToken), progress, cancellationToken);
            if (!report.IsComplete && report.Trees.Any(tree => tree.Name == DocumentsTree))
                LeaveMark(place, keys.Of(environment, cancellationToken));
            return (report, null);
        }
        catch (StorageException error)
            when (error is not (EnvironmentLockedException or DiskFullException or EncryptionKeyException))
        {
            return (null, error.Message);
        }
    }

    /// <summary>
    /// Marks a database as salvaged. Its trees refer to each other and may be inconsistent if one was recovered only in part; the
    /// server repairs that when it opens the database.
    /// </summary>
    private static void LeaveMark(string database, EncryptionKey? key)
    {
        using StorageEnvironment environment = StorageEnvironment.Open(database, new StorageOptions { EncryptionKey = key });
        environment.Write(transaction => transaction.GetOrCreateTree(SalvagedMark));
    }

    private void WriteText(string name, SalvageReport? report, string? failure)
    {
        if (report is null)
        {
            shell.OutputText.WriteLine($"{name}: nothing could be salvaged: {failure}");
            return;
        }

        shell.OutputText.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{name}: {(report.IsComplete ? "all of it came back" : "not all of it came back, or not for certain")}; transaction "
                + $"{report.TransactionId}, {report.Trees.Sum(tree => tree.Keys):N0} keys in {report.Trees.Count:N0} trees"));
        foreach (CheckProblem problem in report.Problems)
            shell.OutputText.WriteLine($"  {problem}");
        foreach (SalvagedTree tree in report.Trees.Where(tree => !tree.IsComplete))
            WriteText(tree);
    }

    private void WriteText(SalvagedTree tree)
    {
        string expected = tree.ExpectedKeys is { } keys ? string.Create(CultureInfo.InvariantCulture, $" of {keys:N0}") : "";
        shell.OutputText.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"  tree '{tree.Name}': {tree.Keys:N0}{expected} keys, {tree.DoubtfulKeys:N0} of them doubtful; {tree.LostValues:N0} "
                + $"values lost, {tree.DamagedPages:N0} pages damaged"));
        if (tree.Failure is { } failure)
            shell.OutputText.WriteLine($"    {failure}");
        foreach (KeyRange range in tree.MissingRanges)
            shell.OutputText.WriteLine($"    may be missing: {range}");
        foreach (KeyRange range in tree.DoubtfulRanges)
            shell.OutputText.WriteLine($"    doubtful: {range}");
    }

    private void WriteJson(bool isComplete) => OfflineJson.Write(shell, writer =>
    {
        writer.WriteString("directory", directory.Path);
        writer.WriteString("target", target);
        writer.WriteBoolean("complete", isComplete);
        writer.WriteStartArray("environments");
        foreach ((string name, SalvageReport? report, string? failure) in _results)
            WriteJson(writer, name, report, failure);
        writer.WriteEndArray();
        writer.WriteStartArray("indexesToBuildAgain");
        foreach (string index in _indexes)
            writer.WriteStringValue(index);
        writer.WriteEndArray();
    });

    private static void WriteJson(Utf8JsonWriter writer, string name, SalvageReport? report, string? failure)
    {
        writer.WriteStartObject();
        writer.WriteString("name", name);
        writer.WriteBoolean("complete", report is { IsComplete: true });
        if (report is null)
        {
            writer.WriteString("failure", failure);
            writer.WriteEndObject();
            return;
        }

        writer.WriteNumber("transaction", report.TransactionId);
        OfflineJson.WriteProblems(writer, report.Problems, report.ProblemCount);
        writer.WriteStartArray("trees");
        foreach (SalvagedTree tree in report.Trees)
        {
            writer.WriteStartObject();
            writer.WriteString("name", tree.Name);
            writer.WriteNumber("keys", tree.Keys);
            if (tree.ExpectedKeys is { } expected)
                writer.WriteNumber("expectedKeys", expected);
            writer.WriteNumber("doubtfulKeys", tree.DoubtfulKeys);
            writer.WriteNumber("lostValues", tree.LostValues);
            writer.WriteNumber("damagedPages", tree.DamagedPages);
            if (tree.Failure is { } why)
                writer.WriteString("failure", why);
            OfflineJson.WriteRanges(writer, "missing", tree.MissingRanges);
            OfflineJson.WriteRanges(writer, "doubtful", tree.DoubtfulRanges);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
        writer.WriteEndObject();
    }
}
