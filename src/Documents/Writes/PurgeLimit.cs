namespace Treepie.Writes;

/// <summary>Which tombstones are deleted.</summary>
/// <param name="UpToEtag">The etag of the last one that nobody needs.</param>
/// <param name="UntilTicks">The time (UTC ticks) from which on they are too young.</param>
/// <param name="NowTicks">
/// The current time. A later one was written while the clock was ahead: it counts as old, because others wait for it.
/// </param>
internal readonly record struct PurgeLimit(
    long UpToEtag, long UntilTicks = long.MaxValue, long NowTicks = long.MaxValue)
{
    /// <summary>Returns whether a tombstone is deleted.</summary>
    public bool Includes(long etag, long ticks) => etag <= UpToEtag && (ticks <= UntilTicks || ticks > NowTicks);
}
