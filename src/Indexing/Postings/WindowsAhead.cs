using System.Numerics;
using Treepie.Indexing.Kernels;
using Treepie.Storage.Memory;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Windows of a long list that are going to be asked about, or all of them: where their postings lie is found once, and asked for
/// before the first is read, so that the waits for that memory overlap; so it is of the positions of some of their entries.
/// </summary>
/// <remarks>Memory until the query ends: 48 bytes a window.</remarks>
internal sealed class WindowsAhead : IHoldsPages, IReusable
{
    /// <summary>Most windows that are found together.</summary>
    public const int MostTogether = 256;

    private const int FirstWindows = 64, MaxKeptWindows = 4_096;

    private HeldWindow[] windows = new HeldWindow[FirstWindows];
    private PositionPlaces? blocks;
    private PositionBatch? positions;
    private long listId;
    private int count;
    private int next;
    private long known;

    /// <summary>Whether they are all windows of the list.</summary>
    public bool IsWhole { get; private set; }

    /// <summary>The windows, ascending.</summary>
    public ReadOnlySpan<HeldWindow> Windows => windows.AsSpan(0, count);

    /// <summary>Begins with a list.</summary>
    /// <param name="listId">The list.</param>
    /// <param name="blocks">The blocks of its positions.</param>
    /// <param name="positions">Reads these.</param>
    public void Open(long listId, PositionPlaces blocks, PositionBatch positions)
    {
        (this.listId, this.blocks, this.positions) = (listId, blocks, positions);
        ForgetPages();
    }

    /// <summary>Adds all windows of a segment, which is behind those added before.</summary>
    public void Add(in PostingSegment segment)
    {
        int first = count, of = segment.Count;
        count += of;
        if (count > windows.Length)
            Array.Resize(ref windows, (int)BitOperations.RoundUpToPowerOf2((uint)count));
        Span<HeldWindow> mine = windows.AsSpan(first, of);
        ReadOnlySpan<byte> payloads = segment.Payloads;
        ReadOnlySpan<uint> narrow = segment.NarrowEntries;
        int end = payloads.Length;
        for (int i = mine.Length - 1; i >= 0; i--)
        {
            // From the last on, as each ends where the one behind it begins.
            (long window, int postings, int start) = segment.EntryAt(i, narrow);
            mine[i] = new HeldWindow(window, postings, end - start, new HeldBytes(payloads[start..]), segment.FirstWindow, of, i);
            end = start;
        }
    }

    /// <summary>Adds a window, which is behind those added before.</summary>
    public void Add(in HeldWindow window)
    {
        if (count == windows.Length)
            Array.Resize(ref windows, 2 * count);
        windows[count++] = window;
    }

    /// <summary>Says that all segments were added.</summary>
    public void End() => IsWhole = true;

    /// <summary>
    /// Finds a window, which is behind those found before; it is passed over if the list has nothing in it. Asks for what tells
    /// whether some entries have the term.
    /// </summary>
    /// <param name="list">The list.</param>
    /// <param name="window">The window.</param>
    /// <param name="entries">The entries.</param>
    public void Expect(PostingCursor list, long window, ReadOnlySpan<ushort> entries)
    {
        if (IsWhole || window < known)
        {
            if (TryFind(window))
                windows[next].Prefetch(entries);
            return;
        }

        if (!list.TryHold(window, out HeldWindow held))
            return;
        Add(in held);
        held.Prefetch(entries);
    }

    /// <summary>Finds several windows, which ascend and are behind those found before.</summary>
    /// <param name="list">The list.</param>
    /// <param name="wanted">The windows.</param>
    /// <param name="isDense">Whether hardly any lie in one segment, so that it pays to look for them together.</param>
    public void Expect(PostingCursor list, ReadOnlySpan<long> wanted, bool isDense)
    {
        if (IsWhole || wanted.IsEmpty)
            return;
        known = wanted[^1] + 1;
        foreach (long window in isDense ? default : wanted)
        {
            if (list.TryHold(window, out HeldWindow held))
                Add(in held);
        }

        for (; isDense && !wanted.IsEmpty; wanted = wanted[Math.Min(MostTogether, wanted.Length)..])
            list.HoldEach(wanted[..Math.Min(MostTogether, wanted.Length)], this);
    }

    /// <summary>Asks for what tells where positions of a window lie, if it is one of these.</summary>
    public void ExpectPositions(long window)
    {
        if (!TryFind(window))
            return;
        ref readonly HeldWindow mine = ref windows[next];
        PrefetchKernels.Prefetch(mine.Rest.Span[..mine.Bytes]);
        blocks!.Prefetch(listId, mine.Segment); // Open has set them
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
            positions!.Locate(blocks!, listId, windows[next], entries); // Open has set both
        else if (list.TryHold(window, out HeldWindow held))
            positions!.Locate(blocks!, listId, held, entries);
    }

    /// <summary>As <see cref="PositionBatch.ReadMasks"/>.</summary>
    public void ReadMasks(Span<ulong> masks, Span<byte> isLong) => positions!.ReadMasks(blocks!, masks, isLong);

    public void ForgetPages()
    {
        count = next = 0;
        known = 0;
        IsWhole = false;
    }

    public void Dispose() => ForgetPages();

    public void Clear()
    {
        ForgetPages();
        (blocks, positions) = (null, null);
        if (windows.Length > MaxKeptWindows)
            windows = new HeldWindow[FirstWindows];
    }

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
