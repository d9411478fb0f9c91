using System.Globalization;
using System.Text.Json;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using TreeNames = Treepie.Store.TreeNames;

namespace Treepie.Archiving;

/// <summary>What a backup task needs of the log.</summary>
/// <param name="Reached">Commit up to which it has archived it; null before its first backup.</param>
/// <param name="BudgetBytes">Most bytes that may wait for it.</param>
internal sealed record LogNeed(long? Reached, long BudgetBytes)
{
    /// <summary>
    /// Version of the records of tasks that is known here; a task of a newer one needs nothing of this version.
    /// </summary>
    private const int Format = 1;

    /// <summary>
    /// The needs of the tasks that archive the log, are not disabled and belong to the database in a directory. They are read
    /// from the records of tasks, field by field, because the log is kept from the opening on, and tasks come with backups.
    /// </summary>
    public static IReadOnlyList<LogNeed> OfTasks(StorageEnvironment environment, string directory)
    {
        using ReadTransaction read = environment.BeginRead();
        if (read.FindTree(TreeNames.BackupTasks) is not { } tree)
            return [];
        var needs = new List<LogNeed>();
        using Cursor cursor = tree.OpenCursor();
        for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
        {
            var reader = new Utf8JsonReader(cursor.Value);
            if (Of(JsonElement.ParseValue(ref reader), directory) is { } need)
                needs.Add(need);
        }

        return needs;
    }

    private static LogNeed? Of(JsonElement record, string directory)
    {
        if (!record.TryGetProperty("Format", out JsonElement format)
            || format.GetInt32() != Format
            || record.GetProperty("Home").GetString() != directory)
            return null;
        JsonElement task = record.GetProperty("Task");
        if (!task.TryGetProperty("LogInterval", out _) || task.GetProperty("IsDisabled").GetBoolean())
            return null;
        return new LogNeed(
            record.GetProperty("State").TryGetProperty("Link", out JsonElement link) ? LogCommitOf(link.GetString() ?? "") : null,
            task.GetProperty("LogBudgetBytes").GetInt64());
    }

    /// <summary>The third part of the link that a chain of snapshots goes on from; 0 of a logical backup's.</summary>
    private static long LogCommitOf(string link) =>
        link.Split(';') is [_, _, var commit, ..] && long.TryParse(commit, CultureInfo.InvariantCulture, out long number)
            ? number
            : 0;
}
