using Treepie.Indexes;
using Treepie.Storage;
using Treepie.Store;

namespace Treepie;

/// <summary>Returns unused space of a <see cref="Database"/> to the disk: <c>database.Compact(…)</c>.</summary>
public static class DatabaseCompaction
{
    extension(Database database)
    {
        /// <summary>
        /// Shortens the files of documents and indexes, one after the other, while reads and writes continue: moves pages from
        /// the end towards the start in short durable steps and truncates the free end. If it is cancelled or interrupted, the
        /// database is intact, and what was done is kept. Skips an index that is deleted meanwhile.
        /// </summary>
        /// <param name="options">What to compact. Null: everything.</param>
        /// <param name="progress">Receives the progress after each step, on the calling thread.</param>
        /// <param name="cancellationToken">Cancels the operation between two steps.</param>
        /// <exception cref="IndexNotFoundException">A named index does not exist; nothing was done.</exception>
        /// <exception cref="ConcurrencyException">The database is already being compacted; nothing was done.</exception>
        /// <exception cref="OperationCanceledException">The operation was cancelled.</exception>
        /// <exception cref="StorageException">The disk failed; what was done before is kept.</exception>
        public CompactionReport Compact(
            CompactionOptions? options = null, IProgress<CompactionProgress>? progress = null,
            CancellationToken cancellationToken = default)
        {
            options ??= new CompactionOptions();
            IReadOnlyList<DocumentIndex> indexes = database.Indexes.ToCompact(options.Indexes);
            if (!database.Compacting.TryBegin())
                throw new ConcurrencyException(
                    $"The database '{database.Name}' is being compacted already. Nothing was done. Wait for it to end.");
            try
            {
                var steps = new CompactionSteps(progress);
                CompactedStore? documents = options.Documents
                    ? steps.Run(DatabaseFormat.DocumentsFolder, told => database.Environment.Shrink(told, cancellationToken))
                    : null;
                return new CompactionReport(documents, IndexRounds.Shrink(indexes, steps, cancellationToken));
            }
            finally
            {
                database.Compacting.End();
            }
        }
    }
}
