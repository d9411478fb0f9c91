using System.Numerics;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Checks;

/// <summary>
/// Checks a snapshot: every page is either reachable or free, and is referred to once; keys are in order and within their
/// separators; counts, levels, births, checksums, named snapshots and the chain of journal frames are right. Reads and writes
/// continue meanwhile.
/// </summary>
internal sealed class EnvironmentCheck(StorageEnvironment environment, CommitQueue commits, IFileSystem files)
{
    public CheckReport Run(IProgress<CheckProgress>? progress, CancellationToken cancellationToken)
    {
        EnvironmentState state = environment.State;
        ReadTransaction? transaction = null;
        ulong[] live = [];
        long pageCount = 0, freePages = 0;
        MetaPage? meta = null;
        string? bitmapFault = null;
        var named = new List<ReadTransaction>();
        commits.RunExclusive(() =>
        {
            transaction = environment.BeginRead();
            // Keep the named snapshots open so that dropping one meanwhile does not affect the check.
            named.AddRange(transaction.Snapshot.Named.All.Select(snapshot => environment.OpenSnapshot(snapshot.Name)));
            pageCount = state.Space.PageCount;
            freePages = state.Space.FreeCount;
            meta = state.Durable;
            try
            {
                live = state.Space.CopyLive();
            }
            catch (CorruptionException error)
            {
                bitmapFault = error.Message;
            }
        });
        using ReadTransaction read = transaction!; // RunExclusive has run the action
        var context = new CheckContext(state.Store, pageCount, progress, cancellationToken)
        {
            PagesTotal = live.Sum(word => (long)BitOperations.PopCount(word)),
            Release = () =>
            {
                read.ReleasePages();
                named.ForEach(open => open.ReleasePages());
            },
        };
        try
        {
            context.Mark(meta!.Bitmap, "(bitmap)");
            if (meta.OtherBitmap.Pages > 0) // there is none after a checkpoint whose meta page could not be written for sure
                context.Mark(meta.OtherBitmap, "(bitmap)");
            Walk(context, read);
        }
        finally
        {
            named.ForEach(open => open.Dispose());
        }

        if (bitmapFault is null)
            CompareWithBitmap(context, live, pageCount);
        else
            context.Report(bitmapFault, "(bitmap)");
        CheckBitmap(context, state);
        new JournalCheck(files, environment.StoreId, environment.Cipher, state, context).Run();
        progress?.Report(new CheckProgress("pages", context.Seen.Count, context.Seen.Count));
        return context.ToReport(read.TransactionId, freePages);
    }

    /// <summary>Walks every tree of the snapshot and the pages kept by named snapshots.</summary>
    private static void Walk(CheckContext context, ReadTransaction read)
    {
        Snapshot snapshot = read.Snapshot;
        new KindCheck(context).RunAll(snapshot.Catalogue, snapshot.System);
        try
        {
            new SnapshotCheck(context, snapshot.Named, snapshot.System).Run();
        }
        catch (CorruptionException error)
        {
            context.Report(error.Message, "(system)");
        }
    }

    private static void CompareWithBitmap(CheckContext context, ulong[] live, long pageCount)
    {
        for (long page = FormatLimits.FirstDataPage; page < pageCount; page++)
        {
            bool isLive = (live[page / 64] & (1UL << (int)(page % 64))) != 0;
            if (isLive && !context.Seen.Contains(page))
                context.Report("It is marked as in use, but nothing refers to it.", page: page);
            else if (!isLive && context.Seen.Contains(page))
                context.Report("It is referred to, but marked as free.", page: page);
        }
    }

    /// <summary>
    /// Verifies the pages of the current bitmap in the file. A checkpoint may overwrite it meanwhile, so a fault is reported
    /// only if the same meta page is still in force afterwards.
    /// </summary>
    private static void CheckBitmap(CheckContext context, EnvironmentState state)
    {
        MetaPage meta = state.Durable;
        int pagesPerGroup = state.Space.PagesPerGroup;
        int groups = (int)((meta.PageCount + pagesPerGroup - 1) / pagesPerGroup);
        for (int group = 0; group < groups; group++)
        {
            context.Cancellation.ThrowIfCancellationRequested();
            long number = meta.Bitmap.First + group;
            string? fault = context.Store.FindFault(number);
            if (fault is not null && ReferenceEquals(meta, state.Durable))
                context.Report($"It is damaged: {fault}.", "(bitmap)", number);
        }
    }
}
