using System.Diagnostics;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Postings;

/// <summary>
/// The largest impact of each window of the longest lists, one byte each, so that a top-k search can check upper bounds
/// before it reads several cache lines per window. A list has them while it has at least <see cref="MinEntries"/> entries.
/// Key: list id, then number of the first window of the part (a multiple of 512), 8 bytes each, big-endian. Value: the
/// largest impact of each window from the first of the part to the last with postings; 0 if a window has no postings.
/// </summary>
internal sealed class WindowImpacts(Tree tree, Tree postings)
{
    /// <summary>Two full windows; most segments of a shorter list hold many windows with few postings each.</summary>
    public const int MinEntries = 2 * PostingWindow.Size;

    private const int PartBits = 9;
    private const int PartWindows = 1 << PartBits;

    private readonly byte[] _part = new byte[PartWindows];
    private long _listId;
    private long _firstWindow = -1;

    /// <summary>
    /// Copies the impacts of a list that has them, indexed by window; windows without stored impacts are not written.
    /// </summary>
    public static void Copy(Tree tree, long listId, Span<byte> impacts)
    {
        Span<byte> key = stackalloc byte[PostingKey.Bytes];
        for (int first = 0; first < impacts.Length; first += PartWindows)
        {
            PostingKey.Write(key, listId, first);
            if (tree.TryGet(key, out ReadOnlySpan<byte> part))
                part.CopyTo(impacts[first..]);
        }
    }

    /// <summary>Sets the largest impact of a window; 0 if it has no postings left.</summary>
    public void Set(long list, long window, byte impact)
    {
        long first = window >> PartBits << PartBits;
        if (list != _listId || first != _firstWindow)
        {
            Flush();
            Load(list, first);
        }

        Debug.Assert(_firstWindow == first && _listId == list, "the window is of the loaded part");
        _part[(int)(window - first)] = impact;
    }

    /// <summary>Writes the loaded part.</summary>
    public void Flush()
    {
        if (_firstWindow < 0)
            return;
        Span<byte> key = stackalloc byte[PostingKey.Bytes];
        PostingKey.Write(key, _listId, _firstWindow);
        Debug.Assert((_firstWindow & (PartWindows - 1)) == 0, "a part begins at a multiple of its windows");
        int count = _part.AsSpan().LastIndexOfAnyExcept((byte)0) + 1;
        if (count == 0)
            tree.Delete(key);
        else
            tree.Put(key, _part.AsSpan(0, count));
        _firstWindow = -1;
    }

    /// <summary>Computes and stores the impacts of a list that has reached the minimum length.</summary>
    public void Build(long list)
    {
        Debug.Assert(_firstWindow < 0, "what was noted is written");
        Span<byte> key = stackalloc byte[PostingKey.Bytes];
        PostingKey.Write(key, list, 0);
        using Cursor cursor = postings.OpenCursor();
        for (bool more = cursor.Seek(key);
             more && cursor.IsAt(key[..sizeof(long)], out ReadOnlySpan<byte> value);
             more = cursor.MoveNext())
        {
            var segment = new PostingSegment(value);
            for (int i = 0; i < segment.Count; i++)
                Set(list, segment.WindowAt(i), segment.PostingsAt(i).LargestImpact);
        }

        Flush();
    }

    /// <summary>Removes the impacts of a list that fell below the minimum length.</summary>
    public void Delete(long list)
    {
        Debug.Assert(_firstWindow < 0, "what was noted is written");
        Span<byte> key = stackalloc byte[PostingKey.Bytes];
        PostingKey.Write(key, list, 0);
        using Cursor cursor = tree.OpenCursor();
        while (cursor.Seek(key) && cursor.IsAt(key[..sizeof(long)], out _))
            tree.Delete(cursor.Key.ToArray());
    }

    private void Load(long list, long first)
    {
        Debug.Assert(_firstWindow < 0, "the previous part is written");
        (_listId, _firstWindow) = (list, first);
        Array.Clear(_part);
        Span<byte> key = stackalloc byte[PostingKey.Bytes];
        PostingKey.Write(key, list, first);
        if (tree.TryGet(key, out ReadOnlySpan<byte> old))
            old.CopyTo(_part);
    }
}
