namespace Treepie.Indexes;

/// <summary>A range of the change log that is mapped by one thread.</summary>
/// <param name="AfterEtag">The etag after which the range starts.</param>
/// <param name="LastEtag">The etag of its last change.</param>
internal readonly record struct ChangeRange(long AfterEtag, long LastEtag);

/// <summary>
/// Determines where ranges of the log end: after a maximum of changes or bytes of documents. Batches end only at the end of
/// a range, so their ends depend on the documents only, not on the threads that map them.
/// </summary>
internal struct RangeCut
{
    /// <summary>The maximum number of changes in a range: a few milliseconds of work.</summary>
    public const int MaxChanges = 128;

    /// <summary>The number of bytes of documents after which a range ends.</summary>
    public const int MaxBytes = 256 * 1024;

    private int _changes;
    private long _bytes;

    /// <summary>Adds the current change of a feed; returns true if it is the last of its range.</summary>
    public bool Takes(MappedChanges feed)
    {
        _changes++;
        _bytes += feed.IsTombstone || feed.IsBeside ? 0 : feed.Document.ContentBytes; // a segment is small
        if (_changes < MaxChanges && _bytes < MaxBytes)
            return false;
        this = default;
        return true;
    }
}
