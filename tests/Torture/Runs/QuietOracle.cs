using System.Numerics;
using Treepie.Storage;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;

namespace Treepie.Torture.Runs;

/// <summary>What holds when nothing is under way.</summary>
internal static class QuietOracle
{
    /// <summary>The check finds nothing.</summary>
    public static void VerifyCheck(StorageEnvironment environment)
    {
        CheckReport report = environment.Check();
        if (!report.IsClean)
            throw new TortureFailure($"The check complains: {report.Problems[0]}");
    }

    /// <summary>With no readers and everything written, every page is live or free, and scratch is empty.</summary>
    public static void VerifySpace(StorageEnvironment environment)
    {
        VerifyCheck(environment);
        StorageStatistics statistics = environment.GetStatistics();
        if (statistics.ScratchBytes > 0)
            throw new TortureFailure($"{statistics.ScratchBytes} bytes of scratch are in use after a checkpoint, with no reader.");

        long live = environment.State.Space.CopyLive().Sum(BitOperations.PopCount);
        long lost = environment.State.Space.PageCount - FormatLimits.FirstDataPage - live - statistics.FreePages;
        if (lost > 0)
            throw new TortureFailure($"Of {environment.State.Space.PageCount} pages {live} are live and {statistics.FreePages} free: {lost} are lost.");
    }

    /// <summary>Each use of a journal file has a salt, and a number, of its own.</summary>
    public static void VerifySalts(DiskImage image)
    {
        var salts = new HashSet<ulong>();
        var uses = new HashSet<long>();
        var block = new byte[JournalFileHeader.BlockBytes];
        foreach ((string name, DiskContent content) in image.Files)
        {
            if (!name.StartsWith(FormatLimits.JournalPrefix, StringComparison.Ordinal) || content.Read(block, 0) < block.Length
                || !JournalFileHeader.TryRead(block, name, out JournalFileHeader header))
                continue;
            if (!salts.Add(header.Salt) || !uses.Add(header.Use))
                throw new TortureFailure($"'{name}', use {header.Use}, has the salt or number of another use.");
        }
    }
}
