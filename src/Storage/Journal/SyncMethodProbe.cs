using Treepie.Storage.Files;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Journal;

/// <summary>
/// Times the two ways of making a block durable on the disk at hand, in a prepared journal file not yet in use. Takes some
/// milliseconds once per session, before its first commit; a slow disk gets a single round.
/// </summary>
internal static class SyncMethodProbe
{
    private const int BlockBytes = 4096;
    private const int Rounds = 7;
    private static readonly TimeSpan _patience = TimeSpan.FromMilliseconds(40);

    /// <summary>Returns the faster method for this file's disk. Never throws: the first real write reports any error.</summary>
    public static JournalSyncMethod Choose(IFile file, TimeProvider? clock)
    {
        if (clock is null || file.Length < (Rounds + 1) * BlockBytes || !file.TryWriteDirectly(true))
            return JournalSyncMethod.Cached;

        try
        {
            // Writes zeros where frames will be: the old contents of a reused file are not needed.
            using var block = new AlignedBuffer(BlockBytes);
            block.Slice(0, BlockBytes).Clear();
            var cached = new List<TimeSpan>(Rounds);
            var direct = new List<TimeSpan>(Rounds);
            long begin = clock.GetTimestamp();
            for (int round = 1; round == 1 || (round <= Rounds && clock.GetElapsedTime(begin) < _patience); round++)
            {
                cached.Add(Time(file, isDirect: false, block, round, clock));
                direct.Add(Time(file, isDirect: true, block, round, clock));
            }

            if (Median(direct) < Median(cached))
                return JournalSyncMethod.Direct;
        }
        catch (Exception error) when (error is StorageException or IOException)
        {
            // The file system allows opening a file for direct writes but rejects the write.
        }

        file.TryWriteDirectly(false);
        return JournalSyncMethod.Cached;
    }

    private static TimeSpan Time(IFile file, bool isDirect, AlignedBuffer block, int round, TimeProvider clock)
    {
        file.TryWriteDirectly(isDirect);
        long begin = clock.GetTimestamp();
        file.WriteDurable(block.Slice(0, BlockBytes), (long)round * BlockBytes);
        return clock.GetElapsedTime(begin);
    }

    private static TimeSpan Median(List<TimeSpan> times)
    {
        times.Sort();
        return times[times.Count / 2];
    }
}
