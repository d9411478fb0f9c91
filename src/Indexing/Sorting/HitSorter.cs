using System.Buffers.Binary;
using System.Runtime.CompilerServices;

namespace Treepie.Indexing.Sorting;

/// <summary>
/// Keeps the first <c>limit</c> hits of an order: a heap with the worst kept hit on top. A hit that is worse after its first
/// part is dropped without the other parts being read. With a limit that is never reached it is a plain full sort.
/// </summary>
/// <param name="parts">The parts of the order.</param>
/// <param name="limit">Hits kept at the most.</param>
/// <param name="after">The key to go on from: hits up to it are left out; empty: none are.</param>
internal sealed class HitSorter(KeyPart[] parts, long limit, ReadOnlyMemory<byte> after = default)
{
    private readonly KeyBuffer key = new();
    private readonly KeyArena arena = new();
    private SortedHit[] hits = new SortedHit[16];

    /// <summary>Hits kept.</summary>
    public int Count { get; private set; }

    /// <summary>Score of the worst hit once all places are taken, negative infinity before.</summary>
    public float WorstScore { get; private set; } = float.NegativeInfinity;

    /// <summary>Entry of the worst hit once all places are taken; of equal scores the smaller id is the better one.</summary>
    public long WorstId { get; private set; } = long.MaxValue;

    /// <summary>Offers a hit of an order by score alone, best first, of which most are not better than the worst one kept: that is told with one comparison.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void AddIfBetter(long id, float score)
    {
        // Of equal scores the smaller id is the better one, and it may come later.
        if (score > WorstScore || (score == WorstScore && id < WorstId))
            Add(id, score);
    }

    /// <summary>Offers a hit.</summary>
    public void Add(long id, float score)
    {
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
            if (Count == hits.Length)
                Array.Resize(ref hits, (int)Math.Min(Array.MaxLength, hits.Length * 2L));
            hits[Count++] = new SortedHit(head, arena.Add(written), written.Length, written.Length, id, score);
            if (Count == limit)
            {
                BuildHeap();
                (WorstScore, WorstId) = (hits[0].Score, hits[0].Id);
            }

            return;
        }

        if (limit == 0)
            return;

        if (Compare(head, written, hits[0]) < 0)
        {
            int capacity = hits[0].Capacity;
            long place = arena.Replace(hits[0].Place, ref capacity, written);
            hits[0] = new SortedHit(head, place, written.Length, capacity, id, score);
            SiftDown(0);
            (WorstScore, WorstId) = (hits[0].Score, hits[0].Id);
        }
    }

    /// <summary>The hits in order. Ends the sorter.</summary>
    public ReadOnlySpan<SortedHit> Finish()
    {
        hits.AsSpan(0, Count).Sort(new ByKey(arena));
        return hits.AsSpan(0, Count);
    }

    /// <summary>Whether the part written so far is behind that of the worst kept hit.</summary>
    private bool IsWorse()
    {
        if (limit == 0)
            return true;
        ReadOnlySpan<byte> worst = arena[hits[0].Place, hits[0].Length];
        ReadOnlySpan<byte> written = key.Written;
        return written.SequenceCompareTo(worst[..Math.Min(written.Length, worst.Length)]) > 0;
    }

    private void BuildHeap()
    {
        for (int i = (Count / 2) - 1; i >= 0; i--)
            SiftDown(i);
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

    private int Compare(SortedHit left, SortedHit right) => Compare(left.Head, arena[left.Place, left.Length], right);

    private int Compare(ulong head, ReadOnlySpan<byte> bytes, SortedHit right)
    {
        int order = head.CompareTo(right.Head);
        return order != 0 ? order : bytes.SequenceCompareTo(arena[right.Place, right.Length]);
    }

    private static ulong HeadOf(ReadOnlySpan<byte> bytes) => BinaryPrimitives.ReadUInt64BigEndian(bytes); // an id makes every key long enough

    private readonly struct ByKey(KeyArena arena) : IComparer<SortedHit>
    {
        public int Compare(SortedHit x, SortedHit y)
        {
            int order = x.Head.CompareTo(y.Head);
            return order != 0 ? order : arena[x.Place, x.Length].SequenceCompareTo(arena[y.Place, y.Length]);
        }
    }
}

/// <summary>A hit with the place of its key and the room there.</summary>
internal readonly record struct SortedHit(ulong Head, long Place, int Length, int Capacity, long Id, float Score);
