using System.Globalization;
using System.Text.Json;
using Treepie.Indexes;
using Treepie.Server.Http;
using Treepie.Server.Security;
using Treepie.Store;

namespace Treepie.Server.Endpoints;

/// <summary>
/// The activity of indexes: their recent batches, their progress, why they are stale, and their total indexing time.
/// </summary>
internal static class IndexActivityEndpoints
{
    public static void Map(Routes routes)
    {
        routes.Database("GET", "/indexes/performance", AccessLevel.DatabaseRead, Performance);
        routes.Database("GET", "/indexes/progress", AccessLevel.DatabaseRead, Progress);
        routes.Database("GET", "/indexes/staleness", AccessLevel.DatabaseRead, Staleness);
        routes.Database("GET", "/indexes/total-time", AccessLevel.DatabaseRead, TotalTime);
    }

    private static Task Performance(HttpServerRequest request, Database database) =>
        ResultsAsync(request, database, static (json, index) =>
        {
            json.WriteString("Name", index.Name);
            json.WriteStartArray("Performance");
            foreach (IndexBatchReport batch in index.RecentBatches)
                WriteBatch(json, batch);
            json.WriteEndArray();
        });

    private static void WriteBatch(Utf8JsonWriter json, IndexBatchReport batch)
    {
        TimeSpan took = batch.Ended - batch.Started;
        json.WriteStartObject();
        json.WriteNumber("Id", batch.Number);
        json.WriteString("Started", WireTime.ToWire(batch.Started));
        json.WriteString("Completed", WireTime.ToWire(batch.Ended));
        json.WriteNumber("InputCount", batch.Changes);
        WriteTime(json, took);
        json.WriteStartObject("Details");
        json.WriteString("Name", "Indexing");
        WriteTime(json, took);
        json.WriteStartArray("Operations");
        foreach ((string name, TimeSpan time) in (ReadOnlySpan<(string, TimeSpan)>)
            [("Map", batch.Mapping), ("Storage/Commit", batch.Committing)])
        {
            json.WriteStartObject();
            json.WriteString("Name", name);
            WriteTime(json, time);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        json.WriteEndObject();
        json.WriteEndObject();
    }

    private static Task Progress(HttpServerRequest request, Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return ResultsAsync(request, database, (json, index) =>
        {
            json.WriteString("Name", index.Name);
            json.WriteString("Type", IndexWire.TypeOf(index));
            json.WriteString("SourceType", index.Source.ToString());
            json.WriteBoolean("IsStale", index.IsStale);
            json.WriteString("IndexRunningStatus", IndexWire.StatusOf(index));
            json.WriteNumber("ProcessedPerSecond", Math.Round(index.ChangesPerSecond, 1));
            json.WriteStartObject("Collections");
            foreach (string collection in index.Collections)
                WriteCollection(json, snapshot, index, collection);
            json.WriteEndObject();
        });
    }

    private static void WriteCollection(
        Utf8JsonWriter json, DatabaseSnapshot snapshot, IndexStatistics index, string collection)
    {
        bool isAll = index.Collections.Count == 1 && collection == "@all_docs";
        json.WriteStartObject(collection);
        json.WriteNumber("LastProcessedItemEtag", index.LastIndexedEtag);
        if (index.Source == IndexSourceType.Documents)
        {
            (int documents, int tombstones, bool isExact) = Waiting(snapshot, isAll ? null : collection, index.LastIndexedEtag);
            json.WriteNumber("NumberOfItemsToProcess", documents);
            json.WriteNumber("NumberOfTombstonesToProcess", tombstones);
            json.WriteNumber(
                "TotalNumberOfItems",
                isAll
                    ? snapshot.DocumentCount
                    : snapshot.Collections()
                        .FirstOrDefault(one => string.Equals(one.Name, collection, StringComparison.OrdinalIgnoreCase))
                        ?.DocumentCount ?? 0);
            if (!isExact)
                json.WriteBoolean("IsExact", false); // there are more
        }
        else
            json.WriteNumber("NumberOfItemsToProcess", index.WaitingChanges);

        json.WriteEndObject();
    }

    /// <summary>Counts the documents and tombstones after an etag, up to a limit.</summary>
    private static (int Documents, int Tombstones, bool IsExact) Waiting(
        DatabaseSnapshot snapshot, string? collection, long etag)
    {
        using ChangeFeed feed = snapshot.Changes(collection, etag);
        (int documents, int tombstones) = (0, 0);
        while (feed.MoveNext())
        {
            if (documents + tombstones == IndexStatistics.MostWaitingChanges)
                return (documents, tombstones, false);
            if (feed.IsTombstone)
                tombstones++;
            else
                documents++;
        }

        return (documents, tombstones, true);
    }

    private static Task Staleness(HttpServerRequest request, Database database)
    {
        IndexStatistics index = IndexesEndpoints.Find(database, request.RequiredParameter("name"));
        return request.JsonAsync((index, database.LastEtag), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteBoolean("IsStale", state.index.IsStale);
            json.WriteTexts("StalenessReasons", [.. Reasons(state.index, state.LastEtag)]);
            json.WriteEndObject();
        });
    }

    private static IEnumerable<string> Reasons(IndexStatistics index, long lastEtag)
    {
        if (index.WaitingChanges > 0)
        {
            string most = index.WaitingChanges == IndexStatistics.MostWaitingChanges ? "at least " : "";
            yield return string.Create(
                CultureInfo.InvariantCulture,
                $"{most}{index.WaitingChanges} changes of {string.Join(", ", index.Collections)} wait to be indexed, the oldest "
                    + $"for {index.TimeBehind.TotalSeconds:0.###} s; the index has reached etag {index.LastIndexedEtag}, the "
                    + $"database {lastEtag}.");
        }

        if (index.IsStale && index.CompleteFieldCount < index.Fields.Count)
            yield return $"Only {index.CompleteFieldCount} of its {index.Fields.Count} fields are built for all entries.";
        if (index.IsStale && index.Settings.IsDisabled)
            yield return "The index is disabled.";
        if (index.IsStale && index.IsPaused)
            yield return "Indexing is paused.";
        if (index.IsStale && index.State == IndexState.Error)
            yield return $"The index stopped: {index.Error}";
    }

    private static Task TotalTime(HttpServerRequest request, Database database) =>
        ResultsAsync(request, database, static (json, index) =>
        {
            json.WriteString("Name", index.Name);
            json.WriteString("TotalIndexingTime", index.IndexingTime.ToString("c", CultureInfo.InvariantCulture));
        });

    /// <summary>Writes an object for each index named in the request, or for all.</summary>
    private static Task ResultsAsync(
        HttpServerRequest request, Database database, Action<Utf8JsonWriter, IndexStatistics> write)
    {
        var names = request.Parameters("name");
        IReadOnlyList<IndexStatistics> indexes = names.Count == 0
            ? database.Indexes.List()
            : [.. names.Select(name => IndexesEndpoints.Find(database, name ?? ""))];
        return request.JsonAsync((indexes, write), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteStartArray("Results");
            foreach (IndexStatistics index in state.indexes)
            {
                json.WriteStartObject();
                state.write(json, index);
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        });
    }

    private static void WriteTime(Utf8JsonWriter json, TimeSpan time) =>
        json.WriteNumber("DurationInMs", Math.Round(time.TotalMilliseconds, 3));
}
