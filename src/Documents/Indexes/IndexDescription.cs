using Treepie.Computations;
using Treepie.Indexes.Definitions;
using Treepie.Indexing;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>Describes the state of an index at one point in time.</summary>
internal static class IndexDescription
{
    private static readonly string[] _allDocuments = [AutoIndexDefinition.AllDocuments];

    /// <summary>Returns the state of an index under a name; null if it is closed.</summary>
    public static IndexStatistics? Of(
        DocumentIndex index, string name, IndexSwitch onOff, DatabaseSnapshot snapshot, DateTimeOffset now)
    {
        if (!index.TryHold())
            return null;

        try
        {
            using IndexSearcher searcher = index.OpenSearcher();
            IndexProgress progress = index.Progress;
            IndexMapping definition = index.Definition;
            string? problem = progress.Fault?.Message ?? index.Maps.Failing(name, index.Reduces);
            (long maps, long mapErrors) = index.Maps.Maps;
            (int waiting, long oldestTicks) = Waiting(index, searcher.LastEtag, snapshot);
            return Describe(definition, name) with
            {
                IsStale = waiting > 0 || progress.CompleteFields < definition.Schema.Fields.Count,
                State = problem is not null
                    ? IndexState.Error
                    : onOff.Settings.IsDisabled ? IndexState.Disabled : IndexState.Normal,
                Settings = onOff.Settings,
                IsPaused = onOff.IsPaused,
                EntryCount = searcher.EntryCount,
                MapAttempts = maps,
                MapErrors = mapErrors,
                ReduceAttempts = index.Reduces.Reduces,
                ReduceErrors = index.Reduces.Errors,
                LastIndexedEtag = searcher.LastEtag,
                CompleteFieldCount = progress.CompleteFields,
                WaitingChanges = waiting,
                TimeBehind = waiting > 0 ? TimeSpan.FromTicks(Math.Max(0, now.UtcTicks - oldestTicks)) : TimeSpan.Zero,
                EtagsBehind = waiting > 0 ? Math.Max(0, snapshot.LastEtag - searcher.LastEtag) : 0,
                LastBatchChanges = progress.LastBatchChanges,
                ChangesPerSecond = progress.ChangesPerSecond,
                LastIndexingTime = progress.LastBatch,
                IndexingTime = progress.IndexingTime,
                RecentBatches = progress.Batches,
                ErrorCount = searcher.ErrorCount + (progress.IsFaulted ? 1 : 0),
                Error = problem ?? (searcher.ErrorCount == 0 ? null : Of(searcher.Errors()[^1]).Message),
            };
        }
        finally
        {
            index.Release();
        }
    }

    /// <summary>Returns the states of indexes that are open, under their names, and of those that cannot be opened.</summary>
    public static IReadOnlyList<IndexStatistics> Of(
        IEnumerable<(string Name, DocumentIndex Index)> open, IEnumerable<BrokenIndex> broken, IndexControl control,
        DatabaseSnapshot snapshot, DateTimeOffset now) =>
        [
            .. broken.Select(OfBroken)
                .Concat(
                    open.Select(i => Of(i.Index, i.Name, control.Switch(i.Index.Name), snapshot, now)).OfType<IndexStatistics>())
                .OrderBy(static index => index.Name, StringComparer.Ordinal)
        ];

    private static IndexStatistics OfBroken(BrokenIndex index) =>
        Describe(index.Definition, index.Definition.Name) with
        {
            IsStale = true,
            State = IndexState.Error,
            ErrorCount = 1,
            Error = index.Error.Message
        };

    /// <summary>Returns the errors that the index keeps, oldest first; empty if it is closed.</summary>
    public static IReadOnlyList<IndexError> ErrorsOf(DocumentIndex index)
    {
        if (!index.TryHold())
            return [];

        try
        {
            using IndexSearcher searcher = index.OpenSearcher();
            List<IndexError> errors = [.. searcher.Errors().Select(Of)];
            if (index.Progress.Fault is { } fault)
                errors.Add(fault);
            return errors;
        }
        finally
        {
            index.Release();
        }
    }

    private static IndexError Of(EntryError error) => error.Label.Length > 0
        ? new(error.Time, error.Label, "Map", $"Document '{error.Label}': {error.Message}")
        : new(error.Time, null, "Reduce", error.Message); // of a group, which has no document

    private static IndexStatistics Describe(IndexMapping definition, string name) => new()
    {
        Name = name,
        Collections = definition.Collections.Count == 0 ? _allDocuments : definition.Collections,
        Fields = [.. definition.Fields.Select(f => f.SchemaName).Where(static name => name != MappedField.Dynamic)],
        IsMapReduce = definition.Reduction is not null,
        Source = definition.Source,
        Definition = (definition as StaticIndexMapping)?.Definition,
    };

    /// <summary>Returns the number of waiting changes, and when the oldest was made.</summary>
    private static (int Count, long OldestTicks) Waiting(DocumentIndex index, long indexedEtag, DatabaseSnapshot snapshot)
    {
        using MappedChanges feed = index.Changes(snapshot, indexedEtag);
        if (!feed.MoveNext())
            return (0, 0);

        long oldest = feed.ChangedAtTicks;
        int count = 1;
        while (count < IndexStatistics.MostWaitingChanges && feed.MoveNext())
            count++;
        return (count, oldest);
    }
}

/// <summary>A static index that cannot be opened, for example because an analyzer is missing.</summary>
internal sealed record BrokenIndex(IndexMapping Definition, IndexError Error)
{
    public static BrokenIndex Of(IndexMapping definition, Exception error, DateTimeOffset now) => new(
        definition,
        new IndexError(
            now.UtcDateTime, null, "Index",
            $"The index '{definition.Name}' cannot be opened: {error.Message} "
                + (definition.IsMadeByQueries
                    ? "Its files were deleted; the next query that needs it makes it anew."
                    : "Open the database with its analyzers, or define the index anew.")));
}
