using System.Diagnostics;
using Treepie.Storage.Format;

namespace Treepie.Storage.FreeSpace;

/// <summary>
/// Pages that the newest state does not use and that somebody may still see. A page is seen by the snapshots in [birth, freed);
/// it is kept under one open snapshot that sees it, and looked at again when that one has gone.
/// </summary>
/// <remarks>
/// So one reader keeps at most one version of each page, however much is written while it is open: of all versions a page ever
/// had one at most has the reader's snapshot in its interval. And a reader costs no time while it stays.
/// Invariants. 1. A page is freed no earlier than it is born. 2. The snapshot that a run is kept under sees it: it lies in
/// [birth, freed). 3. The pages of a bucket are those of its runs; a bucket kept for reuse is empty. 4. Snapshots ascend.
/// </remarks>
internal sealed class HeldPages
{
    /// <summary>
    /// Runs that an emptied bucket may have room for, to be used again: one for each page between two checkpoints of an ordinary
    /// store.
    /// </summary>
    private const int MostKept = 1 << 16;

    private readonly Dictionary<long, Bucket> _bySnapshot = [];
    private Bucket? _kept;
    private readonly List<long> _gone = [];
    private readonly List<Held> _byCheckpoint = [];
    private readonly List<(Held Held, long Dropped)> _unpinned = [];
    private readonly List<Held> _recent = [];

    /// <summary>Pages freed by a transaction; <see cref="Reclaim"/> decides.</summary>
    public void Add(PageRun run, long birth, long freed)
    {
        Debug.Assert(run.Pages > 0 && birth <= freed, "1: a page is freed no earlier than it is born");
        _recent.Add(new Held(run, birth, freed));
    }

    /// <summary>
    /// Pages freed by a transaction long ago, which only named snapshots saw until one dropped the last of these.
    /// </summary>
    public void AddUnpinned(PageRun run, long birth, long freed, long dropped)
    {
        Debug.Assert(birth <= freed && freed <= dropped, "1: a page is unpinned no earlier than it is freed");
        _unpinned.Add((new Held(run, birth, freed), dropped));
    }

    /// <summary>Pages kept under one of these snapshots, which are sorted.</summary>
    public long CountUnder(ReadOnlySpan<long> snapshots)
    {
        long pages = 0;
        foreach ((long snapshot, Bucket bucket) in _bySnapshot)
            if (snapshots.BinarySearch(snapshot) >= 0)
                pages += bucket.Pages;
        return pages;
    }

    /// <summary>
    /// Lets go of pages that no snapshot sees. <paramref name="snapshots"/> is sorted; <paramref name="durable"/> is the last
    /// transaction of the last checkpoint; pages born up to <paramref name="heldUpTo"/> stay in any case (a checkpoint is writing
    /// them).
    /// </summary>
    public void Reclaim(ReadOnlySpan<long> snapshots, long durable, long heldUpTo, List<PageRun> released)
    {
        AssertAscending(snapshots);
        TakeUnpinned(durable);
        TakeGone(snapshots);
        if (heldUpTo < 0)
        {
            _recent.AddRange(_byCheckpoint);
            _byCheckpoint.Clear();
        }

        foreach (Held held in _recent)
        {
            int index = snapshots.BinarySearch(held.Birth);
            index = index < 0 ? ~index : index;
            if (held.Birth <= heldUpTo)
                _byCheckpoint.Add(held);
            else if (index < snapshots.Length && snapshots[index] < held.Freed)
                Keep(snapshots[index], held);
            else
                released.Add(held.Run);
        }

        _recent.Clear();
    }

    private void TakeUnpinned(long durable)
    {
        for (int i = _unpinned.Count - 1; i >= 0; i--)
        {
            if (_unpinned[i].Dropped > durable)
                continue;

            _recent.Add(_unpinned[i].Held);
            _unpinned[i] = _unpinned[^1];
            _unpinned.RemoveAt(_unpinned.Count - 1);
        }
    }

    private void TakeGone(ReadOnlySpan<long> snapshots)
    {
        _gone.Clear();
        foreach (long snapshot in _bySnapshot.Keys)
            if (snapshots.BinarySearch(snapshot) < 0)
                _gone.Add(snapshot);
        foreach (long snapshot in _gone)
        {
            _bySnapshot.Remove(snapshot, out Bucket? bucket);
            _recent.AddRange(bucket!.Runs); // it is among the keys
            bucket.Runs.Clear();
            bucket.Pages = 0;
            _kept = bucket.Runs.Capacity <= MostKept ? bucket : null;
        }
    }

    private void Keep(long snapshot, Held held)
    {
        if (!_bySnapshot.TryGetValue(snapshot, out Bucket? bucket))
        {
            _bySnapshot.Add(snapshot, bucket = _kept ?? new Bucket());
            _kept = null;
        }

        Debug.Assert(held.Birth <= snapshot && snapshot < held.Freed, "2: the snapshot that keeps a page sees it");
        Debug.Assert(bucket.Runs.Count > 0 || bucket.Pages == 0, "3: an empty bucket keeps no page");
        bucket.Runs.Add(held);
        bucket.Pages += held.Run.Pages;
    }

    [Conditional("DEBUG")]
    private static void AssertAscending(ReadOnlySpan<long> snapshots)
    {
        for (int i = 1; i < snapshots.Length; i++)
            Debug.Assert(snapshots[i - 1] <= snapshots[i], "4: snapshots ascend");
    }

    private readonly record struct Held(PageRun Run, long Birth, long Freed);

    private sealed class Bucket
    {
        public List<Held> Runs { get; } = [];

        public long Pages { get; set; }
    }
}
