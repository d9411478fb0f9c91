using Treepie.Storage;

namespace Treepie.Indexes;

/// <summary>Tells one watcher of the shrinking of several stores, each by its name, and adds up the pages that moved.</summary>
internal sealed class CompactionSteps(IProgress<CompactionProgress>? progress)
{
    private long _movedPages;

    /// <summary>Shrinks a store, with its progress, if anybody watches, as the argument.</summary>
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
