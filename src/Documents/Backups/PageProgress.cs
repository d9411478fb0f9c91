using Treepie.Storage.Backups;

namespace Treepie.Backups;

/// <summary>Converts progress in pages to <see cref="BackupProgress"/>.</summary>
internal sealed class PageProgress(
    IProgress<BackupProgress> progress, BackupStep step, Func<long> storedBytes,
    long storedBytesTotal = 0) : IProgress<BackupPartProgress>
{
    public void Report(BackupPartProgress value) => progress.Report(new BackupProgress(
        value.Store == "check" ? BackupStep.Comparing : step, 0, 0, 0, storedBytes(), storedBytesTotal, null)
    { Pages = value.Done, PagesTotal = value.Total });
}
