namespace Treepie.Storage;

/// <summary>
/// What the scrub of an environment has done since it was opened: it reads the pages in use again from the disk, at the rate the
/// options say.
/// </summary>
public sealed record ScrubStatistics
{
    /// <summary>Times that all pages were looked at.</summary>
    public long Passes { get; init; }

    /// <summary>Page the pass under way goes on with; 0 between two passes.</summary>
    public long NextPage { get; init; }

    /// <summary>Bytes read and verified.</summary>
    public long BytesVerified { get; init; }

    /// <summary>
    /// Whether pages are read past the system's cache, so that the disk itself answers (Linux, where the file system has direct
    /// reads); otherwise a page that the cache still holds is verified as the cache has it. Known after the first read.
    /// </summary>
    public bool IsPastCache { get; init; }

    /// <summary>
    /// Pages that are known to be damaged now. Reading one throws a <see cref="CorruptionException"/>; the list is in <see
    /// cref="DamagedPages"/>.
    /// </summary>
    public int DamagedPageCount { get; init; }

    /// <summary>The first hundred of them.</summary>
    public IReadOnlyList<long> DamagedPages { get; init; } = [];

    /// <summary>What was found last, naming file and page, or null.</summary>
    public string? LastDamage { get; init; }

    /// <summary>
    /// Proofs that were withdrawn because the system had put the page out of memory: its next reader proves it again.
    /// </summary>
    public long ProofsWithdrawn { get; init; }
}
