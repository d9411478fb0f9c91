using Treepie.Indexing.Kernels;

namespace Treepie.Indexing.Postings;

/// <summary>Windows of a long list that are going to be asked about: where their postings lie is found for all of them at once, so that the waits for that memory overlap; so it is of the positions of some of their entries.</summary>
/// <param name="blocks">The blocks of positions.</param>
/// <param name="listId">The list.</param>
/// <param name="positions">Reads positions.</param>
internal sealed class WindowsAhead(PositionPlaces blocks, long listId, PositionBatch positions) : IHoldsPages
{
    private const int FirstWindows = 16;

    private HeldWindow[] windows = [];
    private int count;
    private int next;

    /// <summary>Finds a window, which is behind those found before, and asks for what lies there; it is passed over if the list has nothing in it.</summary>
    /// <param name="list">The list.</param>
    /// <param name="window">The window.</param>
    /// <param name="isOneOfMany">Whether most windows that follow are going to be looked for, too.</param>
    public void Expect(PostingCursor list, long window, bool isOneOfMany)
    {
        if (count == windows.Length)
            Array.Resize(ref windows, Math.Max(FirstWindows, 2 * count));
        if (!list.TryHold(window, out windows[count]))
            return;
        if (isOneOfMany)
            list.PrefetchNext();
        PrefetchKernels.Prefetch(windows[count].Payload.Span);
        blocks.Prefetch(listId, windows[count].Segment);
        count++;
    }

    /// <summary>The postings of a window, if it is one of these.</summary>
    public bool TryGet(long window, out PostingWindow found)
    {
        bool isThere = TryFind(window);
        found = isThere ? windows[next].Postings : default;
        return isThere;
    }

    /// <summary>Where the postings of a window lie, if it is one of these.</summary>
    public bool TryHold(long window, out HeldWindow held)
    {
        bool isThere = TryFind(window);
        held = isThere ? windows[next] : default;
        return isThere;
    }

    /// <summary>As <see cref="PositionBatch.Locate"/>.</summary>
    public void Locate(PostingCursor list, long window, ReadOnlySpan<ushort> entries)
    {
        if (TryFind(window))
            positions.Locate(blocks, listId, windows[next], entries);
        else if (list.TryHold(window, out HeldWindow held))
            positions.Locate(blocks, listId, held, entries);
    }

    /// <summary>As <see cref="PositionBatch.ReadMasks"/>.</summary>
    public void ReadMasks(Span<ulong> masks, Span<byte> isLong) => positions.ReadMasks(blocks, masks, isLong);

    public void ForgetPages() => count = next = 0;

    public void Dispose() => ForgetPages();

    /// <summary>Goes to a window: mostly it is the one it stands on, or the next.</summary>
    private bool TryFind(long window)
    {
        if (count == 0 || window < windows[0].Window || window > windows[count - 1].Window)
            return false;
        while (windows[next].Window > window)
            next--;
        while (windows[next].Window < window)
            next++;
        return windows[next].Window == window;
    }
}
