using System.Numerics;
using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;
using Treepie.Storage.Memory;

namespace Treepie.Indexing.Matching.Lists;

/// <summary>
/// All windows of one list of few entries a window, side by side: what several lists are merged by, without a step of a cursor or a call for each of them. Offsets are copied, for who
/// unites lists, or looked at where they lie; frequencies stay there until they are asked for.
/// </summary>
/// <remarks>Memory until the query ends: 2 bytes an entry whose offset is copied, 40 bytes a window that has any.</remarks>
internal sealed class UnrolledList : IReusable
{
    /// <summary>So many offsets behind the last one are there to be read, whatever they are.</summary>
    public const int Padding = 32;

    private const int MaxKeptPlaces = 4_096;

    private Place[] places = new Place[64];
    private ushort[] offsets = [];
    private Posting[]? postings;
    private int used;
    private bool copies;

    /// <summary>Windows that have entries.</summary>
    public int Count { get; private set; }

    public void Clear()
    {
        if (places.Length > MaxKeptPlaces)
            places = new Place[64];
        (Count, used, copies, offsets, postings) = (0, 0, false, [], null);
    }

    /// <summary>Begins a list of so many entries.</summary>
    /// <param name="context">The query.</param>
    /// <param name="entries">How many.</param>
    /// <param name="copied">Whether offsets are copied, so that all windows lie the same way; otherwise they are looked at where they lie. Those of a short list always are.</param>
    public void Begin(QueryContext context, long entries, bool copied)
    {
        copies = copied;
        if (copied)
            offsets = context.RentOffsets(checked((int)entries + Padding));
    }

    /// <summary>Adds the windows of a long list, all of them.</summary>
    /// <param name="list">The list.</param>
    /// <param name="meter">Counts them.</param>
    /// <param name="context">Is asked whether the query may go on; null: nobody is.</param>
    public void Add(PostingCursor list, QueryMeter meter, QueryContext? context)
    {
        foreach (PostingSegment segment in list.Segments())
        {
            context?.Check();
            ReadOnlySpan<byte> payloads = segment.Payloads;
            meter.Count.BytesDecoded += payloads.Length;
            if (copies || segment.Count > 1)
            {
                Add(in segment);
                continue;
            }

            // So it is in lists of many entries.
            ref Place only = ref Next();
            (only.Window, only.Count, only.Rest, only.Bytes) = (segment.FirstWindow, segment.CountAt(0), new HeldBytes(payloads), payloads.Length);
            Count++;
        }

        Next().Window = Operator.End; // behind the last window there is none
    }

    private void Add(in PostingSegment segment)
    {
        int first = Count;
        Count += segment.Count;
        if (Count >= places.Length)
            Array.Resize(ref places, (int)BitOperations.RoundUpToPowerOf2((uint)Count + 1));
        Span<Place> mine = places.AsSpan(first, segment.Count);
        ReadOnlySpan<byte> payloads = segment.Payloads;
        ReadOnlySpan<uint> narrow = segment.NarrowEntries;
        int end = payloads.Length;
        for (int i = mine.Length - 1; i >= 0; i--)
        {
            // From the last on, as each ends where the one behind it begins.
            (long window, int count, int start) = segment.EntryAt(i, narrow);
            ref Place place = ref mine[i];
            (place.Window, place.Count, place.Rest, place.Bytes) = (window, count, new HeldBytes(payloads[start..]), end - start);
            end = start;
        }

        foreach (ref Place place in copies ? mine : default)
            Copy(ref place);
    }

    private void Copy(ref Place place)
    {
        int count = place.Count;
        ReadOnlySpan<byte> payload = place.Payload;
        place.Start = used;
        Span<ushort> room = offsets.AsSpan(used);
        used += count;
        if (count < PostingWindow.MinBitsCount)
        {
            int bytes = PostingWindow.IdBytes(count);
            MemoryMarshal.Cast<byte, ushort>(payload[..bytes]).CopyTo(room);
            place.Impact = payload.Length > bytes ? payload[bytes] : (byte)0;
        }
        else
        {
            var found = new PostingWindow(count, payload);
            found.CopyOffsets(room);
            place.Impact = found.Impacts.IsEmpty ? (byte)0 : found.LargestImpact;
        }
    }

    /// <summary>Adds all entries of a short list, decoded, which live until the query ends.</summary>
    public void Add(Posting[] all, int count)
    {
        postings = all;
        for (int i = 0; i < count; i++)
        {
            long window = all[i].Window;
            if (Count == 0 || places[Count - 1].Window != window)
            {
                ref Place place = ref Next();
                (place.Window, place.Start, place.Count, place.Rest, place.Bytes, place.Impact) = (window, i, 0, default, 0, byte.MaxValue);
                Count++;
            }

            offsets[i] = all[i].Offset;
            places[Count - 1].Count++;
        }

        Next().Window = Operator.End; // as in a long list
    }

    /// <summary>The window at a place; <see cref="Operator.End"/> behind the last.</summary>
    public long WindowAt(int place) => places[place].Window;

    /// <summary>Entries of the window at a place.</summary>
    public int CountAt(int place) => places[place].Count;

    /// <summary>Their offsets, ascending, of a list whose offsets are copied.</summary>
    public ReadOnlySpan<ushort> OffsetsAt(int place) => offsets.AsSpan(places[place].Start, places[place].Count);

    /// <summary>Where their offsets are among <see cref="AllOffsets"/>.</summary>
    public int StartAt(int place) => places[place].Start;

    /// <summary>The offsets of all windows, where they are copied.</summary>
    public ReadOnlySpan<ushort> AllOffsets => offsets.AsSpan(0, Count == 0 ? 0 : places[Count - 1].Start + places[Count - 1].Count);

    /// <summary>Their offsets, and behind them <see cref="Padding"/> that mean nothing.</summary>
    public ReadOnlySpan<ushort> PaddedAt(int place) => offsets.AsSpan(places[place].Start, places[place].Count + Padding);

    /// <summary>Their offsets where they lie side by side, copied or not, and behind them what may be read and means nothing; empty where they lie as bits.</summary>
    public ReadOnlySpan<ushort> ListAt(int place)
    {
        ref readonly Place at = ref places[place];
        if (postings is not null || copies)
            return PaddedAt(place);
        return at.Count < PostingWindow.MinBitsCount ? MemoryMarshal.Cast<byte, ushort>(at.Rest.Span) : default;
    }

    /// <summary>The window of a long list at a place.</summary>
    public PostingWindow PostingsAt(int place) => new(places[place].Count, places[place].Payload);

    /// <summary>Asks for the ids of the window some places behind one, which is looked at soon.</summary>
    public void Announce(int place)
    {
        const int Ahead = 2;
        if (place + Ahead < Count)
            AnnounceIds(place + Ahead);
    }

    /// <summary>Asks for the ids of the window at a place.</summary>
    public void AnnounceIds(int place)
    {
        ReadOnlySpan<byte> payload = places[place].Payload;
        PrefetchKernels.Prefetch(payload[..Math.Min(payload.Length, BitmapKernels.Bytes)]);
    }

    /// <summary>Asks for what is known of the blocks of the window some places behind one, which is looked at soon, and for its ids.</summary>
    public void AnnounceBlocks(int place, bool withIds)
    {
        const int Ahead = 3;
        if (place + Ahead >= Count)
            return;
        ref readonly Place soon = ref places[place + Ahead];
        int ids = PostingWindow.IdBytes(soon.Count), end = Math.Min(soon.Bytes, ids + PostingWindow.ImpactBytes(soon.Count));
        PrefetchKernels.Prefetch(soon.Payload[(withIds ? 0 : Math.Min(ids, end))..end]);
    }

    /// <summary>Asks for what the frequency of an entry of the window at a place is found by, of a list that is not copied.</summary>
    public void AnnounceFrequencies(int place)
    {
        const int LineBytes = 64;
        ref readonly Place at = ref places[place];
        PrefetchKernels.Prefetch(at.Rest.Span[..Math.Min(at.Bytes, PostingWindow.IdBytes(at.Count) + PostingWindow.ImpactBytes(at.Count) + LineBytes)]);
    }

    /// <summary>Asks for the lengths of the texts that the window at a place has, of a list whose offsets are copied, where they lie in the same chunk as those looked at last.</summary>
    public void AnnounceLengths(int place, TermScorer? scorer)
    {
        if (place < Count)
            scorer?.Factors.PrefetchNear(places[place].Window, OffsetsAt(place));
    }

    /// <summary>Asks for what entries of the window at a place are going to be looked for in, and what is known of its blocks: of a bitmap the lines in which they are, of a list all of it.</summary>
    public void Announce(int place, ReadOnlySpan<ushort> entries)
    {
        ref readonly Place at = ref places[place];
        ReadOnlySpan<byte> payload = at.Payload;
        if (at.Count is >= PostingWindow.MinBitsCount and < PostingWindow.Size)
        {
            PrefetchKernels.PrefetchBits(payload, entries);
            PrefetchKernels.Prefetch(payload[BitmapKernels.Bytes..Math.Min(payload.Length, BitmapKernels.Bytes + PostingWindow.Blocks)]);
        }
        else
        {
            PrefetchKernels.Prefetch(payload[..PostingWindow.IdBytes(at.Count)]);
        }
    }

    /// <summary>The first place from one on whose window is not before a window, which is near.</summary>
    public int Step(int place, long window)
    {
        while (places[place].Window < window)
            place++;
        return place;
    }

    /// <summary>The first place whose window is not before a window.</summary>
    public int Seek(long window)
    {
        int low = 0, high = Count;
        while (low < high)
        {
            int middle = (low + high) >>> 1;
            if (places[middle].Window < window)
                low = middle + 1;
            else
                high = middle;
        }

        return low;
    }

    /// <summary>As <see cref="Seek"/>, for who asks in no order: where no window is missing, its number is its place.</summary>
    public int PlaceOf(long window) => window < Count && places[window].Window == window ? (int)window : Seek(window);

    /// <summary>Whether an entry is in a long list, asked in no order.</summary>
    public bool Contains(long id)
    {
        long window = id >> PostingWindow.SizeBits;
        int place = PlaceOf(window);
        return places[place].Window == window && PostingsAt(place).Contains((int)(id & (PostingWindow.Size - 1)));
    }

    /// <summary>The most that an entry of the window at a place can score.</summary>
    /// <param name="place">The place.</param>
    /// <param name="unit">What an impact of 1/255 is worth; 0: every match counts the same.</param>
    /// <param name="most">What no entry scores more than.</param>
    public float Bound(int place, float unit, float most) => unit == 0 || postings is not null ? most : unit * (copies ? places[place].Impact : PostingsAt(place).LargestImpact);

    /// <summary>The most that an entry of the window at a place can get from the list, which is not copied and has it.</summary>
    public float Bound(int place, ushort entry, float unit, float most) => unit == 0 ? most : unit * PostingsAt(place).ImpactAt(entry);

    /// <summary>Of ascending entries, writes those that the window at a place has; returns how many. They may be written over those that are read.</summary>
    public int CopyCommon(int place, ReadOnlySpan<ushort> entries, Span<ushort> common)
    {
        ref readonly Place at = ref places[place];
        if (at.Count is >= PostingWindow.MinBitsCount and < PostingWindow.Size)
            return OffsetKernels.Copy(entries, MemoryMarshal.Cast<byte, ulong>(at.Rest.Span[..BitmapKernels.Bytes]), common);
        entries.CopyTo(common);
        return PostingsAt(place).Keep(common[..entries.Length], wanted: true);
    }

    /// <summary>The part of an entry that the window at a place has, of a list that is not copied.</summary>
    /// <param name="place">The place.</param>
    /// <param name="entry">The entry.</param>
    /// <param name="scorer">Scores it.</param>
    /// <param name="ofLength">What its length does to all parts.</param>
    /// <param name="boost">The boost.</param>
    public float PartOf(int place, ushort entry, TermScorer scorer, float ofLength, float boost)
    {
        PostingWindow window = PostingsAt(place);
        return scorer.PartOf(in window, entry, ofLength, boost);
    }

    /// <summary>Adds to numbers of entries of the window at a place the most that they can get from the list, which is not copied.</summary>
    public void AddBounds(int place, ReadOnlySpan<ushort> entries, Span<float> bounds, float unit, float most)
    {
        PostingWindow window = PostingsAt(place);
        for (int i = 0; i < entries.Length; i++)
            bounds[i] += !window.Contains(entries[i]) ? 0 : unit == 0 ? most : unit * window.ImpactAt(entries[i]);
    }

    /// <summary>As <see cref="AddBounds"/>, of entries that the list has all.</summary>
    public void AddBlockBounds(int place, ReadOnlySpan<ushort> entries, Span<float> bounds, float unit, float most)
    {
        ReadOnlySpan<byte> impacts = unit == 0 ? default : PostingsAt(place).Impacts;
        if (impacts.Length == PostingWindow.Blocks)
        {
            for (int i = 0; i < entries.Length; i++)
                bounds[i] += unit * impacts[entries[i] >> PostingWindow.BlockBits];
            return;
        }

        float bound = unit == 0 ? most : unit * impacts[0];
        for (int i = 0; i < entries.Length; i++)
            bounds[i] += bound;
    }

    /// <summary>Writes those entries of the window at a place, ascending, that may get so much from the list alone; returns how many.</summary>
    public int CopyReaching(int place, TermScorer? scorer, float least, float boost, Span<ushort> reaching)
    {
        ReadOnlySpan<ushort> mine = OffsetsAt(place);
        if (scorer is not null && postings is null)
        {
            PostingWindow window = PostingsAt(place);
            return scorer.CopyReaching(places[place].Window, in window, mine, least, boost, reaching);
        }

        mine.CopyTo(reaching);
        return mine.Length;
    }

    /// <summary>Adds the parts of those hits of the window at a place that are in the list, as its operator scores them.</summary>
    public void Score(int place, TermScorer? scorer, ReadOnlySpan<ushort> hits, Span<float> scores, float boost)
    {
        ref readonly Place at = ref places[place];
        if (scorer is not null && postings is null)
        {
            PostingWindow window = PostingsAt(place);
            ReadOnlySpan<ushort> list = ListAt(place);
            if (list.Length >= at.Count + Padding)
                scorer.ScorePadded(at.Window, in window, list, hits, scores, boost);
            else
                scorer.Score(at.Window, in window, hits, scores, boost);
            return;
        }

        if (!copies && postings is null)
        {
            PostingWindow window = PostingsAt(place);
            for (int i = 0; i < hits.Length; i++)
                scores[i] += window.Contains(hits[i]) ? boost : 0;
            return;
        }

        ReadOnlySpan<ushort> mine = offsets.AsSpan(at.Start, at.Count);
        int rank = 0;
        for (int i = 0; i < hits.Length; i++)
        {
            while (rank < mine.Length && mine[rank] < hits[i])
                rank++;
            if (rank == mine.Length)
                return;
            if (mine[rank] != hits[i])
                continue;
            scores[i] += scorer is null ? boost : scorer.Score(postings![at.Start + rank].EntryId, postings[at.Start + rank].Frequency, boost); // a short list has them
        }
    }

    private ref Place Next()
    {
        if (Count == places.Length)
            Array.Resize(ref places, 2 * Count);
        return ref places[Count];
    }

    /// <summary>A window that has entries.</summary>
    private struct Place
    {
        public long Window;

        /// <summary>The payload, and those behind it in its segment.</summary>
        public HeldBytes Rest;
        public int Bytes;
        public int Start;
        public int Count;
        public byte Impact;

        public readonly ReadOnlySpan<byte> Payload => Rest.Span[..Bytes];
    }
}
