using Treepie.Storage.Format;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Shrinks a store before it is closed. A checkpoint never overwrites pages that the previous one refers to, so many random
/// changes can leave a file twice as long as its contents, and a closed store may never be opened again.
/// </summary>
/// <remarks>
/// Shrinking takes time proportional to the pages moved, so it is done only for small files with much free space: at worst a
/// quarter of a gigabyte is written. Larger files are shrunk on request. It is skipped while readers or named snapshots hold
/// pages, because these cannot move.
/// </remarks>
internal static class ClosingShrink
{
    private const long MostFileBytes = 512L << 20;

    /// <summary>Shrink only if at least one page in this many is free (and enough bytes are).</summary>
    private const int LeastFreeShare = 4;

    /// <summary>
    /// Shrinks the file if it is worthwhile. If that fails, or another thread closes meanwhile, the file keeps its length.
    /// </summary>
    public static void TryRun(CommitQueue commits, EnvironmentState state, StorageOptions options, Action shrink)
    {
        try
        {
            bool isWorthwhile = false;
            commits.RunExclusive(() => isWorthwhile = IsWorthwhile(state, options));
            if (isWorthwhile)
                shrink();
        }
        catch (Exception)
        {
            // The next writer gets the error, or reuses the free pages.
        }
    }

    /// <summary>Must be called by the leader.</summary>
    private static bool IsWorthwhile(EnvironmentState state, StorageOptions options)
    {
        if (options.ReadOnly || state.Failure is not null || state.Current.Named.All.Count > 0)
            return false;

        var readers = new List<long>();
        state.Readers.CollectSnapshots(readers);
        long file = state.Store.FilePages, free = file - state.Space.LivePages;
        return readers.Count == 0
            && file * PageLayout.SizeBytes <= MostFileBytes
            && free * PageLayout.SizeBytes >= options.ClosingShrinkBytes
            && free >= file / LeastFreeShare;
    }
}
