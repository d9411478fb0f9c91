using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Snapshots;

/// <summary>
/// The part of the system tree that records the pages that only named snapshots see. Each run of them is stored under its
/// holder, the newest snapshot that sees it. So a commit adds its runs in one place, and dropping a snapshot examines only
/// the runs under it: each run passes to the previous snapshot if that one sees it, and is freed otherwise.
/// </summary>
/// <remarks>
/// Invariants. 1. Runs under holder H were born up to H and freed after it, and no named snapshot is between H and their
/// freeing; since new snapshots are always newer than all freeing so far, none ever will be. 2. Pages in the tree are marked
/// as in use in the bitmap, so opening need not read them. 3. The system tree's own pages are in no snapshot and never
/// pinned.
/// </remarks>
internal static class PinnedPagesTree
{
    /// <summary>Returns the number of pages in all runs.</summary>
    public static long ReadTotal(PageStore store, TreeRecord system) =>
        Tree.TryGet(store, system, [SystemKey.PinnedTotal], out ReadOnlySpan<byte> value) && value.Length == sizeof(long)
            ? BinaryPrimitives.ReadInt64LittleEndian(value)
            : 0;

    /// <summary>
    /// Returns all runs, in no particular order. The newest state uses none of them, and no bitmap marks them as free.
    /// </summary>
    public static IEnumerable<PinnedRun> ReadAll(PageStore store, TreeRecord system)
    {
        using Cursor cursor = new Tree(store, "", system, null).OpenCursor();
        for (bool more = cursor.Seek([SystemKey.Pinned]); more && SystemKey.IsPinned(cursor.Key); more = cursor.MoveNext())
            foreach (PinnedRun run in Decode(store, cursor.Key, cursor.Value))
                yield return run;
    }

    /// <summary>Adds runs freed by one transaction that a snapshot sees. Returns their number of pages.</summary>
    public static long Add(Tree system, long holder, long freed, IReadOnlyList<PageWriter.FreedRun> runs)
    {
        long pages = 0;
        uint chunk = 0;
        for (int first = 0; first < runs.Count; first += SystemKey.MaxRuns, chunk++)
        {
            int count = Math.Min(SystemKey.MaxRuns, runs.Count - first);
            Span<byte> room = system.Reserve(SystemKey.OfPinned(holder, freed, chunk), count * SystemKey.RunBytes);
            for (int i = 0; i < count; i++)
            {
                PageWriter.FreedRun run = runs[first + i];
                Debug.Assert(run.Birth <= holder, "a snapshot sees only runs that were born up to it");
                new PinnedRun(run.Run, run.Birth, freed).Write(room[(i * SystemKey.RunBytes)..]);
                pages += run.Run.Pages;
            }
        }

        return pages;
    }

    /// <summary>
    /// Examines runs under a dropped holder, up to <paramref name="maxKeys"/> keys of them: runs that the previous snapshot
    /// (<paramref name="heir"/>, -1 for none) sees pass to it, the others are added to <paramref name="free"/>. Returns false
    /// when none are left.
    /// </summary>
    public static bool TryPassOn(Tree system, long holder, long heir, int maxKeys, List<PinnedRun> free)
    {
        var keys = new List<byte[]>(maxKeys + 1);
        using (Cursor cursor = system.OpenCursor())
        {
            for (bool more = cursor.Seek(SystemKey.OfPinned(holder, 0, 0));
                more && keys.Count <= maxKeys && SystemKey.IsPinned(cursor.Key) && SystemKey.HolderOf(cursor.Key) == holder;
                more = cursor.MoveNext())
                keys.Add(cursor.Key.ToArray());
        }

        var kept = new List<PinnedRun>();
        foreach (byte[] key in keys.Take(maxKeys))
        {
            kept.Clear();
            if (!system.TryGet(key, out ReadOnlySpan<byte> value))
                continue;
            foreach (PinnedRun run in Decode(system.Store, key, value))
                (run.Birth <= heir ? kept : free).Add(run);

            system.Delete(key);
            if (kept.Count == 0)
                continue;

            Span<byte> room = system.Reserve(
                SystemKey.OfPinned(heir, SystemKey.FreedOf(key), SystemKey.ChunkOf(key)), kept.Count * SystemKey.RunBytes);
            for (int i = 0; i < kept.Count; i++)
                kept[i].Write(room[(i * SystemKey.RunBytes)..]);
        }

        return keys.Count > maxKeys;
    }

    /// <summary>Stores the number of pages in all runs.</summary>
    public static void SetTotal(Tree system, long pages)
    {
        Span<byte> value = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(value, pages);
        if (pages == 0)
            system.Delete([SystemKey.PinnedTotal]);
        else
            system.Put([SystemKey.PinnedTotal], value);
    }

    private static PinnedRun[] Decode(PageStore store, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        long freed = SystemKey.FreedOf(key);
        var runs = new PinnedRun[value.Length / SystemKey.RunBytes];
        for (int i = 0; i < runs.Length; i++)
        {
            PinnedRun run = runs[i] = PinnedRun.Read(value[(i * SystemKey.RunBytes)..], freed);
            if (!run.IsWithin(store.RoomPages))
                throw store.CorruptTree(
                    "(system)", $"{run.Run.Pages} pages from {run.Run.First} on are said to be kept for a snapshot");
        }

        return runs;
    }
}
