using Treepie.Writes;

namespace Treepie;

/// <summary>Deletes what deletions leave behind.</summary>
public static class DatabaseTombstones
{
    /// <param name="database">The database.</param>
    extension(Database database)
    {
        /// <summary>
        /// Deletes the tombstones that neither an index nor an enabled backup task needs any more. The database does so by itself
        /// from time to time with those older than <see cref="DatabaseOptions.TombstoneRetention"/>. Waits up to five seconds for
        /// indexes that are about to catch up. Returns the number of deleted tombstones: 0 if an index or a task needs them all.
        /// </summary>
        /// <param name="olderThan">The age from which tombstones are deleted. Null: any.</param>
        /// <param name="cancellationToken">Cancels the operation between two steps.</param>
        public Task<long> CleanTombstonesAsync(TimeSpan? olderThan = null, CancellationToken cancellationToken = default) =>
            database.Tombstones.RunAsync(olderThan ?? TimeSpan.Zero, cancellationToken);

        /// <summary>
        /// Deletes the tombstones up to an etag that all readers of changes have processed, in several durable steps of limited
        /// size. An index that has not processed them is built anew when it is opened again. Returns the number of deleted
        /// tombstones.
        /// </summary>
        public Task<long> PurgeTombstonesAsync(long upToEtag, CancellationToken cancellationToken = default) =>
            TombstoneWriter.PurgeAsync(database.Environment, upToEtag, cancellationToken);
    }
}
