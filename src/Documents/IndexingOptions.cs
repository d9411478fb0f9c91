namespace Treepie;

/// <summary>
/// Options of indexing: the number of threads and the size of batches. Immutable.
/// </summary>
/// <remarks>
/// While an index is working, it uses memory for two batches (one is written while the next is mapped) and a chunk of a few
/// hundred documents per mapper. An idle index uses none.
/// </remarks>
public sealed record IndexingOptions
{
    /// <summary>The minimum of <see cref="MaxBatchBytes"/>: 64 KiB.</summary>
    public const long LeastBatchBytes = 64 * 1024;

    /// <summary>
    /// The maximum of <see cref="MaxBatchBytes"/>: 512 MiB. The contents of a batch are kept in arrays, which are limited to 2
    /// GiB.
    /// </summary>
    public const long MostBatchBytes = 512L << 20;

    /// <summary>The maximum of <see cref="MaxBatchChanges"/>: 1,048,576.</summary>
    public const int MostBatchChanges = 1 << 20;

    /// <summary>The maximum of <see cref="IndexesAtWork"/> and <see cref="Mappers"/>: 256.</summary>
    public const int MostThreads = 256;

    /// <summary>The maximum of <see cref="MaxAutoIndexes"/>: 4,096.</summary>
    public const int MostAutoIndexes = 4_096;

    private const long UsualBatchBytes = 16L << 20;

    /// <summary>Two batches, each taking twice its size, then use an eighth of the available memory.</summary>
    private const long PartOfMemory = 32;

    /// <summary>
    /// The number of indexes that work concurrently; others wait for their turn, see <see cref="Indexes.IndexPriority"/>.
    /// Default: half of the processors, at least 1.
    /// </summary>
    public int IndexesAtWork { get; init; } = Math.Clamp(Environment.ProcessorCount / 2, 1, MostThreads);

    /// <summary>
    /// The number of threads per working index that read documents and analyze text, in addition to the one that writes. The
    /// index is identical to the byte, whatever the number. Default: half of the processors, at least 1.
    /// </summary>
    public int Mappers { get; init; } = Math.Clamp(Environment.ProcessorCount / 2, 1, MostThreads);

    /// <summary>
    /// The number of bytes of terms, spatial values and records after which a batch is committed. One more document, or a chunk
    /// of 256 KiB of documents, may be added to it. A batch takes about twice its size in memory. Default: 16 MiB, so that each
    /// modified page is written once for many documents; for processes limited to less than 512 MiB of memory, 1/32 of that
    /// limit.
    /// </summary>
    public long MaxBatchBytes { get; init; } = Math.Clamp(
        GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / PartOfMemory, LeastBatchBytes, UsualBatchBytes);

    /// <summary>The number of changes after which a batch is committed. Default: 65,536.</summary>
    public int MaxBatchChanges { get; init; } = 64 * 1024;

    /// <summary>
    /// The time after which a batch is committed, so that a busy index does not fall far behind. Default: 2 seconds.
    /// </summary>
    public TimeSpan MaxBatchTime { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>
    /// The maximum number of auto-indexes of a database. When it is reached, an auto-index that no query has used for an hour is
    /// replaced by the new one; if there is none, the query is rejected. Default: 64.
    /// </summary>
    public int MaxAutoIndexes { get; init; } = 64;

    /// <summary>
    /// The time since the last query, counted from the opening of the database at the earliest, after which an auto-index is
    /// deleted. Default: 72 hours.
    /// </summary>
    public TimeSpan AutoIndexRetention { get; init; } = TimeSpan.FromHours(72);

    internal void Validate()
    {
        Range(MaxAutoIndexes, 1, MostAutoIndexes, nameof(MaxAutoIndexes));
        if (AutoIndexRetention <= TimeSpan.Zero)
            throw new ArgumentOutOfRangeException(
                nameof(AutoIndexRetention), AutoIndexRetention, $"{nameof(AutoIndexRetention)} must be more than nothing.");
        Range(IndexesAtWork, 1, MostThreads, nameof(IndexesAtWork));
        Range(Mappers, 1, MostThreads, nameof(Mappers));
        Range(MaxBatchBytes, LeastBatchBytes, MostBatchBytes, nameof(MaxBatchBytes));
        Range(MaxBatchChanges, 1, MostBatchChanges, nameof(MaxBatchChanges));
        if (MaxBatchTime <= TimeSpan.Zero)
            throw new ArgumentOutOfRangeException(
                nameof(MaxBatchTime), MaxBatchTime, $"{nameof(MaxBatchTime)} must be more than nothing.");
    }

    private static void Range(long value, long least, long most, string option)
    {
        if (value < least || value > most)
            throw new ArgumentOutOfRangeException(option, value, $"{option} must be from {least:N0} to {most:N0}.");
    }
}
