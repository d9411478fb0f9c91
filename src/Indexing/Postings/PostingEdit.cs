using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Indexing.Kernels;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Applies additions and removals to the windows of one segment; unchanged windows are copied. The result is a sequence of
/// encoded windows, which <see cref="PackSegment"/> packs into segments. Reusable for one term and dictionary after another.
/// Invariants:
/// 1. Windows of the result ascend, and none is empty.
/// 2. Added ids are greater than all ids of the list.
/// 3. Offsets of a window ascend.
/// 4. Payloads and positions of the result are contiguous, in the order of windows.
/// </summary>
internal sealed class PostingEdit
{
    /// <summary>Longest segment with more than one window: a leaf holds four.</summary>
    public const int MaxSegmentBytes = 1_990;

    private IImpacts? _impacts;
    private bool _isWeighedAnew;
    private readonly byte[] _largest = new byte[PostingWindow.Blocks];
    private readonly List<EncodedWindow> _windows = [];
    private readonly ushort[] _offsets = new ushort[PostingWindow.Size];
    private readonly int[] _frequencies = new int[PostingWindow.Size];
    private byte[] _payloads = new byte[16 * 1024];
    private byte[] _positions = new byte[16 * 1024];
    private byte[] _output = new byte[16 * 1024];
    private byte[] _blockOutput = new byte[PositionKey.MaxBlockBytes];
    private int _payloadBytes;
    private int _positionBytes;
    private int _changedPositionStart;

    /// <summary>Whether lists have frequencies and positions.</summary>
    private bool IsPlaced => _impacts is not null;

    private readonly record struct EncodedWindow(
        long Window, int Count, int Start, int Length, int PositionStart, int PositionLength);

    /// <summary>Number of windows of the result.</summary>
    public int WindowCount => _windows.Count;

    /// <summary>Number of postings of the result.</summary>
    public long PostingCount { get; private set; }

    /// <summary>Removals that found no posting: 0 unless the index is damaged.</summary>
    public int MissedRemovals { get; private set; }

    /// <summary>First window of the result.</summary>
    public long FirstWindow => _windows[0].Window;

    /// <summary>Switches to another dictionary.</summary>
    /// <param name="weights">Weighs postings of lists with frequencies and positions; null if lists have neither.</param>
    public void Begin(IImpacts? weights) => _impacts = weights;

    /// <summary>Returns a window of the result and its largest impact.</summary>
    public (long Window, byte Impact) ImpactAt(int index)
    {
        EncodedWindow window = _windows[index];
        return (window.Window, new PostingWindow(window.Count, _payloads.AsSpan(window.Start, window.Length)).LargestImpact);
    }

    /// <summary>Edits an empty list: the result consists of the additions.</summary>
    public void Run(PostingRun additions)
    {
        Begin();
        while (!additions.IsEmpty)
            additions = EncodeChanged(additions[0].Window, default, default, additions, default, out _);
    }

    /// <summary>
    /// Edits a segment. Additions and removals ascend; every addition is greater than every posting of the source.
    /// <paramref name="store"/> must have loaded the positions of the source; null if the list has none.
    /// </summary>
    public void Run(PostingSegment source, PositionStore? store, PostingRun additions, ReadOnlySpan<long> removals)
    {
        Begin();
        for (int i = 0; i < source.Count; i++)
        {
            long window = source.WindowAt(i);
            bool adds = !additions.IsEmpty && additions[0].Window == window;
            Debug.Assert(additions.IsEmpty || additions[0].Window >= window, "2: added ids are greater than all others");
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
    /// Appends to a segment. The result consists of the changed last window and the windows after it. Earlier windows are
    /// not read, but returned as the start of the segment, for <see cref="PackSegment"/> and <see cref="StorePositions"/>.
    /// </summary>
    /// <param name="source">A segment of several windows.</param>
    /// <param name="block">Its positions; empty if lists have none.</param>
    /// <param name="additions">Postings, greater than all of the source.</param>
    public SegmentStart RunBehind(PostingSegment source, PositionBlock block, PostingRun additions)
    {
        Debug.Assert(source.Count > 1, "only a segment of several windows is extended without its start");
        Debug.Assert(!additions.IsEmpty, "an append has additions");
        Begin();
        int count = source.Count;
        if (additions[0].Window == source.LastWindow)
        {
            count--;
            additions = EncodeChanged(
                source.LastWindow, source.PostingsAt(count), block.PositionsAt(count), additions, default, out _);
        }

        while (!additions.IsEmpty)
            additions = EncodeChanged(additions[0].Window, default, default, additions, default, out _);
        return new SegmentStart(source, block, count);
    }

    /// <summary>
    /// Packs as many windows from <paramref name="first"/> on as fit into one segment, moves <paramref name="first"/> past
    /// them, and returns the segment, which is valid until the next call. Several windows share a segment only if their
    /// positions share a block.
    /// </summary>
    /// <param name="start">Windows at the start of the segment, before those of the result.</param>
    /// <param name="first">Index of the first window.</param>
    /// <param name="firstWindow">The first window of the segment.</param>
    public ReadOnlySpan<byte> PackSegment(SegmentStart start, ref int first, out long firstWindow)
    {
        Debug.Assert((uint)first < (uint)_windows.Count, "a window is left to be packed");
        Debug.Assert(start.Count == 0 || first == 0, "1: a start is before all windows of the result");
        firstWindow = start.Count > 0 ? start.FirstWindow : _windows[first].Window;
        int count = start.Count;
        int payload = start.Payloads.Length;
        int block = start.Positions.Length;
        bool isNarrow = start.IsNarrow;
        int end = first;
        for (; end < _windows.Count; end++, count++)
        {
            EncodedWindow next = _windows[end];
            bool staysNarrow = isNarrow && PostingSegment.IsNarrow(next.Window - firstWindow, next.Count);
            int total = PostingSegment.PayloadStart(staysNarrow, count + 1) + payload + next.Length;
            int blockTotal = ((count + 1) * sizeof(ushort)) + block + next.PositionLength;
            if (count > 0
                && (total > MaxSegmentBytes
                    || blockTotal > PositionKey.MaxBlockBytes
                    || next.Window - firstWindow > uint.MaxValue))
                break;
            isNarrow = staysNarrow;
            payload += next.Length;
            block += next.PositionLength;
        }

        Debug.Assert(end > first || start.Count > 0, "a segment has windows");
        int payloadStart = PostingSegment.PayloadStart(isNarrow, count);
        Grow(ref _output, payloadStart + payload);
        PostingSegment.WriteHeader(_output, isNarrow, count, firstWindow);
        start.WriteEntries(_output, isNarrow);
        start.Payloads.CopyTo(_output.AsSpan(payloadStart));
        int position = start.Payloads.Length;
        for (int i = start.Count; first < end; first++, i++)
        {
            EncodedWindow window = _windows[first];
            PostingSegment.WriteEntry(_output, isNarrow, i, window.Window - firstWindow, window.Count, position);
            _payloads.AsSpan(window.Start, window.Length).CopyTo(_output.AsSpan(payloadStart + position));
            position += window.Length;
        }

        Debug.Assert(position == payload, "4: payloads of a segment are contiguous");
        return _output.AsSpan(0, payloadStart + position);
    }

    /// <summary>Writes the positions of a packed segment.</summary>
    /// <param name="store">The store to write to.</param>
    /// <param name="listId">The list.</param>
    /// <param name="start">The windows at the start of the segment.</param>
    /// <param name="first">Index of the first of the other windows.</param>
    /// <param name="end">Index after the last of them.</param>
    /// <param name="isAppended">Whether the only window of the segment is that of the segment loaded by the store, with
    /// postings only added to it. Unchanged blocks are then not rewritten.</param>
    public void StorePositions(PositionStore store, long listId, SegmentStart start, int first, int end, bool isAppended)
    {
        Debug.Assert(IsPlaced, "only lists with positions store them");
        Debug.Assert(first <= end && end <= _windows.Count, "the windows are of the result");
        Debug.Assert(start.Count + end - first > 0, "a segment has windows");
        Debug.Assert(!isAppended || start.Count == 0, "appended blocks belong to the only window of a segment");
        int count = start.Count + end - first;
        if (count == 1)
        {
            if (start.Count == 1)
            {
                store.PutWindow(listId, start.FirstWindow, start.FirstPostings, start.Positions);
                return;
            }

            EncodedWindow only = _windows[first];
            var postings = new PostingWindow(only.Count, _payloads.AsSpan(only.Start, only.Length));
            store.PutWindow(
                listId, only.Window, postings, _positions.AsSpan(only.PositionStart, only.PositionLength), isAppended);
            return;
        }

        int table = count * sizeof(ushort);
        start.PositionStarts.CopyTo(_blockOutput);
        start.Positions.CopyTo(_blockOutput.AsSpan(table));
        int length = table + start.Positions.Length;
        for (int i = first, place = start.PositionStarts.Length; i < end; i++, place += sizeof(ushort))
        {
            EncodedWindow next = _windows[i];
            BinaryPrimitives.WriteUInt16LittleEndian(_blockOutput.AsSpan(place), (ushort)(length - table));
            _positions.AsSpan(next.PositionStart, next.PositionLength).CopyTo(_blockOutput.AsSpan(length));
            length += next.PositionLength;
        }

        store.PutBlock(listId, start.Count > 0 ? start.FirstWindow : _windows[first].Window, _blockOutput.AsSpan(0, length));
    }

    private void Begin()
    {
        _windows.Clear();
        _payloadBytes = 0;
        _positionBytes = 0;
        PostingCount = 0;
        MissedRemovals = 0;
    }

    private void Copy(long window, int count, ReadOnlySpan<byte> payload, ReadOnlySpan<byte> oldPositions)
    {
        Grow(ref _payloads, _payloadBytes + payload.Length);
        payload.CopyTo(_payloads.AsSpan(_payloadBytes));
        _changedPositionStart = _positionBytes;
        AddPositions(oldPositions);
        Append(window, count, payload.Length);
    }

    private void Append(long window, int count, int length)
    {
        Debug.Assert(_windows.Count == 0 || _windows[^1].Window < window, "1: windows ascend");
        Debug.Assert(count is > 0 and <= PostingWindow.Size, "1: no window is empty");
        Debug.Assert(_changedPositionStart <= _positionBytes, "4: positions are in the order of windows");
        Debug.Assert(
            _windows.Count == 0 || _windows[^1].PositionStart + _windows[^1].PositionLength <= _changedPositionStart,
            "4: the positions of windows do not overlap");
        Debug.Assert(
            _windows.Count == 0 || _windows[^1].Start + _windows[^1].Length == _payloadBytes, "4: payloads are contiguous");
        _windows.Add(
            new EncodedWindow(
                window, count, _payloadBytes, length, _changedPositionStart, _positionBytes - _changedPositionStart));
        _payloadBytes += length;
        PostingCount += count;
    }

    private void AddPositions(ReadOnlySpan<byte> encoded)
    {
        Grow(ref _positions, _positionBytes + encoded.Length);
        encoded.CopyTo(_positions.AsSpan(_positionBytes));
        _positionBytes += encoded.Length;
    }

    /// <summary>Encodes one window with its changes; returns the additions that follow it.</summary>
    private PostingRun EncodeChanged(
        long window, PostingWindow old, ReadOnlySpan<byte> oldPositions, PostingRun additions, ReadOnlySpan<long> removals,
        out int removalsConsumed)
    {
        Debug.Assert(removals.IsEmpty || old.Count > 0, "postings are removed from a window that has some");
        _changedPositionStart = _positionBytes;
        Array.Clear(_largest);
        int coming = 0, added = 0;
        while (coming < additions.Count && additions[coming].Window == window)
            coming++;
        _isWeighedAnew = IsPlaced && old.Impacts.Length == 1 && old.Count + coming >= PostingWindow.MinBitsCount;
        int count = Retain(window, old, oldPositions, removals, out removalsConsumed);
        while (added < coming)
        {
            Debug.Assert(count == 0 || _offsets[count - 1] < additions[added].Offset, "3: offsets ascend");
            _offsets[count] = additions[added].Offset;
            _frequencies[count++] = additions[added].Frequency;
            if (_impacts is not null)
            {
                AddPositions(additions.PositionsOf(added));
                Weigh(additions[added].Offset, _impacts.Of(additions[added].EntryId, additions[added].Frequency));
            }

            added++;
        }

        if (count > 0)
        {
            Grow(ref _payloads, _payloadBytes + PostingWindow.MaxEncodedBytes(count));
            ReadOnlySpan<int> kept = IsPlaced ? _frequencies.AsSpan(0, count) : default;
            Append(
                window, count, PostingWindow.Encode(_offsets.AsSpan(0, count), kept, _largest, _payloads.AsSpan(_payloadBytes)));
        }

        return additions.Skip(added);
    }

    /// <summary>
    /// Adds the impact of a kept posting: the old impact, or a new one if the window had a single impact and now gets one
    /// per block.
    /// </summary>
    private void WeighOld(in PostingWindow old, long window, ushort offset, int frequency) =>
        Weigh(
            offset, _isWeighedAnew ? _impacts!.Of((window << PostingWindow.SizeBits) + offset, frequency) : old.ImpactAt(offset));

    private void Weigh(ushort offset, byte impact)
    {
        ref byte block = ref _largest[offset >> PostingWindow.BlockBits];
        block = Math.Max(block, impact);
    }

    /// <summary>Decodes those postings of a window that are kept into the scratch arrays; returns their number.</summary>
    private int Retain(
        long window, PostingWindow old, ReadOnlySpan<byte> oldPositions, ReadOnlySpan<long> removals, out int removalsConsumed)
    {
        removalsConsumed = 0;
        if (old.Count == 0)
            return 0;

        int count = old.CopyOffsets(_offsets);
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
            long id = (window << PostingWindow.SizeBits) + _offsets[rank];
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
                    WeighOld(in old, window, _offsets[rank], frequency);
                _offsets[kept] = _offsets[rank];
                _frequencies[kept++] = frequency;
            }

            position = positionEnd;
        }

        if (IsPlaced)
            AddPositions(oldPositions[takenTo..]);
        return kept;
    }

    /// <summary>Keeps all postings of a window whose offsets are already decoded.</summary>
    private void RetainAll(long window, PostingWindow old, ReadOnlySpan<byte> oldPositions)
    {
        if (IsPlaced)
            AddPositions(oldPositions);
        if (!IsPlaced)
        {
            _frequencies.AsSpan(0, old.Count).Fill(1);
            return;
        }

        old.CopyFrequencies(_frequencies);
        if (old.Impacts.Length > 1)
        {
            old.Impacts.CopyTo(_largest);
            return;
        }

        for (int rank = 0; rank < old.Count; rank++)
            WeighOld(in old, window, _offsets[rank], _frequencies[rank]);
    }

    private static void Grow(ref byte[] buffer, int needed)
    {
        if (needed > buffer.Length)
            Array.Resize(ref buffer, Math.Max(needed, buffer.Length * 2));
    }
}
