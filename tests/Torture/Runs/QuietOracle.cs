using System.Numerics;
using Treepie.Storage;
using Treepie.Storage.Encryption;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;

namespace Treepie.Torture.Runs;

/// <summary>Verifies what must hold while nothing is running.</summary>
internal static class QuietOracle
{
    private const int BothKeys = KeyBlock.FlagHasEven | KeyBlock.FlagHasOdd;

    /// <summary>Verifies that the check finds no problems.</summary>
    public static void VerifyCheck(StorageEnvironment environment)
    {
        CheckReport report = environment.Check();
        if (!report.IsClean)
            throw new TortureFailure($"The check complains: {report.Problems[0]}");
        if (environment.GetStatistics().Scrub?.LastDamage is { } damage)
            throw new TortureFailure($"The scrub found damage that the check does not find: {damage}");
    }

    /// <summary>Verifies that the scrub finds nothing on an intact disk, whatever is being written.</summary>
    public static void VerifyScrub(StorageEnvironment? environment)
    {
        environment?.State.Scrubber?.RunPass();
        if (environment?.State.Scrubber?.Describe().LastDamage is { } damage)
            throw new TortureFailure($"The scrub finds damage on a sound disk: {damage}");
    }

    /// <summary>Verifies that with no readers and everything written, every page is live or free, and scratch is empty.</summary>
    public static void VerifySpace(StorageEnvironment environment)
    {
        VerifyCheck(environment);
        StorageStatistics statistics = environment.GetStatistics();
        if (statistics.ScratchBytes > 0)
            throw new TortureFailure(
                $"{statistics.ScratchBytes} bytes of scratch are in use after a checkpoint, with no reader.");

        long live = environment.State.Space.CopyLive().Sum(BitOperations.PopCount);
        long lost = environment.State.Space.PageCount - FormatLimits.FirstDataPage - live - statistics.FreePages;
        if (lost > 0)
            throw new TortureFailure(
                $"Of {environment.State.Space.PageCount} pages {live} are live and {statistics.FreePages} free: {lost} are "
                    + $"lost.");
    }

    /// <summary>Verifies that no meta page can be opened with a user key that was replaced.</summary>
    public static void VerifyKeyIsGone(DiskImage image, EncryptionKey old)
    {
        for (int slot = 0; slot < 2; slot++)
        {
            if (image.MetaAt(slot) is not { Keys: { } block } meta)
                continue;

            using DataKeys? keys = DataKeys.TryUnwrap(block, meta.StoreId, old);
            if (keys is not null)
                throw new TortureFailure($"The user's key was changed, but meta page {slot} opens with the old one.");
        }
    }

    /// <summary>Verifies after a complete rotation of the data key that no meta page has the old one.</summary>
    public static void VerifyDataKeyIsGone(DiskImage image)
    {
        for (int slot = 0; slot < 2; slot++)
            if (image.MetaAt(slot)?.Keys is { } block && (block.Flags & BothKeys) == BothKeys)
                throw new TortureFailure($"The data key was rotated, but meta page {slot} still has the old one.");
    }

    /// <summary>Verifies that uses of journal files have different keys if they differ in number, salt or incarnation.</summary>
    public static void VerifyJournalKeys(StoreCipher cipher)
    {
        var use = new JournalFileHeader(default, 1, 2, 1, 0, cipher.Incarnation, null);
        JournalFileHeader[] uses =
        [
            use, use with { Use = 2 }, use with { Salt = 1 }, use with { Use = 2, Salt = 1 },
            use with { Incarnation = cipher.Incarnation ^ 2 }
        ];
        var seen = new HashSet<string>();
        foreach (JournalFileHeader one in uses)
        {
            var frame = new byte[FrameHeader.SizeBytes + 64];
            new FrameHeader(0, long.MaxValue, 0, 0, 0, 64, 0, true).Write(frame);
            using FrameCipher frames = cipher.NewFrameCipher(one);
            frames.Seal(frame);
            if (!seen.Add(Convert.ToHexString(frame)))
                throw new TortureFailure("Two uses of journal files that differ in number, salt or incarnation have one key.");
        }
    }

    /// <summary>
    /// Verifies that with no readers, all decrypted data can be released, and that nothing of it, nor of written pages, is
    /// left in memory.
    /// </summary>
    public static void VerifyZeroed(StorageEnvironment environment)
    {
        PageStore store = environment.State.Store;
        ulong[] live = environment.State.Space.CopyLive();
        for (long page = FormatLimits.FirstDataPage; page < environment.State.Space.PageCount; page++)
        {
            Span<byte> left = store.Space.Span(page * PageLayout.SizeBytes, PageLayout.SizeBytes);
            bool isLive = (live[page / 64] & (1UL << (int)(page % 64))) != 0;
            if (!isLive && page < store.FilePages && left.ContainsAnyExcept((byte)0) && new Page(left).Type != PageType.Bitmap)
                throw new TortureFailure($"Page {page} was given free, but its bytes are still in memory.");
        }

        using (ReadTransaction read = environment.BeginRead())
        {
            _ = read.TreeNames.Count();
            _ = environment.Sweeper!.Sweep(); // not null, because the environment is encrypted
            read.ReleasePages();
            if (environment.Sweeper.Sweep() > 0)
                throw new TortureFailure("Pages stay decrypted for a reader that has released them.");
        }

        // The first call may coincide with a checkpoint or a command.
        for (int i = 0; i < 2 && environment.Sweeper.Sweep() > 0; i++)
        {
        }

        if (store.Decrypted!.Bytes > 0) // not null, because the environment is encrypted
            throw new TortureFailure($"{store.Decrypted.Bytes} bytes stay decrypted although nobody reads.");

        for (long page = 0; page < store.FilePages; page++)
            if (store.Space.Span(page * PageLayout.SizeBytes, PageLayout.SizeBytes).ContainsAnyExcept((byte)0))
                throw new TortureFailure($"Page {page} was given back, but its bytes are still in memory.");
        for (uint frame = 0; frame < store.Scratch.FrameCount; frame++)
            if (store.Scratch.IsCommitted(frame) && store.Scratch.Bytes(frame, PageLayout.SizeBytes).ContainsAnyExcept((byte)0))
                throw new TortureFailure($"Frame {frame} of scratch was given back, but its bytes are still in memory.");
    }

    /// <summary>Verifies that each use of a journal file has its own salt and number.</summary>
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
