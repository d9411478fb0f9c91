using Treepie.Indexes;
using Treepie.Indexes.Definitions;

namespace Treepie.Backups;

/// <summary>
/// The definition of an index in a dump, and its settings. Settings are not part of the content hash: they are not content of
/// the database, and older dumps do not have them.
/// </summary>
/// <param name="Mapping">The definition.</param>
/// <param name="Settings">
/// Lock mode, priority, and whether the index is disabled. Pausing an index lasts only as long as the process and is not
/// stored.
/// </param>
internal sealed record DumpedIndex(IndexMapping Mapping, IndexSettings Settings)
{
    /// <summary>Its last definitions, newest first; as settings, no part of the content.</summary>
    public IReadOnlyList<DefinitionVersion> History { get; init; } = [];

    /// <summary>Returns the index without the analyzers that its definitions name.</summary>
    public DumpedIndex WithoutAnalyzers() => Mapping is not StaticIndexMapping byHand
        ? this
        : this with
        {
            Mapping = new StaticIndexMapping(IndexConfiguration.WithoutAnalyzers(byHand.Definition)),
            History = [
                .. History.Select(
                    static version => version with { Definition = IndexConfiguration.WithoutAnalyzers(version.Definition) })],
        };

    /// <summary>Returns the current indexes of a database.</summary>
    public static IReadOnlyList<DumpedIndex> Of(Database database) =>
        [.. database.Indexes.Definitions()
            .Select(mapping => new DumpedIndex(mapping, database.Indexes.Control.Settings(mapping.Name))
            {
                History = mapping is StaticIndexMapping ? database.Indexes.History(mapping.Name) : []
            })];

    /// <summary>Checks that the indexes created have the settings of the dump.</summary>
    /// <exception cref="BackupException">The settings differ.</exception>
    public static void RequireSettings(IEnumerable<DumpedIndex> indexes, Database restored)
    {
        foreach (DumpedIndex index in indexes)
        {
            IndexSettings made = restored.Indexes.Control.Settings(index.Mapping.Name);
            if (made != index.Settings)
                throw RestoreRun.Otherwise(
                    $"the settings of index '{index.Mapping.Name}' should be {index.Settings}, and are {made}");
        }
    }

    /// <summary>Creates the index in a database that is not in use yet.</summary>
    public void MakeIn(Database restored)
    {
        restored.Indexes.Ensure(Mapping);
        restored.Indexes.RestoreHistory(Mapping.Name, History);
        if (Settings != new IndexSettings())
            restored.Indexes.Control.Set(Mapping.Name, _ => Settings);
    }
}
