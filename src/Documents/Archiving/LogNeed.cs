using System.Globalization;
using System.Text.Json;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using TreeNames = Treepie.Store.TreeNames;

namespace Treepie.Archiving;

/// <summary>How much of the log a backup task needs.</summary>
/// <param name="Reached">Commit up to which the task has archived the log, or null before its first backup.</param>
/// <param name="BudgetBytes">Maximum size of the log that may wait for the task.</param>
internal sealed record LogNeed(long? Reached, long BudgetBytes)
{
    /// <summary>
    /// Version of task records that this code reads. Tasks with a newer version are ignored.
    /// </summary>
    private const int Format = 1;

    /// <summary>
    /// Returns the needs of enabled tasks that archive the log of the database in a directory. Reads the task records field
    /// by field, because the log must be kept from the opening of the database on, before the backup code that owns the
    /// records is started.
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

    /// <summary>Third part of a link, the commit from which a chain of snapshots continues, or 0 for a logical backup.</summary>
    private static long LogCommitOf(string link) =>
        link.Split(';') is [_, _, var commit, ..] && long.TryParse(commit, CultureInfo.InvariantCulture, out long number)
            ? number
            : 0;
}
