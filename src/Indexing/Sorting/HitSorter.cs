using System.Buffers.Binary;
using System.Runtime.CompilerServices;

namespace Treepie.Indexing.Sorting;

/// <summary>
/// Keeps the first <c>limit</c> hits of an order: a heap with the worst kept hit on top. A hit that is worse after its first
/// part is dropped without the other parts being read. With a limit that is never reached it is a plain full sort.
/// </summary>
/// <param name="parts">The parts of the order.</param>
/// <param name="limit">Hits kept at the most.</param>
/// <param name="room">Its buffers, empty, for it alone until <see cref="Finish"/> and as long as what that gave is looked
/// at.</param>
/// <param name="after">The key to go on from: hits up to it are left out; empty: none are.</param>
internal sealed class HitSorter(KeyPart[] parts, long limit, SortRoom room, ReadOnlyMemory<byte> after = default)
{
    /// <summary>Most hits kept, each of them some 60 bytes with its key: 1 GiB.</summary>
    public const int MostKept = 1 << 24;

    /// <summary>So many hits are put in order by inserting each.</summary>
    private const int MostInserted = 32;

    private readonly KeyBuffer key = room.Key;
    private readonly KeyArena arena = room.Arena;
    private SortedHit[] hits = room.Hits;

    /// <summary>
    /// Where the score is all there is to the order: hits are compared by it and their ids, and no key is written.
    /// </summary>
    private readonly ScoreKeyPart? byScore = after.IsEmpty && parts is [ScoreKeyPart only] ? only : null;

    /// <summary>Hits kept at the most.</summary>
    public long Limit => limit;

    /// <summary>Whether the order is that of the score and, of equal ones, of the id, from the first hit on.</summary>
    public bool IsByScore => byScore is not null;

    /// <summary>Hits kept.</summary>
    public int Count { get; private set; }

    /// <summary>Score of the worst hit once all places are taken, negative infinity before.</summary>
    public float WorstScore { get; private set; } = float.NegativeInfinity;

    /// <summary>Entry of the worst hit once all places are taken; of equal scores the smaller id is the better one.</summary>
    public long WorstId { get; private set; } = long.MaxValue;

    /// <summary>
    /// Offers a hit of an order by score alone, best first, of which most are not better than the worst one kept: that is told
    /// with one comparison.
    /// </summary>
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

        hits[Count++] = hit;
        if (Count != limit)
            return;
        for (int i = (Count / 2) - 1; i >= 0; i--)
            SiftDown(i);
        (WorstScore, WorstId) = (hits[0].Score, hits[0].Id);
    }

    private void ReplaceWorst(in SortedHit hit)
    {
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

        // A page of hits is put in order where it lies: the library's sort begins with some objects.
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

    /// <summary>Whether the part written so far is behind that of the worst kept hit.</summary>
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

    // an id makes every key long enough
    private static ulong HeadOf(ReadOnlySpan<byte> bytes) => BinaryPrimitives.ReadUInt64BigEndian(bytes);
}

/// <summary>A hit with the place of its key and the room there.</summary>
internal readonly record struct SortedHit(ulong Head, long Place, int Length, int Capacity, long Id, float Score);
