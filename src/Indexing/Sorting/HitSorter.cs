using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using Treepie.Indexing.Kernels;

namespace Treepie.Indexing.Sorting;

/// <summary>
/// Keeps the first <c>limit</c> hits of an order in a heap with the worst kept hit on top. A hit whose first key part is
/// worse is dropped without reading the other parts. If the limit is not reached, all hits are simply sorted. Invariants: 1.
/// At most <c>limit</c> hits are kept. 2. Once full, no kept hit is worse than the first. 3. No two hits are equal.
/// </summary>
/// <param name="parts">The parts of the order.</param>
/// <param name="limit">Maximum number of hits to keep.</param>
/// <param name="room">The buffers, empty; used exclusively while the sorter or the result of <see cref="Finish"/> is in
/// use.</param>
/// <param name="after">The key to continue after: hits up to it are omitted; empty if none.</param>
internal sealed class HitSorter(KeyPart[] parts, long limit, SortRoom room, ReadOnlyMemory<byte> after = default)
{
    /// <summary>Maximum number of hits kept: about 60 bytes each with the key, 1 GiB in total.</summary>
    public const int MostKept = 1 << 24;

    /// <summary>Up to this many hits are sorted by insertion.</summary>
    private const int MostInserted = 32;

    private readonly KeyBuffer _key = room.Key;
    private readonly KeyArena _arena = room.Arena;
    private SortedHit[] _hits = room.Hits;

    /// <summary>
    /// Not null if the order is by score alone: hits are then compared by score and id, and no key is written.
    /// </summary>
    private readonly ScoreKeyPart? _byScore = after.IsEmpty && parts is [ScoreKeyPart only] ? only : null;

    /// <summary>Maximum number of hits to keep.</summary>
    public long Limit => limit;

    /// <summary>Whether the order is by score, then id, and does not continue after an earlier hit.</summary>
    public bool IsByScore => _byScore is not null;

    /// <summary>Number of hits kept.</summary>
    public int Count { get; private set; }

    /// <summary>Score of the worst kept hit once the limit is reached; negative infinity before.</summary>
    public float WorstScore { get; private set; } = float.NegativeInfinity;

    /// <summary>Id of the worst kept hit once the limit is reached; among equal scores the smaller id is better.</summary>
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
        if (_byScore is not null)
        {
            AddScored(_byScore.Of(score), id, score);
            return;
        }

        bool isFull = Count == limit;
        if (isFull && limit > 0 && parts.Length > 0 && parts[0].Least(id) > _hits[0].Head)
            return;

        _key.Clear();
        for (int i = 0; i < parts.Length; i++)
        {
            parts[i].Append(id, score, _key);
            if (isFull && i == 0 && IsWorse())
                return;
        }

        _key.Append((ulong)id);
        ReadOnlySpan<byte> written = _key.Written;
        if (!after.IsEmpty && written.SequenceCompareTo(after.Span) <= 0)
            return;
        ulong head = HeadOf(written);
        if (!isFull)
        {
            Keep(new SortedHit(head, _arena.Add(written), written.Length, written.Length, id, score));
            return;
        }

        if (limit == 0)
            return;

        if (Compare(head, written, _hits[0]) < 0)
        {
            int capacity = _hits[0].Capacity;
            long place = _arena.Replace(_hits[0].Place, ref capacity, written);
            ReplaceWorst(new SortedHit(head, place, written.Length, capacity, id, score));
        }
    }

    private void AddScored(ulong head, long id, float score)
    {
        Debug.Assert(parts.Length == 1 && after.IsEmpty, "only the score and the id decide");
        var hit = new SortedHit(head, 0, 0, 0, id, score);
        if (Count < limit)
            Keep(hit);
        else if (limit > 0 && Compare(hit, _hits[0]) < 0)
            ReplaceWorst(hit);
    }

    private void Keep(in SortedHit hit)
    {
        if (Count == _hits.Length)
        {
            if (Count >= MostKept)
                throw new IndexQueryException(
                    $"At most {MostKept:N0} hits can be sorted. Narrow the condition, limit the results, or read them "
                        + $"page by page.");
            Array.Resize(ref _hits, (int)Math.Min(MostKept, _hits.Length * 2L));
            room.Hits = _hits;
        }

        Debug.Assert(Count < limit, "1: the heap has room");
        _hits[Count++] = hit;
        if (Count != limit)
            return;
        for (int i = (Count / 2) - 1; i >= 0; i--)
            SiftDown(i);
        (WorstScore, WorstId) = (_hits[0].Score, _hits[0].Id);
    }

    private void ReplaceWorst(in SortedHit hit)
    {
        Debug.Assert(Count == limit, "1: a hit is replaced only once the heap is full");
        _hits[0] = hit;
        SiftDown(0);
        (WorstScore, WorstId) = (_hits[0].Score, _hits[0].Id);
    }

    /// <summary>Returns the hits in order. The sorter cannot be used afterwards.</summary>
    public ReadOnlySpan<SortedHit> Finish()
    {
        Debug.Assert(Count <= limit, "no more hits are kept than wanted");
        Span<SortedHit> kept = _hits.AsSpan(0, Count);
        if (kept.Length > MostInserted)
        {
            kept.Sort(Compare);
            return kept;
        }

        InsertionSort.Sort(kept, new HitOrder(this));
        return kept;
    }

    /// <summary>Whether the key written so far is after that of the worst kept hit.</summary>
    private bool IsWorse()
    {
        Debug.Assert(Count == limit, "1: a hit is compared with the worst only once the heap is full");
        if (limit == 0)
            return true;
        ReadOnlySpan<byte> worst = _arena[_hits[0].Place, _hits[0].Length];
        ReadOnlySpan<byte> written = _key.Written;
        return written.SequenceCompareTo(worst[..Math.Min(written.Length, worst.Length)]) > 0;
    }

    private void SiftDown(int place)
    {
        Debug.Assert((uint)place < (uint)Count, "1: the hit is in the heap");
        SortedHit moving = _hits[place];
        while (true)
        {
            int child = (2 * place) + 1;
            if (child >= Count)
                break;
            if (child + 1 < Count && Compare(_hits[child + 1], _hits[child]) > 0)
                child++;
            if (Compare(_hits[child], moving) <= 0)
                break;
            _hits[place] = _hits[child];
            place = child;
        }

        _hits[place] = moving;
    }

    private int Compare(SortedHit left, SortedHit right)
    {
        int order = left.Head.CompareTo(right.Head);
        if (order != 0)
            return order;
        return _byScore is not null
            ? left.Id.CompareTo(right.Id)
            : _arena[left.Place, left.Length].SequenceCompareTo(_arena[right.Place, right.Length]);
    }

    private int Compare(ulong head, ReadOnlySpan<byte> bytes, SortedHit right)
    {
        int order = head.CompareTo(right.Head);
        return order != 0 ? order : bytes.SequenceCompareTo(_arena[right.Place, right.Length]);
    }

    // every key ends with an id and so has at least eight bytes
    private static ulong HeadOf(ReadOnlySpan<byte> bytes) => BinaryPrimitives.ReadUInt64BigEndian(bytes);

    private readonly struct HitOrder(HitSorter sorter) : IItemOrder<SortedHit>
    {
        public bool IsAfter(in SortedHit left, in SortedHit right) => sorter.Compare(left, right) > 0;
    }
}

/// <summary>A hit with the location and capacity of its key.</summary>
internal readonly record struct SortedHit(ulong Head, long Place, int Length, int Capacity, long Id, float Score);
