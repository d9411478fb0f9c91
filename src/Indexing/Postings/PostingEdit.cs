using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Indexing.Kernels;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Applies additions and removals to the windows of one segment. Windows that nothing touches are copied as they are.
/// The result is a row of encoded windows, cut into segments by <see cref="PackSegment"/>. Scratch, reused from term to term and from dictionary to dictionary.
/// </summary>
internal sealed class PostingEdit
{
    /// <summary>Longest segment with more than one window: four of them fill a leaf.</summary>
    public const int MaxSegmentBytes = 1_990;

    private IImpacts? impacts;
    private bool isWeighedAnew;
    private readonly byte[] largest = new byte[PostingWindow.Blocks];
    private readonly List<EncodedWindow> windows = [];
    private readonly ushort[] offsets = new ushort[PostingWindow.Size];
    private readonly int[] frequencies = new int[PostingWindow.Size];
    private byte[] payloads = new byte[16 * 1024];
    private byte[] positions = new byte[16 * 1024];
    private byte[] output = new byte[16 * 1024];
    private byte[] blockOutput = new byte[PositionKey.MaxBlockBytes];
    private int payloadBytes;
    private int positionBytes;
    private int changedPositionStart;

    /// <summary>Whether lists keep frequencies and positions.</summary>
    private bool IsPlaced => impacts is not null;

    private readonly record struct EncodedWindow(long Window, int Count, int Start, int Length, int PositionStart, int PositionLength);

    /// <summary>Windows of the result.</summary>
    public int WindowCount => windows.Count;

    /// <summary>Postings of the result.</summary>
    public long PostingCount { get; private set; }

    /// <summary>Removals that found no posting: 0 unless the index is damaged.</summary>
    public int MissedRemovals { get; private set; }

    /// <summary>First window of the result.</summary>
    public long FirstWindow => windows[0].Window;

    /// <summary>Goes to another dictionary.</summary>
    /// <param name="weights">Weighs postings of lists that keep frequencies and positions; null: neither is kept.</param>
    public void Begin(IImpacts? weights) => impacts = weights;

    /// <summary>A window of the result, and its largest impact.</summary>
    public (long Window, byte Impact) ImpactAt(int index)
    {
        EncodedWindow window = windows[index];
        return (window.Window, new PostingWindow(window.Count, payloads.AsSpan(window.Start, window.Length)).LargestImpact);
    }

    /// <summary>Runs an edit of nothing: the result is the additions.</summary>
    public void Run(PostingRun additions)
    {
        Begin();
        while (!additions.IsEmpty)
            additions = EncodeChanged(additions[0].Window, default, default, additions, default, out _);
    }

    /// <summary>
    /// Runs an edit. Additions and removals ascend; every addition is greater than every posting of the source.
    /// <paramref name="store"/> has the positions of the source loaded; null where none are kept.
    /// </summary>
    public void Run(PostingSegment source, PositionStore? store, PostingRun additions, ReadOnlySpan<long> removals)
    {
        Begin();
        for (int i = 0; i < source.Count; i++)
        {
            long window = source.WindowAt(i);
            bool adds = !additions.IsEmpty && additions[0].Window == window;
            Debug.Assert(additions.IsEmpty || additions[0].Window >= window, "entry ids only grow");
            ReadOnlySpan<byte> old = store is null ? default : store.WindowAt(i);
            if (adds || (!removals.IsEmpty && removals[0] >> PostingWindow.SizeBits <= window))
            {
                additions = EncodeChanged(window, source.PostingsAt(i), old, additions, removals, out int consumed);
                removals = removals[consumed..];
            }
            else
            {
                Copy(window, source.CountAt(i), source.PayloadAt(i), old);
            }
        }

        MissedRemovals += removals.Length;
        while (!additions.IsEmpty)
            additions = EncodeChanged(additions[0].Window, default, default, additions, default, out _);
    }

    /// <summary>
    /// Writes as many windows from <paramref name="first"/> on as one segment holds and returns it; it lives until the next
    /// call. <paramref name="first"/> is moved behind them. Several windows share a segment only if their positions share a block.
    /// </summary>
    public ReadOnlySpan<byte> PackSegment(ref int first, out long firstWindow)
    {
        firstWindow = windows[first].Window;
        int count = 0;
        int payload = 0;
        int block = 0;
        bool isNarrow = true;
        while (first + count < windows.Count)
        {
            EncodedWindow next = windows[first + count];
            bool staysNarrow = isNarrow && PostingSegment.IsNarrow(next.Window - firstWindow, next.Count);
            int total = PostingSegment.HeaderBytes + ((count + 1) * (staysNarrow ? PostingSegment.NarrowEntryBytes : PostingSegment.DirectoryEntryBytes)) + payload + next.Length;
            int blockTotal = ((count + 1) * sizeof(ushort)) + block + next.PositionLength;
            if (count > 0 && (total > MaxSegmentBytes || blockTotal > PositionKey.MaxBlockBytes || next.Window - firstWindow > uint.MaxValue))
                break;
            isNarrow = staysNarrow;
            payload += next.Length;
            block += next.PositionLength;
            count++;
        }

        int payloadStart = PostingSegment.HeaderBytes + (count * (isNarrow ? PostingSegment.NarrowEntryBytes : PostingSegment.DirectoryEntryBytes));
        Grow(ref output, payloadStart + payload);
        PostingSegment.WriteHeader(output, isNarrow, count, firstWindow);
        int position = 0;
        for (int i = 0; i < count; i++)
        {
            EncodedWindow window = windows[first + i];
            PostingSegment.WriteEntry(output, isNarrow, i, window.Window - firstWindow, window.Count, position);
            payloads.AsSpan(window.Start, window.Length).CopyTo(output.AsSpan(payloadStart + position));
            position += window.Length;
        }

        first += count;
        return output.AsSpan(0, payloadStart + position);
    }

    /// <summary>
    /// Writes the positions of a packed segment, whose windows begin at <paramref name="first"/> and end before <paramref name="end"/>. Where <paramref name="isAppended"/>, it begins with the
    /// only window of the segment that the store has loaded, to which postings were only added: what does not change is not written.
    /// </summary>
    public void StorePositions(PositionStore store, long listId, int first, int end, bool isAppended = false)
    {
        EncodedWindow window = windows[first];
        if (end - first == 1)
        {
            var postings = new PostingWindow(window.Count, payloads.AsSpan(window.Start, window.Length));
            store.PutWindow(listId, window.Window, postings, positions.AsSpan(window.PositionStart, window.PositionLength), isAppended);
            return;
        }

        int table = (end - first) * sizeof(ushort);
        int length = table;
        for (int i = first; i < end; i++)
        {
            EncodedWindow next = windows[i];
            BinaryPrimitives.WriteUInt16LittleEndian(blockOutput.AsSpan((i - first) * sizeof(ushort)), (ushort)(length - table));
            positions.AsSpan(next.PositionStart, next.PositionLength).CopyTo(blockOutput.AsSpan(length));
            length += next.PositionLength;
        }

        store.PutBlock(listId, window.Window, blockOutput.AsSpan(0, length));
    }

    private void Begin()
    {
        windows.Clear();
        payloadBytes = 0;
        positionBytes = 0;
        PostingCount = 0;
        MissedRemovals = 0;
    }

    private void Copy(long window, int count, ReadOnlySpan<byte> payload, ReadOnlySpan<byte> oldPositions)
    {
        Grow(ref payloads, payloadBytes + payload.Length);
        payload.CopyTo(payloads.AsSpan(payloadBytes));
        changedPositionStart = positionBytes;
        AddPositions(oldPositions);
        Append(window, count, payload.Length);
    }

    private void Append(long window, int count, int length)
    {
        Debug.Assert(windows.Count == 0 || windows[^1].Window < window);
        windows.Add(new EncodedWindow(window, count, payloadBytes, length, changedPositionStart, positionBytes - changedPositionStart));
        payloadBytes += length;
        PostingCount += count;
    }

    private void AddPositions(ReadOnlySpan<byte> encoded)
    {
        Grow(ref positions, positionBytes + encoded.Length);
        encoded.CopyTo(positions.AsSpan(positionBytes));
        positionBytes += encoded.Length;
    }

    /// <summary>Encodes one window with its changes; returns the additions that are left.</summary>
    private PostingRun EncodeChanged(
        long window, PostingWindow old, ReadOnlySpan<byte> oldPositions, PostingRun additions, ReadOnlySpan<long> removals, out int removalsConsumed)
    {
        changedPositionStart = positionBytes;
        Array.Clear(largest);
        int coming = 0, added = 0;
        while (coming < additions.Count && additions[coming].Window == window)
            coming++;
        isWeighedAnew = IsPlaced && old.Impacts.Length == 1 && old.Count + coming >= PostingWindow.MinBitsCount;
        int count = Retain(window, old, oldPositions, removals, out removalsConsumed);
        while (added < coming)
        {
            Debug.Assert(count == 0 || offsets[count - 1] < additions[added].Offset, "entry ids only grow");
            offsets[count] = additions[added].Offset;
            frequencies[count++] = additions[added].Frequency;
            if (impacts is not null)
            {
                AddPositions(additions.PositionsOf(added));
                Weigh(additions[added].Offset, impacts.Of(additions[added].EntryId, additions[added].Frequency));
            }

            added++;
        }

        if (count > 0)
        {
            Grow(ref payloads, payloadBytes + PostingWindow.MaxEncodedBytes(count));
            ReadOnlySpan<int> kept = IsPlaced ? frequencies.AsSpan(0, count) : default;
            Append(window, count, PostingWindow.Encode(offsets.AsSpan(0, count), kept, largest, payloads.AsSpan(payloadBytes)));
        }

        return additions.Skip(added);
    }

    /// <summary>Weighs a posting that stays: as it was, or, where all had one weight and blocks are going to have their own, anew.</summary>
    private void WeighOld(in PostingWindow old, long window, ushort offset, int frequency) =>
        Weigh(offset, isWeighedAnew ? impacts!.Of((window << PostingWindow.SizeBits) + offset, frequency) : old.ImpactAt(offset)); // it is placed

    private void Weigh(ushort offset, byte impact)
    {
        ref byte block = ref largest[offset >> PostingWindow.BlockBits];
        block = Math.Max(block, impact);
    }

    /// <summary>Decodes what stays of a window into the scratch arrays; returns how many.</summary>
    private int Retain(long window, PostingWindow old, ReadOnlySpan<byte> oldPositions, ReadOnlySpan<long> removals, out int removalsConsumed)
    {
        removalsConsumed = 0;
        if (old.Count == 0)
            return 0;

        int count = old.CopyOffsets(offsets);
        if (removals.IsEmpty || removals[0] >> PostingWindow.SizeBits > window)
        {
            RetainAll(window, old, oldPositions);
            return count;
        }

        int kept = 0;
        int takenTo = 0;
        int position = 0;
        for (int rank = 0; rank < count; rank++)
        {
            long id = (window << PostingWindow.SizeBits) + offsets[rank];
            int frequency = IsPlaced ? old.Frequency(rank) : 1;
            int positionEnd = IsPlaced ? position + VarintKernels.Skip(oldPositions[position..], frequency) : 0;
            while (removalsConsumed < removals.Length && removals[removalsConsumed] < id)
            {
                removalsConsumed++;
                MissedRemovals++;
            }

            if (removalsConsumed < removals.Length && removals[removalsConsumed] == id)
            {
                removalsConsumed++;
                if (IsPlaced)
                {
                    AddPositions(oldPositions[takenTo..position]);
                    takenTo = positionEnd;
                }
            }
            else
            {
                if (IsPlaced)
                    WeighOld(in old, window, offsets[rank], frequency);
                offsets[kept] = offsets[rank];
                frequencies[kept++] = frequency;
            }

            position = positionEnd;
        }

        if (IsPlaced)
            AddPositions(oldPositions[takenTo..]);
        return kept;
    }

    /// <summary>Takes a window whose offsets are there already, as it is.</summary>
    private void RetainAll(long window, PostingWindow old, ReadOnlySpan<byte> oldPositions)
    {
        if (IsPlaced)
            AddPositions(oldPositions);
        if (!IsPlaced)
        {
            frequencies.AsSpan(0, old.Count).Fill(1);
            return;
        }

        old.CopyFrequencies(frequencies);
        if (old.Impacts.Length > 1)
        {
            old.Impacts.CopyTo(largest);
            return;
        }

        for (int rank = 0; rank < old.Count; rank++)
            WeighOld(in old, window, offsets[rank], frequencies[rank]);
    }

    private static void Grow(ref byte[] buffer, int needed)
    {
        if (needed > buffer.Length)
            Array.Resize(ref buffer, Math.Max(needed, buffer.Length * 2));
    }
}
