using System.Globalization;
using Treepie.BackupTasks;
using Treepie.Indexes;
using Treepie.Server.Databases;
using Treepie.Server.Http;

namespace Treepie.Server.Health;

/// <summary>
/// Finds problems that prevent the server from working, or soon will. Opens no database, writes nothing and uses only cheap
/// checks, so that it can run every second. Thread-safe.
/// </summary>
internal sealed class HealthCheck(ServerContext server)
{
    /// <summary>An index that is further behind cannot keep up with the changes.</summary>
    private static readonly TimeSpan _longestLag = TimeSpan.FromMinutes(5);

    /// <summary>Returns the problems that prevent the server from working.</summary>
    public IReadOnlyList<HealthProblem> Critical()
    {
        var problems = new List<HealthProblem>();
        AddDisk(problems);
        foreach (DatabaseDescription described in server.Databases.Describe())
            using (DatabaseLease? lease = server.Databases.TryLook(described.Name))
                if (lease?.Database.WritingFault is { } fault)
                    problems.Add(new HealthProblem(true, described.Name, $"Nothing can be written: {ServerPaths.Hide(fault)}"));

        return problems;
    }

    /// <summary>Returns these problems and those that need attention soon.</summary>
    public IReadOnlyList<HealthProblem> All()
    {
        var problems = new List<HealthProblem>(Critical());
        foreach (DatabaseDescription described in server.Databases.Describe())
        {
            if (described.Problem is { } closed)
                problems.Add(new HealthProblem(false, described.Name, $"It could not be opened: {ServerPaths.Hide(closed)}"));
            using DatabaseLease? lease = server.Databases.TryLook(described.Name);
            if (lease is null)
                continue;

            AddIndexes(problems, described.Name, lease.Database.Indexes.List());
            foreach (BackupTaskInfo task in server.Backups.Scheduler.List(described.Name))
                if (task.Alert is { } alert)
                    problems.Add(
                        new HealthProblem(false, described.Name, $"Backup task '{task.Task.Name}': {ServerPaths.Hide(alert)}"));
        }

        return problems;
    }

    private void AddDisk(List<HealthProblem> problems)
    {
        // An application that uses the API with a single database elsewhere does not have this directory.
        if (!Directory.Exists(server.Options.DataDirectory))
            return;

        try
        {
            long free = new DriveInfo(Path.GetFullPath(server.Options.DataDirectory)).AvailableFreeSpace;
            if (free < server.Limits.LeastFreeDiskBytes)
                problems.Add(new HealthProblem(
                    true, null,
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"The disk of the databases has {free:N0} free bytes, less than {server.Limits.LeastFreeDiskBytes:N0} "
                            + $"(--min-free-disk-bytes). Make room.")));
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException or ArgumentException)
        {
            problems.Add(
                new HealthProblem(true, null, "The disk of the databases cannot be asked for its free space. Is it mounted?"));
        }
    }

    private static void AddIndexes(List<HealthProblem> problems, string database, IReadOnlyList<IndexStatistics> indexes)
    {
        foreach (IndexStatistics index in indexes)
        {
            if (index.State == IndexState.Error)
                problems.Add(
                    new HealthProblem(false, database, $"Index '{index.Name}' has stopped by an error; its errors tell more."));
            else if (index.State == IndexState.Normal && !index.IsPaused && index.TimeBehind > _longestLag)
                problems.Add(new HealthProblem(
                    false, database,
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"Index '{index.Name}' is {index.TimeBehind.TotalMinutes:0} minutes behind.")));
        }
    }
}
