using Treepie.Storage.Encryption;
using Treepie.Storage.Files;
using Treepie.Storage.Format;

namespace Treepie.Storage.Transactions;

/// <summary>Creates the data file, finds its newest meta page, and makes it durable.</summary>
internal static class DataFile
{
    private const long FirstBitmapPage = FormatLimits.FirstDataPage;
    private const int FirstPages = 32;

    /// <summary>
    /// Creates an empty store, first under a temporary name, so that there is either a complete file or none.
    /// </summary>
    public static void Create(World world, EncryptionKey? key)
    {
        IFileSystem files = world.Files;
        if (files.List().Contains(FormatLimits.NewDataFileName))
            files.Delete(FormatLimits.NewDataFileName);

        try
        {
            using (IFile file = files.Open(FormatLimits.NewDataFileName, create: true, writable: true))
            {
                file.Allocate((long)FirstPages * PageLayout.SizeBytes);
                Guid storeId = world.DrawGuid();
                using StoreCipher? cipher = key is null ? null : StoreCipher.Create(world, storeId, key);
                WriteFirst(file, storeId, cipher);
                file.Sync();
            }

            files.Rename(FormatLimits.NewDataFileName, FormatLimits.DataFileName);
            files.SyncDirectory();
        }
        catch (DiskFullException)
        {
            if (files.List().Contains(FormatLimits.NewDataFileName))
                files.Delete(FormatLimits.NewDataFileName);
            throw;
        }
    }

    /// <summary>
    /// Throws if the directory holds something else or a damaged store, before anything is created in it, even a lock file.
    /// </summary>
    public static void ThrowIfForeign(IFileSystem files)
    {
        IReadOnlyList<string> names = files.List();
        if (!names.Contains(FormatLimits.DataFileName))
        {
            ThrowIfMissing(files, names);
            return;
        }

        using IFile file = files.Open(FormatLimits.DataFileName, create: false, writable: false);
        _ = ReadMeta(files, file);
    }

    /// <summary>Throws if there are journal files without a data file: the data file must have been lost.</summary>
    public static void ThrowIfMissing(IFileSystem files, IReadOnlyList<string> names)
    {
        if (names.Any(name => name.StartsWith(FormatLimits.JournalPrefix, StringComparison.Ordinal)))
            throw new CorruptionException(
                $"'{files.Path}' has journal files but no '{FormatLimits.DataFileName}'. Nothing was written. Put it back, or "
                    + $"restore a backup into an empty directory.");
    }

    /// <summary>
    /// Returns the newest valid meta page. Throws <see cref="ForeignDataException"/> or <see cref="CorruptionException"/> if
    /// there is none.
    /// </summary>
    public static MetaPage ReadMeta(IFileSystem files, IFile file)
    {
        string path = Path.Combine(files.Path, file.Name);
        var bytes = new byte[FormatLimits.FirstDataPage * PageLayout.SizeBytes];
        file.Announce(0, bytes.Length); // avoids the system's read-ahead
        int whole = file.Read(bytes, 0) / PageLayout.SizeBytes;
        MetaPage? newest = null;
        bool sawMagic = false;
        for (int slot = 0; slot < whole; slot++)
        {
            Span<byte> page = bytes.AsSpan(slot * PageLayout.SizeBytes, PageLayout.SizeBytes);
            sawMagic |= MetaPage.IsMarked(page);
            if (MetaPage.TryRead(page, slot, path) is { } meta && meta.Checkpoint >= (newest?.Checkpoint ?? 0))
                newest = meta;
        }

        if (newest is null)
            throw sawMagic
                ? new CorruptionException(
                    $"Both meta pages of '{path}' are damaged. Nothing was written. Restore a backup, or salvage what is left.")
                : new ForeignDataException(
                    $"'{path}' ({file.Length} bytes) is not a data file of this store. Open another directory, or move the file "
                        + $"away and put the right one in its place. It was not changed.");

        if (newest.FindFault() is { } fault)
            throw new CorruptionException(
                $"Meta page {newest.Slot} of '{path}' is damaged: {fault}. Nothing was written. Restore a backup, or salvage "
                    + $"what is left.");
        if (file.Length / PageLayout.SizeBytes < newest.PageCount)
            throw new CorruptionException(
                $"'{path}' is cut short: it has {file.Length} bytes, not the {newest.PageCount} pages of {PageLayout.SizeBytes} "
                    + $"that it should have. Nothing was written. Restore a backup, or salvage what is left.");
        return newest;
    }

    /// <summary>
    /// Makes the state found at opening durable, including file names, before anything builds on it: a process that was
    /// killed, or whose sync failed, may have left it only in the system's cache. A sync after a failed one proves nothing,
    /// so the meta page is written again: one copy, sync, the other copy, sync. The pages it names were durable before it was
    /// first written.
    /// </summary>
    public static void MakeDurable(IFileSystem files, IFile file, MetaPage meta)
    {
        file.Sync();
        files.SyncDirectory();
        var page = new byte[PageLayout.SizeBytes];
        meta.Write(page);
        long offset = (long)meta.Slot * PageLayout.SizeBytes;
        int first = FindCopyToRisk(file, meta), second = MetaPage.CopyBytes - first;
        file.Write(page.AsSpan(first, MetaPage.CopyBytes), offset + first);
        file.Sync();
        file.Write(page.AsSpan(second, MetaPage.CopyBytes), offset + second);
        file.Sync();
    }

    /// <summary>
    /// Returns the offset of the copy to rewrite first, which may be torn: the second one, unless the first is damaged and
    /// the second is therefore the only valid one.
    /// </summary>
    private static int FindCopyToRisk(IFile file, MetaPage meta)
    {
        var copy = new byte[MetaPage.CopyBytes];
        _ = file.Read(copy, (long)meta.Slot * PageLayout.SizeBytes);
        bool isFirstWhole = MetaPage.ReadCopies(copy, meta.Slot, file.Name).Any(found => found.Checkpoint == meta.Checkpoint);
        return isFirstWhole ? MetaPage.CopyBytes : 0;
    }

    private static void WriteFirst(IFile file, Guid storeId, StoreCipher? cipher)
    {
        var bytes = new byte[PageLayout.SizeBytes];
        var bitmap = new Page(bytes)
        {
            Number = FirstBitmapPage,
            Type = PageType.Bitmap,
        };
        bytes[PageLayout.HeaderBytes] = (1 << (int)FirstBitmapPage) | (1 << (int)(FirstBitmapPage + 1));
        if (cipher is not null)
            bitmap.Tag = cipher.TagOfBitmap(bytes);
        bitmap.Checksum = Page.ComputeChecksum(bytes);
        file.Write(bytes, FirstBitmapPage * PageLayout.SizeBytes);

        var meta = new MetaPage
        {
            StoreId = storeId,
            Checkpoint = 0,
            LastTransaction = 0,
            PageCount = FirstBitmapPage + 2,
            LivePages = 2,
            Catalogue = TreeRecord.Empty(TreeRecord.CatalogueId),
            System = TreeRecord.Empty(TreeRecord.SystemId),
            NextTreeId = TreeRecord.FirstId,
            IsClean = true,
            Journal = new JournalPosition(0, 0, 1, 0),
            Bitmap = new PageRun(FirstBitmapPage, 1),
            OtherBitmap = new PageRun(FirstBitmapPage + 1, 1),
        };
        (cipher?.Seal(meta) ?? meta).Write(bytes);
        file.Write(bytes, 0);
    }
}
