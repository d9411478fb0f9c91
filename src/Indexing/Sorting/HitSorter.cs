using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Treepie.Indexing.Sorting;

/// <summary>
/// Keeps the first <c>limit</c> hits of an order, in a heap with the worst kept hit on top. A hit that is worse by its first part
/// is dropped without reading the other parts. If the limit is not reached, it is a plain full sort. Invariants:
/// 1. At most <c>limit</c> hits are kept. 2. Once full, no kept hit is worse than the first. 3. No two hits are equal.
/// </summary>
/// <param name="parts">The parts of the order.</param>
/// <param name="limit">Most hits to keep.</param>
/// <param name="room">Its buffers, empty; used exclusively while the sorter or the result of <see cref="Finish"/> is in
/// use.</param>
/// <param name="after">The key to continue after: hits up to it are left out; empty if none.</param>
internal sealed class HitSorter(KeyPart[] parts, long limit, SortRoom room, ReadOnlyMemory<byte> after = default)
{
    /// <summary>Most hits kept: about 60 bytes each with the key, 1 GiB in total.</summary>
    public const int MostKept = 1 << 24;

    /// <summary>Up to this many hits are sorted by insertion.</summary>
    private const int MostInserted = 32;

    private readonly KeyBuffer key = room.Key;
    private readonly KeyArena arena = room.Arena;
    private SortedHit[] hits = room.Hits;

    /// <summary>
    /// Set if the order is by score alone: hits are compared by score and id, and no key is written.
    /// </summary>
    private readonly ScoreKeyPart? byScore = after.IsEmpty && parts is [ScoreKeyPart only] ? only : null;

    /// <summary>Most hits to keep.</summary>
    public long Limit => limit;

    /// <summary>Whether the order is by score, then id, starting with the first hit.</summary>
    public bool IsByScore => byScore is not null;

    /// <summary>Number of hits kept.</summary>
    public int Count { get; private set; }

    /// <summary>Score of the worst kept hit once the limit is reached; negative infinity before.</summary>
    public float WorstScore { get; private set; } = float.NegativeInfinity;

    /// <summary>Entry of the worst kept hit once the limit is reached; among equal scores the smaller id is better.</summary>
    public long WorstId { get; private set; } = long.MaxValue;

    /// <summary>
    /// Offers a hit of an order by score alone, best first. One comparison rejects most hits.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void AddIfBetter(long id, float score)
    {
        // Among equal scores the smaller id is better, and it may come later.
        if (score > WorstScore || (score == WorstScore && id < WorstId))
            Add(id, score);
    }

    /// <summary>Offers a hit.</summary>
    public void Add(long id, float score)
    {
        if (byScore is not null)
        {
            AddScored(byScore.Of(score), id, score);
            return;
        }

        bool isFull = Count == limit;
        if (isFull && limit > 0 && parts.Length > 0 && parts[0].Least(id) > hits[0].Head)
            return;

        key.Clear();
        for (int i = 0; i < parts.Length; i++)
        {
            parts[i].Append(id, score, key);
            if (isFull && i == 0 && IsWorse())
                return;
        }

        key.Append((ulong)id);
        ReadOnlySpan<byte> written = key.Written;
        if (!after.IsEmpty && written.SequenceCompareTo(after.Span) <= 0)
            return;
        ulong head = HeadOf(written);
        if (!isFull)
        {
            Keep(new SortedHit(head, arena.Add(written), written.Length, written.Length, id, score));
            return;
        }

        if (limit == 0)
            return;

        if (Compare(head, written, hits[0]) < 0)
        {
            int capacity = hits[0].Capacity;
            long place = arena.Replace(hits[0].Place, ref capacity, written);
            ReplaceWorst(new SortedHit(head, place, written.Length, capacity, id, score));
        }
    }

    private void AddScored(ulong head, long id, float score)
    {
        var hit = new SortedHit(head, 0, 0, 0, id, score);
        if (Count < limit)
            Keep(hit);
        else if (limit > 0 && Compare(hit, hits[0]) < 0)
            ReplaceWorst(hit);
    }

    private void Keep(in SortedHit hit)
    {
        if (Count == hits.Length)
        {
            if (Count >= MostKept)
                throw new IndexQueryException(
                    $"To be put in order, {MostKept:N0} hits are the most. Narrow the condition, limit the results, or go on "
                        + $"page by page.");
            Array.Resize(ref hits, (int)Math.Min(MostKept, hits.Length * 2L));
            room.Hits = hits;
        }

        Debug.Assert(Count < limit, "1: the heap has room");
        hits[Count++] = hit;
        if (Count != limit)
            return;
        for (int i = (Count / 2) - 1; i >= 0; i--)
            SiftDown(i);
        (WorstScore, WorstId) = (hits[0].Score, hits[0].Id);
    }

    private void ReplaceWorst(in SortedHit hit)
    {
        Debug.Assert(Count == limit, "1: a hit is replaced only once the heap is full");
        hits[0] = hit;
        SiftDown(0);
        (WorstScore, WorstId) = (hits[0].Score, hits[0].Id);
    }

    /// <summary>The hits in order. Ends the sorter.</summary>
    public ReadOnlySpan<SortedHit> Finish()
    {
        Span<SortedHit> kept = hits.AsSpan(0, Count);
        if (kept.Length > MostInserted)
        {
            kept.Sort(Compare);
            return kept;
        }

        // A page of hits is sorted in place: the library's sort allocates.
        for (int i = 1; i < kept.Length; i++)
        {
            SortedHit moving = kept[i];
            int place = i;
            for (; place > 0 && Compare(kept[place - 1], moving) > 0; place--)
                kept[place] = kept[place - 1];
            kept[place] = moving;
        }

        return kept;
    }

    /// <summary>Whether the key written so far is after that of the worst kept hit.</summary>
    private bool IsWorse()
    {
        if (limit == 0)
            return true;
        ReadOnlySpan<byte> worst = arena[hits[0].Place, hits[0].Length];
        ReadOnlySpan<byte> written = key.Written;
        return written.SequenceCompareTo(worst[..Math.Min(written.Length, worst.Length)]) > 0;
    }

    private void SiftDown(int place)
    {
        SortedHit moving = hits[place];
        while (true)
        {
            int child = (2 * place) + 1;
            if (child >= Count)
                break;
            if (child + 1 < Count && Compare(hits[child + 1], hits[child]) > 0)
                child++;
            if (Compare(hits[child], moving) <= 0)
                break;
            hits[place] = hits[child];
            place = child;
        }

        hits[place] = moving;
    }

    private int Compare(SortedHit left, SortedHit right)
    {
        int order = left.Head.CompareTo(right.Head);
        if (order != 0)
            return order;
        return byScore is not null
            ? left.Id.CompareTo(right.Id)
            : arena[left.Place, left.Length].SequenceCompareTo(arena[right.Place, right.Length]);
    }

    private int Compare(ulong head, ReadOnlySpan<byte> bytes, SortedHit right)
    {
        int order = head.CompareTo(right.Head);
        return order != 0 ? order : bytes.SequenceCompareTo(arena[right.Place, right.Length]);
    }

    // every key ends with an id and so has at least eight bytes
    private static ulong HeadOf(ReadOnlySpan<byte> bytes) => BinaryPrimitives.ReadUInt64BigEndian(bytes);
}

/// <summary>A hit with the place and capacity of its key.</summary>
internal readonly record struct SortedHit(ulong Head, long Place, int Length, int Capacity, long Id, float Score);
