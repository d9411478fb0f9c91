using System.Diagnostics;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Walks the windows of one long list. Cheap when asked for ascending windows (a segment holds many), correct for any order.
/// One object per term and query; it holds one storage cursor.
/// </summary>
internal sealed class PostingCursor(Tree postings, long listId, QueryMeter? meter = null) : IDisposable
{
    /// <summary>No window.</summary>
    public const long End = long.MaxValue;

    private readonly Cursor cursor = postings.OpenCursor();
    private bool isOnSegment;
    private long firstWindow;
    private long lastWindow = -1;
    private long current = -1;
    private int index;

    /// <summary>First window of the segment that the window found last is in.</summary>
    public long SegmentFirstWindow => firstWindow;

    /// <summary>Windows of that segment.</summary>
    public int SegmentWindows { get; private set; }

    /// <summary>Place in it of the window found last.</summary>
    public int WindowIndex => index;

    /// <summary>The smallest window that is not before <paramref name="from"/> and has postings, or <see cref="End"/>.</summary>
    public long Next(long from)
    {
        Debug.Assert(from >= 0);
        if (isOnSegment && from == current)
            return current;

        if (!isOnSegment || from < firstWindow)
        {
            if (!SeekFloor(from))
                return End;
        }
        else if (from > lastWindow)
        {
            // A step first: ascending walks almost always find the window in the next segment.
            if (!Step() || (from > lastWindow && !SeekFloor(from)))
                return End;
        }

        while (from > lastWindow)
        {
            if (!Step())
                return End;
        }

        var segment = new PostingSegment(cursor.Value);
        index = segment.LowerBound(from);
        current = segment.WindowAt(index);
        return current;
    }

    /// <summary>The postings of a window; false if it has none. They live as long as the read transaction.</summary>
    public bool TryGet(long window, out PostingWindow found)
    {
        if (Next(window) != window)
        {
            found = default;
            return false;
        }

        found = new PostingSegment(cursor.Value).PostingsAt(index);
        if (meter is not null)
            meter.Count.BlocksDecoded++;
        return true;
    }

    public void Dispose() => cursor.Dispose();

    /// <summary>Goes to the last segment that begins at or before the window, else to the first of the list.</summary>
    private bool SeekFloor(long window)
    {
        Span<byte> key = stackalloc byte[PostingKey.Bytes];
        PostingKey.Write(key, listId, window);
        bool found = cursor.Seek(key);
        if (found && cursor.Key.SequenceEqual(key))
            return Enter();

        // On the first greater key, or past the end: the segment before covers the window, if it is of this list.
        if (found ? cursor.MovePrevious() : cursor.MoveLast())
        {
            if (PostingKey.IsOf(cursor.Key, listId))
                return Enter();
        }

        return cursor.Seek(key) && PostingKey.IsOf(cursor.Key, listId) ? Enter() : Leave();
    }

    private bool Step() => cursor.MoveNext() && PostingKey.IsOf(cursor.Key, listId) ? Enter() : Leave();

    private bool Enter()
    {
        var segment = new PostingSegment(cursor.Value);
        firstWindow = segment.FirstWindow;
        lastWindow = segment.LastWindow;
        SegmentWindows = segment.Count;
        current = -1;
        isOnSegment = true;
        return true;
    }

    private bool Leave()
    {
        isOnSegment = false;
        current = -1;
        return false;
    }
}
