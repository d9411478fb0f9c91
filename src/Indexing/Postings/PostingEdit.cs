using System.Diagnostics;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Applies additions and removals to the windows of one segment. Windows that nothing touches are copied as they are.
/// The result is a row of encoded windows, cut into segments by <see cref="PackSegment"/>. Scratch, reused from term to term.
/// </summary>
internal sealed class PostingEdit(bool keepsFrequencies)
{
    /// <summary>Longest segment with more than one window: below the 2 KiB up to which storage keeps a value in its leaf.</summary>
    public const int MaxSegmentBytes = 1_900;

    private readonly List<EncodedWindow> windows = [];
    private readonly ushort[] offsets = new ushort[PostingWindow.Size];
    private readonly int[] frequencies = new int[PostingWindow.Size];
    private byte[] payloads = new byte[16 * 1024];
    private byte[] output = new byte[16 * 1024];
    private int payloadBytes;

    private readonly record struct EncodedWindow(long Window, int Count, int Start, int Length);

    /// <summary>Windows of the result.</summary>
    public int WindowCount => windows.Count;

    /// <summary>Postings of the result.</summary>
    public long PostingCount { get; private set; }

    /// <summary>Removals that found no posting: 0 unless the index is damaged.</summary>
    public int MissedRemovals { get; private set; }

    /// <summary>First window of the result.</summary>
    public long FirstWindow => windows[0].Window;

    /// <summary>Runs an edit of nothing: the result is the additions.</summary>
    public void Run(ReadOnlySpan<Posting> additions)
    {
        Begin();
        while (!additions.IsEmpty)
            additions = EncodeChanged(additions[0].Window, default, additions, default, out _);
    }

    /// <summary>Runs an edit. Additions and removals ascend; every addition is greater than every posting of the source.</summary>
    public void Run(PostingSegment source, ReadOnlySpan<Posting> additions, ReadOnlySpan<long> removals)
    {
        Begin();
        for (int i = 0; i < source.Count; i++)
        {
            long window = source.WindowAt(i);
            bool adds = !additions.IsEmpty && additions[0].Window == window;
            Debug.Assert(additions.IsEmpty || additions[0].Window >= window, "entry ids only grow");
            if (adds || (!removals.IsEmpty && removals[0] >> PostingWindow.SizeBits <= window))
            {
                additions = EncodeChanged(window, source.PostingsAt(i), additions, removals, out int consumed);
                removals = removals[consumed..];
            }
            else
            {
                Copy(window, source.CountAt(i), source.PayloadAt(i));
            }
        }

        MissedRemovals += removals.Length;
        while (!additions.IsEmpty)
            additions = EncodeChanged(additions[0].Window, default, additions, default, out _);
    }

    /// <summary>
    /// Writes as many windows from <paramref name="first"/> on as one segment holds and returns it; it lives until the next
    /// call. <paramref name="first"/> is moved behind them.
    /// </summary>
    public ReadOnlySpan<byte> PackSegment(ref int first, out long firstWindow)
    {
        firstWindow = windows[first].Window;
        int count = 0;
        int payload = 0;
        while (first + count < windows.Count)
        {
            EncodedWindow next = windows[first + count];
            int total = PostingSegment.HeaderBytes + ((count + 1) * PostingSegment.DirectoryEntryBytes) + payload + next.Length;
            if (count > 0 && (total > MaxSegmentBytes || next.Window - firstWindow > uint.MaxValue))
                break;
            payload += next.Length;
            count++;
        }

        int payloadStart = PostingSegment.HeaderBytes + (count * PostingSegment.DirectoryEntryBytes);
        Grow(ref output, payloadStart + payload);
        PostingSegment.WriteHeader(output, count, firstWindow);
        int position = 0;
        for (int i = 0; i < count; i++)
        {
            EncodedWindow window = windows[first + i];
            PostingSegment.WriteEntry(output, i, window.Window - firstWindow, window.Count, position);
            payloads.AsSpan(window.Start, window.Length).CopyTo(output.AsSpan(payloadStart + position));
            position += window.Length;
        }

        first += count;
        return output.AsSpan(0, payloadStart + position);
    }

    /// <summary>The only posting of a result of one.</summary>
    public Posting Single()
    {
        Debug.Assert(PostingCount == 1);
        EncodedWindow only = windows[0];
        var window = new PostingWindow(1, payloads.AsSpan(only.Start, only.Length));
        return new Posting((only.Window << PostingWindow.SizeBits) + window.Offsets[0], window.Frequency(0));
    }

    private void Begin()
    {
        windows.Clear();
        payloadBytes = 0;
        PostingCount = 0;
        MissedRemovals = 0;
    }

    private void Copy(long window, int count, ReadOnlySpan<byte> payload)
    {
        Grow(ref payloads, payloadBytes + payload.Length);
        payload.CopyTo(payloads.AsSpan(payloadBytes));
        Append(window, count, payload.Length);
    }

    private void Append(long window, int count, int length)
    {
        Debug.Assert(windows.Count == 0 || windows[^1].Window < window);
        windows.Add(new EncodedWindow(window, count, payloadBytes, length));
        payloadBytes += length;
        PostingCount += count;
    }

    /// <summary>Encodes one window with its changes; returns the additions that are left.</summary>
    private ReadOnlySpan<Posting> EncodeChanged(
        long window, PostingWindow old, ReadOnlySpan<Posting> additions, ReadOnlySpan<long> removals, out int removalsConsumed)
    {
        int count = Retain(window, old, removals, out removalsConsumed);
        int added = 0;
        while (added < additions.Length && additions[added].Window == window)
        {
            Debug.Assert(count == 0 || offsets[count - 1] < additions[added].Offset, "entry ids only grow");
            offsets[count] = additions[added].Offset;
            frequencies[count++] = additions[added].Frequency;
            added++;
        }

        if (count > 0)
        {
            Grow(ref payloads, payloadBytes + PostingWindow.MaxEncodedBytes(count));
            ReadOnlySpan<int> kept = keepsFrequencies ? frequencies.AsSpan(0, count) : default;
            Append(window, count, PostingWindow.Encode(offsets.AsSpan(0, count), kept, payloads.AsSpan(payloadBytes)));
        }

        return additions[added..];
    }

    /// <summary>Decodes what stays of a window into the scratch arrays; returns how many.</summary>
    private int Retain(long window, PostingWindow old, ReadOnlySpan<long> removals, out int removalsConsumed)
    {
        removalsConsumed = 0;
        if (old.Count == 0)
            return 0;

        int count = old.CopyOffsets(offsets);
        int kept = 0;
        for (int rank = 0; rank < count; rank++)
        {
            long id = (window << PostingWindow.SizeBits) + offsets[rank];
            while (removalsConsumed < removals.Length && removals[removalsConsumed] < id)
            {
                removalsConsumed++;
                MissedRemovals++;
            }

            if (removalsConsumed < removals.Length && removals[removalsConsumed] == id)
            {
                removalsConsumed++;
                continue;
            }

            offsets[kept] = offsets[rank];
            frequencies[kept++] = keepsFrequencies ? old.Frequency(rank) : 1;
        }

        return kept;
    }

    private static void Grow(ref byte[] buffer, int needed)
    {
        if (needed > buffer.Length)
            Array.Resize(ref buffer, Math.Max(needed, buffer.Length * 2));
    }
}
