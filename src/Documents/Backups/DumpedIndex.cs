using Treepie.Indexes;
using Treepie.Indexes.Definitions;

namespace Treepie.Backups;

/// <summary>
/// An index of a dump: its definition, and what is set of it. What is set is no part of the content hash: it is not what the
/// database holds, and dumps of before have none.
/// </summary>
/// <param name="Mapping">The definition.</param>
/// <param name="Settings">Lock, priority, and whether it is disabled. That it is paused ends with the process, and stands
/// nowhere.</param>
internal sealed record DumpedIndex(IndexMapping Mapping, IndexSettings Settings)
{
    /// <summary>The indexes of a database as they are now.</summary>
    public static IReadOnlyList<DumpedIndex> Of(Database database) =>
        [.. database.Indexes.Definitions()
            .Select(mapping => new DumpedIndex(mapping, database.Indexes.Control.Settings(mapping.Name)))];

    /// <summary>Compares what is set of the indexes that were made with what was to be set.</summary>
    /// <exception cref="BackupException">It is something else.</exception>
    public static void RequireSettings(IEnumerable<DumpedIndex> indexes, Database restored)
    {
        foreach (DumpedIndex index in indexes)
        {
            IndexSettings made = restored.Indexes.Control.Settings(index.Mapping.Name);
            if (made != index.Settings)
                throw new BackupException(
                    BackupFault.RestoredOtherwise,
                    $"What was restored is not what the backup holds: of index '{index.Mapping.Name}' {index.Settings} should be "
                        + $"set, and {made} is. Nothing was kept. Check the disk, and report this.");
        }
    }

    /// <summary>Makes it in a database that nobody uses yet.</summary>
    public void MakeIn(Database restored)
    {
        restored.Indexes.Ensure(Mapping);
        if (Settings != new IndexSettings())
            restored.Indexes.Control.Set(Mapping.Name, _ => Settings);
    }
}
