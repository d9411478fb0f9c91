namespace Treepie.Indexes;

/// <summary>A piece of the log of changes that one thread maps.</summary>
/// <param name="AfterEtag">It begins behind this etag.</param>
/// <param name="LastEtag">Its last change.</param>
internal readonly record struct ChangeRange(long AfterEtag, long LastEtag);

/// <summary>
/// Says where pieces of the log end: after so many changes or bytes of documents. Batches end only there, so where they end
/// follows from the documents, not from who maps them.
/// </summary>
internal struct RangeCut
{
    /// <summary>Most changes of a piece: some milliseconds of work.</summary>
    public const int MaxChanges = 128;

    /// <summary>Bytes of documents after which it ends.</summary>
    public const int MaxBytes = 256 * 1024;

    private int _changes;
    private long _bytes;

    /// <summary>Takes the change that a feed stands on; true if it is the last of its piece.</summary>
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
