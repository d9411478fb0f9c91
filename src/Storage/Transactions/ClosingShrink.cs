using Treepie.Storage.Format;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Makes a store shorter before it is closed. Every checkpoint writes what has changed to other pages than the one before it
/// refers to, so many random
/// changes leave a file twice as long as what is in it, and a store that is closed may be closed for good.
/// </summary>
/// <remarks>
/// It takes time with the pages that move, so it is for small files of which much is free: at worst a quarter of a gigabyte is
/// written. Others are shrunk by who asks for it. What readers or named snapshots keep
/// would not move.
/// </remarks>
internal static class ClosingShrink
{
    private const long MostFileBytes = 512L << 20;

    /// <summary>A quarter of the file must be free, and this much at least.</summary>
    private const int LeastFreeShare = 4;

    /// <summary>
    /// Shrinks it if it is worth it. Where that fails, or another thread closes meanwhile, the file stays as long as it is.
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
            // Whoever writes next is told, or uses the free pages.
        }
    }

    /// <summary>For the leader.</summary>
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
