using System.Diagnostics;
using Treepie.Storage.Format;

namespace Treepie.Storage.FreeSpace;

/// <summary>
/// Pages that the newest state does not use but that an open snapshot may still see. The snapshots in [birth, freed) see a page;
/// it is kept under one open snapshot that sees it, and examined again when that snapshot is closed.
/// </summary>
/// <remarks>
/// So one reader keeps at most one version of each page, however much is written while it is open: at most one version of a page
/// has the reader's snapshot in its interval. An open reader costs no time.
/// Invariants. 1. A run has pages, and a transaction freed it. 2. The snapshot that a run is kept under sees it: it lies in
/// [birth, freed). 3. The pages of a bucket are those of its runs; a bucket kept for reuse is empty. 4. Snapshots ascend.
/// </remarks>
internal sealed class HeldPages
{
    /// <summary>
    /// Largest capacity, in runs, of an emptied bucket that is kept for reuse: about one run for each page that an ordinary store
    /// frees between two checkpoints.
    /// </summary>
    private const int MaxReusedCapacity = 1 << 16;

    private readonly Dictionary<long, Bucket> _bySnapshot = [];
    private Bucket? _reusable;
    private readonly List<long> _closed = [];
    private readonly List<Held> _byCheckpoint = [];
    private readonly List<(Held Held, long Dropped)> _unpinned = [];
    private readonly List<Held> _recent = [];

    /// <summary>Adds pages that a transaction freed; <see cref="Reclaim"/> decides when they are reused.</summary>
    public void Add(PageRun run, long birth, long freed)
    {
        Debug.Assert(run.Pages > 0 && freed > 0, "1: a run has pages, and a transaction freed it");
        _recent.Add(new Held(run, birth, freed));
    }

    /// <summary>
    /// Adds pages freed by an earlier transaction that only named snapshots saw, until transaction <paramref name="dropped"/>
    /// dropped the last of these snapshots.
    /// </summary>
    public void AddUnpinned(PageRun run, long birth, long freed, long dropped)
    {
        Debug.Assert(run.Pages > 0 && dropped > 0, "1: a run has pages, and a transaction dropped the last snapshot that saw it");
        _unpinned.Add((new Held(run, birth, freed), dropped));
    }

    /// <summary>Number of pages kept under one of these snapshots, which ascend.</summary>
    public long CountUnder(ReadOnlySpan<long> snapshots)
    {
        long pages = 0;
        foreach ((long snapshot, Bucket bucket) in _bySnapshot)
            if (snapshots.BinarySearch(snapshot) >= 0)
                pages += bucket.Pages;
        return pages;
    }

    /// <summary>
    /// Releases pages that no snapshot sees. <paramref name="snapshots"/> ascend; <paramref name="durable"/> is the last
    /// transaction of the last checkpoint; pages born up to <paramref name="heldUpTo"/> stay held because a checkpoint is writing
    /// them (-1: none is).
    /// </summary>
    public void Reclaim(ReadOnlySpan<long> snapshots, long durable, long heldUpTo, List<PageRun> released)
    {
        AssertAscending(snapshots);
        TakeUnpinned(durable);
        TakeClosed(snapshots);
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

    private void TakeClosed(ReadOnlySpan<long> snapshots)
    {
        _closed.Clear();
        foreach (long snapshot in _bySnapshot.Keys)
            if (snapshots.BinarySearch(snapshot) < 0)
                _closed.Add(snapshot);
        foreach (long snapshot in _closed)
        {
            _bySnapshot.Remove(snapshot, out Bucket? bucket);
            _recent.AddRange(bucket!.Runs); // not null: the snapshot is one of the keys
            bucket.Runs.Clear();
            bucket.Pages = 0;
            _reusable = bucket.Runs.Capacity <= MaxReusedCapacity ? bucket : null;
        }
    }

    private void Keep(long snapshot, Held held)
    {
        if (!_bySnapshot.TryGetValue(snapshot, out Bucket? bucket))
        {
            _bySnapshot.Add(snapshot, bucket = _reusable ?? new Bucket());
            _reusable = null;
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
