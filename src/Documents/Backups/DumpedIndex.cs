using Treepie.Indexes;
using Treepie.Indexes.Definitions;

namespace Treepie.Backups;

/// <summary>An index of a dump: its definition, and what is set of it. What is set is no part of the content hash: it is not what the database holds, and dumps of before have none.</summary>
/// <param name="Mapping">The definition.</param>
/// <param name="Settings">Lock, priority, and whether it is disabled. That it is paused ends with the process, and stands nowhere.</param>
internal sealed record DumpedIndex(IndexMapping Mapping, IndexSettings Settings)
{
    /// <summary>The indexes of a database as they are now.</summary>
    public static IReadOnlyList<DumpedIndex> Of(Database database) =>
        [.. database.Indexes.Definitions().Select(mapping => new DumpedIndex(mapping, database.Indexes.Control.Settings(mapping.Name)))];

    /// <summary>Makes it in a database that nobody uses yet.</summary>
    public void MakeIn(Database restored)
    {
        restored.Indexes.Ensure(Mapping);
        if (Settings != new IndexSettings())
            restored.Indexes.Control.Set(Mapping.Name, _ => Settings);
    }
}
