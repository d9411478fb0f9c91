namespace Treepie;

/// <summary>
/// How indexes of a database are kept up with its documents: how many threads, and how large a bite each takes. Immutable.
/// </summary>
/// <remarks>
/// Memory while an index works: two batches (one is written while the next is made), and for each mapper a piece of a few hundred
/// documents. An index with nothing to do has none.
/// </remarks>
public sealed record IndexingOptions
{
    /// <summary>Lowest value of <see cref="MaxBatchBytes"/>: 64 KiB.</summary>
    public const long LeastBatchBytes = 64 * 1024;

    /// <summary>
    /// Highest value of <see cref="MaxBatchBytes"/>: 512 MiB. What a batch holds lies in arrays, which end at 2 GiB.
    /// </summary>
    public const long MostBatchBytes = 512L << 20;

    /// <summary>Highest value of <see cref="MaxBatchChanges"/>: 1,048,576.</summary>
    public const int MostBatchChanges = 1 << 20;

    /// <summary>Highest value of <see cref="IndexesAtWork"/> and <see cref="Mappers"/>: 256.</summary>
    public const int MostThreads = 256;

    /// <summary>Highest value of <see cref="MaxAutoIndexes"/>: 4,096.</summary>
    public const int MostAutoIndexes = 4_096;

    private const long UsualBatchBytes = 16L << 20;

    /// <summary>Two batches of twice their bytes are then an eighth of what the process may have.</summary>
    private const long PartOfMemory = 32;

    /// <summary>
    /// So many indexes work at a time; the others wait for their turn, see <see cref="Indexes.IndexPriority"/>. Default: half of
    /// the processors, at least 1.
    /// </summary>
    public int IndexesAtWork { get; init; } = Math.Clamp(Environment.ProcessorCount / 2, 1, MostThreads);

    /// <summary>
    /// So many threads read documents and analyze their texts, for each index that works, beside the one that writes. The index
    /// is the same to the byte, whatever the number. Default: half of the processors, at least 1.
    /// </summary>
    public int Mappers { get; init; } = Math.Clamp(Environment.ProcessorCount / 2, 1, MostThreads);

    /// <summary>
    /// Bytes of terms, places and records of a batch after which it is committed. One document more, or a piece of 256 KiB of
    /// documents, may come on top. In memory they take about twice that. Default 16 MiB: each touched page is written once for
    /// many documents; less where the process may have less than 512 MiB of memory, a thirty-second of that.
    /// </summary>
    public long MaxBatchBytes { get; init; } = Math.Clamp(
        GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / PartOfMemory, LeastBatchBytes, UsualBatchBytes);

    /// <summary>Changes of a batch after which it is committed. Default 65,536.</summary>
    public int MaxBatchChanges { get; init; } = 64 * 1024;

    /// <summary>
    /// Time after which a batch is committed, so that answers of a busy index do not fall far behind. Default 2 seconds.
    /// </summary>
    public TimeSpan MaxBatchTime { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>
    /// Indexes that queries may have made of a database at a time. With so many, one that no query has used for an hour gives way
    /// to the next; where there is none, the query is refused. Default 64.
    /// </summary>
    public int MaxAutoIndexes { get; init; } = 64;

    /// <summary>
    /// An index that a query made goes when no query has used it for so long since the database was opened. Default 72 hours.
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
