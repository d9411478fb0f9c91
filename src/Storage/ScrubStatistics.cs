namespace Treepie.Storage;

/// <summary>
/// Statistics of the scrub since the environment was opened, which reads the pages in use from the disk again at the configured
/// rate.
/// </summary>
public sealed record ScrubStatistics
{
    /// <summary>The number of completed passes over all pages.</summary>
    public long Passes { get; init; }

    /// <summary>The page at which the current pass continues; 0 between two passes.</summary>
    public long NextPage { get; init; }

    /// <summary>The number of bytes read and verified.</summary>
    public long BytesVerified { get; init; }

    /// <summary>
    /// Whether pages are read bypassing the system's cache, from the disk itself (on Linux, if the file system supports direct
    /// reads). Otherwise, a page that is cached is verified as cached. Known after the first read.
    /// </summary>
    public bool IsPastCache { get; init; }

    /// <summary>
    /// The number of pages currently known to be damaged. Reading one throws a <see cref="CorruptionException"/>; they are listed
    /// in <see cref="DamagedPages"/>.
    /// </summary>
    public int DamagedPageCount { get; init; }

    /// <summary>The first hundred damaged pages.</summary>
    public IReadOnlyList<long> DamagedPages { get; init; } = [];

    /// <summary>The damage found last, with file and page; null if none.</summary>
    public string? LastDamage { get; init; }

    /// <summary>
    /// The number of verification results that were dropped because the system had evicted the page; its next reader verifies it
    /// again.
    /// </summary>
    public long ProofsWithdrawn { get; init; }
}
