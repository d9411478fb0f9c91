namespace Treepie.Storage.Journal;

/// <summary>
/// Keeps copies of journal files whose frames are final, for restoring to a point in time. Called in the background, one file at a time, in rising
/// order of uses; commits never wait for it.
/// </summary>
/// <remarks>
/// A file is not used again before its frames were taken. If the archiver fails it is asked again with the next file. If more than
/// <see cref="StorageOptions.MaxUnarchivedJournalFiles"/> wait, the oldest is used again nevertheless: the archive then has a gap in the numbers of uses, over which nothing
/// can be restored, and needs a new base. The file in use when an environment closes is handed over by the session after.
/// </remarks>
public interface IJournalArchiver
{
    /// <summary>The highest use that is kept durably; 0 for none. Asked once, at opening.</summary>
    long LastUse { get; }

    /// <summary>Takes one file; returns when it is kept durably. The segment may be read until then.</summary>
    void Archive(JournalSegment segment, CancellationToken cancellationToken);
}
