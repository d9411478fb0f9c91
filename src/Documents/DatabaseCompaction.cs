using Treepie.Indexes;
using Treepie.Storage;
using Treepie.Store;

namespace Treepie;

/// <summary>Gives room back to the disk that a <see cref="Database"/> has and does not need: <c>database.Compact(…)</c>.</summary>
public static class DatabaseCompaction
{
    extension(Database database)
    {
        /// <summary>
        /// Makes the files of documents and indexes shorter, one after the other, while reads and writes go on: pages at the end
        /// are written again nearer to the front, in short durable steps; what is free at the end is cut off. Cancelled or
        /// killed, the database is whole, and what was done stays done. An index that goes meanwhile is left out.
        /// </summary>
        /// <param name="options">What; null: everything.</param>
        /// <param name="progress">Told after each step, on the calling thread.</param>
        /// <param name="cancellationToken">Ends it between two steps.</param>
        /// <exception cref="IndexNotFoundException">There is no index of a name; nothing was done.</exception>
        /// <exception cref="ConcurrencyException">The database is being compacted already; nothing was done.</exception>
        /// <exception cref="OperationCanceledException">Cancelled.</exception>
        /// <exception cref="StorageException">The disk failed; what was done stays done.</exception>
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
