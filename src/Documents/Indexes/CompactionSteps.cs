using Treepie.Storage;

namespace Treepie.Indexes;

/// <summary>
/// Reports the progress of compacting several stores to one observer, by store name and with the accumulated number of moved
/// pages.
/// </summary>
internal sealed class CompactionSteps(IProgress<CompactionProgress>? progress)
{
    private long _movedPages;

    /// <summary>
    /// Shrinks a store; <paramref name="shrink"/> receives the progress to report to, or null if there is no observer.
    /// </summary>
    public CompactedStore Run(string store, Func<IProgress<ShrinkProgress>?, ShrinkReport> shrink)
    {
        ShrinkReport report = shrink(progress is null ? null : new Step(store, _movedPages, progress));
        _movedPages += report.MovedPages;
        return new CompactedStore(
            report.BytesBefore, report.BytesAfter, report.MovedPages, report.FreeBytes, report.HeldBy);
    }

    private sealed class Step(string store, long movedBefore, IProgress<CompactionProgress> progress) : IProgress<ShrinkProgress>
    {
        public void Report(ShrinkProgress value) =>
            progress.Report(new CompactionProgress(store, movedBefore + value.MovedPages, value.DataFileBytes));
    }
}
