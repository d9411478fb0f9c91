using Treepie.Indexes.Definitions;
using Treepie.Kinds;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie;

/// <summary>The record of a <see cref="Database"/>, read and replaced as a whole.</summary>
public static class DatabaseRecords
{
    extension(Database database)
    {
        /// <summary>Returns everything that is set of the database as a whole.</summary>
        public DatabaseRecord GetRecord()
        {
            using DatabaseSnapshot snapshot = database.BeginRead();
            return DatabaseRecord.Of(DatabaseRecord.Stored(snapshot.Kinds));
        }

        /// <summary>
        /// Replaces everything that is set of the database, in one commit; durable on completion. What the record does not have
        /// is removed. Background tasks and indexes follow.
        /// </summary>
        /// <param name="record">The new record.</param>
        /// <param name="expectedEtag">The etag of the record that it replaces.</param>
        /// <param name="cancellationToken">Cancels the wait for a run of roll-ups, which policies do not change under.</param>
        /// <exception cref="ConcurrencyException">The record has another etag by now; nothing was changed.</exception>
        /// <exception cref="InvalidDocumentException">The record is not valid; nothing was changed.</exception>
        /// <exception cref="InvalidAnalyzerException">An analyzer is not valid, or an index uses one that would be removed;
        /// nothing was changed.</exception>
        /// <exception cref="InvalidSorterException">A sorter is not valid; nothing was changed.</exception>
        public async Task SetRecordAsync(
            DatabaseRecord record, long expectedEtag, CancellationToken cancellationToken = default)
        {
            ArgumentNullException.ThrowIfNull(record);
            SortedDictionary<string, byte[]> stored;
            using (DatabaseSnapshot snapshot = database.BeginRead())
                stored = DatabaseRecord.Stored(snapshot.Kinds);
            SortedDictionary<string, byte[]> wanted = record.ToStored(database.Options, stored);
            RequireEtag(stored, expectedEtag);
            bool isStored = false;
            try
            {
                if (IsSame(stored, wanted, TimeSeriesConfiguration.SettingName))
                    await Task.Run(Change, cancellationToken).ConfigureAwait(false);
                else
                    await database.TimeSeriesPolicies.BetweenRunsAsync(Change, cancellationToken).ConfigureAwait(false);
            }
            finally
            {
                if (isStored)
                    database.ApplySettings(); // even if an index cannot be built anew with the analyzers
            }

            // Takes the same locks as changes of analyzers or sorters alone. Unchanged analyzers are not checked: indexes may
            // not be buildable with them any more.
            void Change()
            {
                if (IsSame(stored, wanted, CustomAnalyzers.SettingName))
                    Store();
                else
                    database.Indexes.Analyzers.Replace(record.Analyzers, Store);
            }

            void Store() => database.Sorters.Change(
                () => isStored = database.Write(writer => Replace(writer, wanted, expectedEtag)));
        }

        /// <summary>Lets background tasks and caches follow settings that were changed together.</summary>
        internal void ApplySettings()
        {
            database.Lifecycle.Apply();
            database.TimeSeriesPolicies.Apply();
            database.Compression.Apply();
            database.Settings.Forget();
        }
    }

    private static bool Replace(DocumentWriter writer, SortedDictionary<string, byte[]> wanted, long expectedEtag)
    {
        SortedDictionary<string, byte[]> stored = DatabaseRecord.Stored(writer.Kinds.Items);
        RequireEtag(stored, expectedEtag);
        foreach (string name in stored.Keys.Union(wanted.Keys))
        {
            if (IsSame(stored, wanted, name))
                continue;
            new SettingCommand(name, wanted.GetValueOrDefault(name)).Apply(writer);
            if (name == TimeSeriesConfiguration.SettingName)
                Lifecycle.TimeSeriesPolicies.Restart(writer);
        }

        writer.Save();
        return true;
    }

    private static bool IsSame(SortedDictionary<string, byte[]> stored, SortedDictionary<string, byte[]> wanted, string name) =>
        stored.GetValueOrDefault(name).AsSpan().SequenceEqual(wanted.GetValueOrDefault(name));

    private static void RequireEtag(SortedDictionary<string, byte[]> stored, long expectedEtag)
    {
        long etag = DatabaseRecord.EtagOf(stored);
        if (etag != expectedEtag)
            throw new ConcurrencyException(
                $"The database record has the etag {etag}, not {expectedEtag}: it was changed since it was read. Nothing was "
                    + "changed. Read it again, and send the change with its etag.");
    }
}
